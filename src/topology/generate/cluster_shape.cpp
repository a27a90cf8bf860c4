#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/words.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/generate.hpp"
#include "forestcoll/topology_text.hpp"
#include "topology/generate/boxes.hpp"
#include "topology/generate/cluster_counts.hpp"
#include "topology/generate/nodes.hpp"

namespace forestcoll {
namespace {

using namespace topology;

// A list of ids: "leaf[32-63]".
std::string range(const char* prefix, std::size_t first, std::size_t count) {
  return count == 1 ? fmt::format("{}{}", prefix, first)
                    : fmt::format("{}[{}-{}]", prefix, first, first + count - 1);
}

class ShapeWriter {
 public:
  explicit ShapeWriter(const ClusterShape& shape)
      : shape_(shape),
        model_(topology::box_model(shape.box)),
        box_(topology::cluster_box(model_)) {}

  TopologyDocument write() {
    document_.name = fmt::format("{}x {}, {}", shape_.boxes, shape_.box, in_words(shape_));
    document_.description = model_.summary + ". All cables bring what a NIC does.";
    document_.metadata = model_.metadata;
    document_.templates = {{model_.name, topology::with_nics(model_)}};
    document_.boxes = {{id_range("box", shape_.boxes), model_.name}};
    add_leaves();
    if (shape_.layout == ClusterLayout::dragonfly) {
      add_groups();
    } else if (shape_.levels > 1) {
      add_middle();
    }
    return std::move(document_);
  }

 private:
  void link(std::string src, std::string dst, const char* kind, std::size_t cables, bool both_ways,
            bool zip = false) {
    document_.top.links.push_back({.src = std::move(src),
                                   .dst = std::move(dst),
                                   .bandwidth = exact_text(box_.nic_bandwidth),
                                   .kind = kind,
                                   .zip = zip,
                                   .count = static_cast<std::int64_t>(cables),
                                   .full_duplex = both_ways});
  }

  // Leaves are numbered rail by rail; routers at the end of a dragonfly may have no boxes.
  void add_leaves() {
    const std::size_t units = leaves_of_rail(shape_), leaves = leaves_of(shape_, box_);
    document_.top.nodes.push_back(switches(range("leaf", 0, leaves)));
    for (std::size_t leaf = 0; leaf < leaves; ++leaf) {
      const std::size_t first = leaf % units * shape_.boxes_per_leaf;
      if (first >= shape_.boxes) continue;
      const std::string boxes =
          range("box", first, std::min(shape_.boxes_per_leaf, shape_.boxes - first));
      const std::string nics =
          is_railed(shape_.layout) ? std::to_string(leaf / units) : id_range("", box_.nics);
      add_ports(boxes, nics, fmt::format("leaf{}", leaf));
    }
  }

  void add_ports(const std::string& boxes, const std::string& nics, const std::string& leaf) {
    const topology::Ports ports = topology::ports_of(model_);
    const std::string out = fmt::format("{}/{}{}", boxes, ports.send, nics);
    link(out, leaf, "nic", 1, ports.one_node());
    if (ports.one_node()) return;
    link(leaf, fmt::format("{}/{}{}", boxes, ports.receive, nics), "nic", 1, false);
  }

  // Plane by plane, pod by pod; two levels are one pod without a top.
  void add_middle() {
    const std::size_t planes = planes_of(shape_, box_), pods = pods_of(shape_, box_);
    const std::size_t leaves = leaves_of(shape_, box_) / planes;
    const std::size_t per_pod = shape_.levels == 3 ? shape_.leaves_per_pod : leaves;
    document_.top.nodes.push_back(switches(range("mid", 0, planes * pods * shape_.middle)));
    for (std::size_t pod = 0; pod < planes * pods; ++pod) {
      const std::size_t first = pod % pods * per_pod;
      link(range("leaf", pod / pods * leaves + first, std::min(per_pod, leaves - first)),
           range("mid", pod * shape_.middle, shape_.middle), "row",
           shape_.leaf_uplinks / shape_.middle, true);
    }
    if (shape_.levels == 3) add_top(planes, pods);
  }

  // Switch i of every pod of a plane leads to the same top switches.
  void add_top(std::size_t planes, std::size_t pods) {
    const std::size_t groups = planes * shape_.middle;
    document_.top.nodes.push_back(switches(range("top", 0, groups * shape_.top)));
    for (std::size_t plane = 0; plane < planes; ++plane) {
      for (std::size_t i = 0; i < shape_.middle; ++i) {
        const std::size_t group = plane * shape_.middle + i;
        for (std::size_t pod = 0; pod < pods; ++pod) {
          link(fmt::format("mid{}", (plane * pods + pod) * shape_.middle + i),
               range("top", group * shape_.top, shape_.top), "hall",
               shape_.pod_uplinks / shape_.top, true);
        }
      }
    }
  }

