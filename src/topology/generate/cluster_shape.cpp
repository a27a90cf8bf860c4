#include "forestcoll/cluster_shape.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/check.hpp"
#include "forestcoll/bandwidth.hpp"
#include "forestcoll/codes.hpp"
#include "topology/generate/boxes.hpp"
#include "topology/generate/nodes.hpp"

namespace forestcoll {
namespace {

constexpr std::size_t kOversubscriptions[] = {1, 2, 4};

ClusterBox box_of(const topology::BoxModel& model) {
  return {model.gpus, model.nics, parse_bandwidth(model.nic_bandwidth).value_or(1)};
}

bool is_railed(ClusterLayout layout) {
  return layout == ClusterLayout::rail || layout == ClusterLayout::rail_only;
}

// The largest divisor of `of` that is at most `most`, or 0.
std::size_t largest_divisor(std::size_t of, std::size_t most) {
  for (std::size_t d = std::min(of, most); d > 0; --d) {
    if (of % d == 0) return d;
  }
  return 0;
}

// How many switches take `uplinks` cables from each of `below` switches, evenly: the fewest.
std::size_t fewest_above(std::size_t uplinks, std::size_t below, std::size_t ports) {
  for (std::size_t above = 1; above <= uplinks; ++above) {
    if (uplinks % above == 0 && below * (uplinks / above) <= ports) return above;
  }
  return 0;
}

// NICs of one box on a leaf.
std::size_t nics_on_leaf(const ClusterShape& shape, const ClusterBox& box) {
  return is_railed(shape.layout) ? 1 : box.nics;
}

std::size_t leaves_of(const ClusterShape& shape, const ClusterBox& box) {
  return shape.boxes / shape.boxes_per_leaf * (is_railed(shape.layout) ? box.nics : 1);
}

// Independent fabrics above the leaves.
std::size_t planes_of(const ClusterShape& shape, const ClusterBox& box) {
  return shape.layout == ClusterLayout::rail_only ? box.nics : 1;
}

class Shapes {
 public:
  Shapes(std::string_view box, std::size_t boxes, std::size_t ports)
      : name_(box), box_(box_of(topology::box_model(box))), boxes_(boxes), ports_(ports) {}

  std::vector<ClusterShape> all() {
    for (const auto layout :
         {ClusterLayout::fat_tree, ClusterLayout::rail, ClusterLayout::rail_only}) {
      // One rail has no levels above to join with others.
      if (box_.nics == 1 && layout != ClusterLayout::fat_tree) continue;
      ClusterShape shape{.box = name_, .boxes = boxes_, .layout = layout};
      // Rails of one switch each are not joined.
      if (layout != ClusterLayout::rail) add_single(shape);
      for (const std::size_t taper : kOversubscriptions) add_leaves(shape, taper);
    }
    add_dragonfly();
    return std::move(shapes_);
  }

 private:
  void add_single(ClusterShape shape) {
    if (boxes_ * nics_on_leaf(shape, box_) > ports_) return;
    shape.levels = 1;
    shape.boxes_per_leaf = boxes_;
    shapes_.push_back(std::move(shape));
  }

  void add_leaves(ClusterShape shape, std::size_t taper) {
    const std::size_t nics = nics_on_leaf(shape, box_);
    shape.boxes_per_leaf = largest_divisor(boxes_, ports_ * taper / (taper + 1) / nics);
    if (shape.boxes_per_leaf == 0 || shape.boxes_per_leaf == boxes_) return;
    shape.leaf_uplinks = (shape.boxes_per_leaf * nics + taper - 1) / taper;
    const std::size_t leaves = leaves_of(shape, box_) / planes_of(shape, box_);
    shape.levels = 2;
    shape.middle = fewest_above(shape.leaf_uplinks, leaves, ports_);
    if (shape.middle > 0) shapes_.push_back(shape);
    for (const std::size_t above : kOversubscriptions) add_pods(shape, leaves, above);
  }

  void add_pods(ClusterShape shape, std::size_t leaves, std::size_t taper) {
    shape.levels = 3;
    // A switch of the middle has one cable from every leaf of its pod.
    shape.leaves_per_pod = largest_divisor(leaves, ports_ * taper / (taper + 1));
    if (shape.leaves_per_pod < 2 || shape.leaves_per_pod == leaves) return;
    shape.middle = shape.leaf_uplinks;
    shape.pod_uplinks = (shape.leaves_per_pod + taper - 1) / taper;
    const std::size_t pods = leaves / shape.leaves_per_pod;
    shape.top = fewest_above(shape.pod_uplinks, pods, ports_);
    if (shape.top > 0) shapes_.push_back(std::move(shape));
  }

  // A quarter of the ports for boxes, half for the group, a quarter for other groups, or less.
  void add_dragonfly() {
    ClusterShape shape{.box = name_, .boxes = boxes_, .layout = ClusterLayout::dragonfly};
    shape.levels = 2;
    shape.boxes_per_leaf = largest_divisor(boxes_, ports_ / 4 / box_.nics);
    if (shape.boxes_per_leaf == 0) return;
    const std::size_t routers = boxes_ / shape.boxes_per_leaf;
    shape.leaves_per_pod = largest_divisor(routers, ports_ / 2);
    const std::size_t groups = routers / shape.leaves_per_pod;
    if (shape.leaves_per_pod < 2 || groups < 2) return;
    shape.leaf_uplinks = ports_ / 4 / (groups - 1);
    if (shape.leaf_uplinks > 0) shapes_.push_back(std::move(shape));
  }

  std::string name_;
  ClusterBox box_;
  std::size_t boxes_, ports_;
  std::vector<ClusterShape> shapes_;
};

// A list of ids: "leaf[32-63]".
std::string range(const char* prefix, std::size_t first, std::size_t count) {
  return count == 1 ? fmt::format("{}{}", prefix, first)
                    : fmt::format("{}[{}-{}]", prefix, first, first + count - 1);
}

class ShapeWriter {
 public:
  explicit ShapeWriter(const ClusterShape& shape)
      : shape_(shape), model_(topology::box_model(shape.box)), box_(box_of(model_)) {}

  TopologyDocument write() {
    document_.name = fmt::format("{}x {}, {}", shape_.boxes, shape_.box, in_words(shape_));
    document_.description = model_.summary + ". All cables bring what a NIC does.";
    document_.metadata = {{"source", model_.source}};
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

  // Leaves are numbered rail by rail.
  void add_leaves() {
    const std::size_t units = shape_.boxes / shape_.boxes_per_leaf;
    document_.top.nodes.push_back(topology::switches(range("leaf", 0, leaves_of(shape_, box_))));
    for (std::size_t leaf = 0; leaf < leaves_of(shape_, box_); ++leaf) {
      const std::string boxes =
          range("box", leaf % units * shape_.boxes_per_leaf, shape_.boxes_per_leaf);
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
    const std::size_t planes = planes_of(shape_, box_);
    const std::size_t leaves = leaves_of(shape_, box_) / planes;
    const std::size_t per_pod = shape_.levels == 3 ? shape_.leaves_per_pod : leaves;
    const std::size_t pods = leaves / per_pod;
    document_.top.nodes.push_back(
        topology::switches(range("mid", 0, planes * pods * shape_.middle)));
    for (std::size_t pod = 0; pod < planes * pods; ++pod) {
      link(range("leaf", pod * per_pod, per_pod), range("mid", pod * shape_.middle, shape_.middle),
           "row", shape_.leaf_uplinks / shape_.middle, true);
    }
    if (shape_.levels == 3) add_top(planes, pods);
  }

  // Switch i of every pod of a plane leads to the same top switches.
  void add_top(std::size_t planes, std::size_t pods) {
    const std::size_t groups = planes * shape_.middle;
    document_.top.nodes.push_back(topology::switches(range("top", 0, groups * shape_.top)));
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
  topology::BoxModel model_;
  ClusterBox box_;
  TopologyDocument document_;
};

}  // namespace

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
  const auto models = topology::box_models();
  const auto model = std::ranges::find(models, name, &topology::BoxModel::name);
  if (model != models.end()) return box_of(*model);
  std::string known;
  for (const auto& one : models) known += (known.empty() ? "" : ", ") + one.name;
  return make_error("G01", fmt::format("no box is called \"{}\"", name),
                    fmt::format("There are {}.", known));
}

std::vector<ClusterShape> cluster_shapes(std::string_view box, std::size_t boxes,
                                         std::size_t ports) {
  FORESTCOLL_CHECK(boxes >= 2, "one box has no fabric");
  return Shapes(box, boxes, ports).all();
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
  const ClusterBox box = box_of(topology::box_model(shape.box));
  const std::size_t leaves = leaves_of(shape, box), planes = planes_of(shape, box);
  const std::size_t down = shape.boxes_per_leaf * nics_on_leaf(shape, box);
  ClusterParts parts{.switches = leaves, .widest = down, .box_cables = shape.boxes * box.nics};
  if (shape.layout == ClusterLayout::dragonfly) {
    const std::size_t routers = shape.leaves_per_pod, groups = leaves / routers;
    parts.widest += routers - 1 + (groups - 1) * shape.leaf_uplinks;
    parts.row_cables = groups * routers * (routers - 1) / 2;
    parts.hall_cables = groups * (groups - 1) / 2 * routers * shape.leaf_uplinks;
    return parts;
  }
  if (shape.levels == 1) return parts;
  parts.row_cables = leaves * shape.leaf_uplinks;
  const std::size_t per_pod = shape.levels == 3 ? shape.leaves_per_pod : leaves / planes;
  const std::size_t pods = leaves / per_pod;  // of all planes
  parts.switches += pods * shape.middle;
  const std::size_t from_below = per_pod * shape.leaf_uplinks / shape.middle;
  parts.widest = std::max({parts.widest + shape.leaf_uplinks, from_below + shape.pod_uplinks});
  if (shape.levels == 2) return parts;
  parts.hall_cables = pods * shape.middle * shape.pod_uplinks;
  parts.switches += planes * shape.middle * shape.top;
  parts.widest = std::max(parts.widest, pods / planes * shape.pod_uplinks / shape.top);
  return parts;
}

std::vector<std::string> switches_of(const ClusterShape& shape) {
  std::vector<std::string> ids = {"leaf0"};
  if (shape.layout == ClusterLayout::dragonfly) return ids;
  if (shape.levels > 1) ids.emplace_back("mid0");
  if (shape.levels > 2) ids.emplace_back("top0");
  return ids;
}

TopologyDocument to_document(const ClusterShape& shape) {
  return ShapeWriter(shape).write();
}

}  // namespace forestcoll