  void add_groups() {
    const std::size_t routers = shape_.leaves_per_pod;
    const std::size_t groups = leaves_of(shape_, box_) / routers;
    for (std::size_t g = 0; g < groups; ++g) {
      for (std::size_t r = 0; r + 1 < routers; ++r) {
        link(fmt::format("leaf{}", g * routers + r),
             range("leaf", g * routers + r + 1, routers - r - 1), "row", 1, true);
      }
      for (std::size_t other = g + 1; other < groups; ++other) {
        link(range("leaf", g * routers, routers), range("leaf", other * routers, routers), "hall",
             shape_.leaf_uplinks, true, true);
      }
    }
  }

  const ClusterShape& shape_;
  const topology::BoxModel& model_;
  ClusterBox box_;
  TopologyDocument document_;
};

}  // namespace

ClusterBox topology::cluster_box(const BoxModel& model) {
  return {model.gpus, model.nics, parse_bandwidth(model.nic_bandwidth).value_or(1)};
}

std::string_view to_string(ClusterLayout layout) {
  switch (layout) {
    case ClusterLayout::fat_tree:
      return "fat-tree";
    case ClusterLayout::rail:
      return "rail";
    case ClusterLayout::rail_only:
      return "rail-only";
    case ClusterLayout::dragonfly:
      return "dragonfly";
  }
  return "";
}

Expected<ClusterBox> cluster_box(std::string_view name) {
  const auto& models = box_models();
  const auto model = std::ranges::find(models, name, &topology::BoxModel::name);
  if (model != models.end()) return topology::cluster_box(*model);
  return make_error(Code::G01, fmt::format("no box is called \"{}\"", name),
                    fmt::format("There are {}.", listed(models, &topology::BoxModel::name)));
}

std::string in_words(const ClusterShape& shape) {
  std::string text = fmt::format("{}, {} boxes per {}", to_string(shape.layout),
                                 shape.boxes_per_leaf, shape.levels == 1 ? "switch" : "leaf");
  if (shape.layout == ClusterLayout::dragonfly) {
    return text + fmt::format(", groups of {}, {} cables to each other group", shape.leaves_per_pod,
                              shape.leaf_uplinks);
  }
  if (shape.levels > 1) text += fmt::format(", {} up to {}", shape.leaf_uplinks, shape.middle);
  if (shape.levels > 2) {
    text += fmt::format(", pods of {} leaves, {} up to {}", shape.leaves_per_pod, shape.pod_uplinks,
                        shape.top);
  }
  return text;
}

ClusterParts parts_of(const ClusterShape& shape) {
  const ClusterBox box = topology::cluster_box(box_model(shape.box));
  const std::size_t leaves = leaves_of(shape, box), planes = planes_of(shape, box);
  const std::size_t down = std::min(shape.boxes_per_leaf, shape.boxes) * nics_on_leaf(shape, box);
  ClusterParts parts{.leaves = leaves, .widest_leaf = down, .box_cables = shape.boxes * box.nics};
  if (shape.layout == ClusterLayout::dragonfly) {
    const std::size_t routers = shape.leaves_per_pod, groups = leaves / routers;
    parts.widest_leaf += routers - 1 + (groups - 1) * shape.leaf_uplinks;
    parts.row_cables = groups * routers * (routers - 1) / 2;
    parts.hall_cables = groups * (groups - 1) / 2 * routers * shape.leaf_uplinks;
    return parts;
  }
  if (shape.levels == 1) return parts;
  parts.row_cables = leaves * shape.leaf_uplinks;
  parts.widest_leaf += shape.leaf_uplinks;
  const std::size_t per_pod = shape.levels == 3 ? shape.leaves_per_pod : leaves / planes;
  const std::size_t pods = pods_of(shape, box);
  parts.above = planes * pods * shape.middle;
  parts.widest_above = per_pod * (shape.leaf_uplinks / shape.middle) + shape.pod_uplinks;
  if (shape.levels == 2) return parts;
  parts.hall_cables = parts.above * shape.pod_uplinks;
  parts.above += planes * shape.middle * shape.top;
  parts.widest_above = std::max(parts.widest_above, pods * (shape.pod_uplinks / shape.top));
  return parts;
}

TopologyDocument to_document(const ClusterShape& shape) {
  return ShapeWriter(shape).write();
}

}  // namespace forestcoll
