// Everything that can be built for so many boxes of switches with so many ports.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.hpp"
#include "forestcoll/generate.hpp"
#include "topology/generate/boxes.hpp"
#include "topology/generate/cluster_counts.hpp"

namespace forestcoll {
namespace {

using namespace topology;

// What goes down over what goes up.
struct Taper {
  std::size_t down, up;
};
constexpr Taper kTapers[] = {{1, 1}, {3, 2}, {2, 1}, {3, 1}, {4, 1}};
// Groups of a dragonfly: the ports of a router over these.
constexpr std::size_t kGroupParts[] = {2, 4, 8};

// The most ports down that leave enough to go up.
std::size_t most_down(std::size_t ports, const Taper& taper) {
  return ports * taper.down / (taper.down + taper.up);
}

std::size_t fewest_up(std::size_t down, const Taper& taper) {
  return parts_needed(down * taper.up, taper.down);
}

// Parts of the largest size that divides `all`; where none of at least half of `most` does, as few
// as there can be, all alike but the last one.
std::size_t part_size(std::size_t all, std::size_t most) {
  for (std::size_t size = std::min(all, most); 2 * size >= most; --size) {
    if (all % size == 0) return size;
  }
  return parts_needed(all, parts_needed(all, most));
}

// Switches above, and how many cables each of those below has to all of them together.
struct Above {
  std::size_t switches, uplinks;
};

// The fewest switches of `ports` ports that take at least `uplinks` cables, and at most `most`,
// from each of `below` others, as many from each.
std::optional<Above> fewest_above(std::size_t uplinks, std::size_t most, std::size_t below,
                                  std::size_t ports) {
  for (std::size_t switches = 1; switches <= uplinks; ++switches) {
    const std::size_t each = parts_needed(uplinks, switches);
    if (below * each <= ports && switches * each <= most) return Above{switches, switches * each};
  }
  return std::nullopt;
}

class Shapes {
 public:
  Shapes(std::string_view box, std::size_t boxes, const ClusterPorts& ports)
      : name_(box), box_(topology::cluster_box(box_model(box))), boxes_(boxes), ports_(ports) {}

  std::vector<ClusterShape> all() {
    for (const auto layout :
         {ClusterLayout::fat_tree, ClusterLayout::rail, ClusterLayout::rail_only}) {
      // One rail has no levels above to join with others.
      if (box_.nics == 1 && layout != ClusterLayout::fat_tree) continue;
      ClusterShape shape{.box = name_, .boxes = boxes_, .layout = layout};
      // Rails of one switch each are not joined.
      if (layout != ClusterLayout::rail) add_single(shape);
      for (const Taper& taper : kTapers) add_leaves(shape, taper);
    }
    for (const std::size_t parts : kGroupParts) add_dragonfly(parts);
    return std::move(shapes_);
  }

 private:
  void add_single(ClusterShape shape) {
    if (boxes_ * nics_on_leaf(shape, box_) > ports_.leaf) return;
    shape.levels = 1;
    shape.boxes_per_leaf = boxes_;
    shapes_.push_back(std::move(shape));
  }

  void add_leaves(ClusterShape shape, const Taper& taper) {
    const std::size_t nics = nics_on_leaf(shape, box_);
    const std::size_t most = most_down(ports_.leaf, taper) / nics;
    if (most == 0 || most >= boxes_) return;
    shape.boxes_per_leaf = part_size(boxes_, most);
    const std::size_t down = shape.boxes_per_leaf * nics;
    const std::size_t up = fewest_up(down, taper);
    const std::size_t leaves = leaves_of(shape, box_) / planes_of(shape, box_);
    shape.levels = 2;
    if (const auto above = fewest_above(up, ports_.leaf - down, leaves, ports_.above)) {
      shape.middle = above->switches;
      shape.leaf_uplinks = above->uplinks;
      shapes_.push_back(shape);
    }
    shape.leaf_uplinks = shape.middle = up;
    for (const Taper& over : kTapers) add_pods(shape, leaves, over);
  }

  // A switch of the middle has one cable from every leaf of its pod.
  void add_pods(ClusterShape shape, std::size_t leaves, const Taper& taper) {
    shape.levels = 3;
    const std::size_t most = most_down(ports_.above, taper);
    if (most < 2 || most >= leaves) return;
    shape.leaves_per_pod = part_size(leaves, most);
    const auto above =
        fewest_above(fewest_up(shape.leaves_per_pod, taper), ports_.above - shape.leaves_per_pod,
                     parts_needed(leaves, shape.leaves_per_pod), ports_.above);
    if (!above) return;
    shape.top = above->switches;
    shape.pod_uplinks = above->uplinks;
    shapes_.push_back(std::move(shape));
  }

  // A quarter of the ports for boxes, some for the group, and what is left for other groups.
  void add_dragonfly(std::size_t parts) {
    ClusterShape shape{.box = name_, .boxes = boxes_, .layout = ClusterLayout::dragonfly};
    shape.levels = 2;
    const std::size_t most = ports_.leaf / 4 / box_.nics, in_group = ports_.leaf / parts;
    if (most == 0 || in_group < 2) return;
    shape.boxes_per_leaf = part_size(boxes_, most);
    const std::size_t routers = parts_needed(boxes_, shape.boxes_per_leaf);
    if (routers <= in_group) return;
    shape.leaves_per_pod = part_size(routers, in_group);
    const std::size_t groups = parts_needed(routers, shape.leaves_per_pod);
    const std::size_t used = shape.boxes_per_leaf * box_.nics + shape.leaves_per_pod - 1;
    shape.leaf_uplinks = (ports_.leaf - used) / (groups - 1);
    if (shape.leaf_uplinks > 0) shapes_.push_back(std::move(shape));
  }

  std::string name_;
  ClusterBox box_;
  std::size_t boxes_;
  ClusterPorts ports_;
  std::vector<ClusterShape> shapes_;
};

}  // namespace

std::vector<ClusterShape> cluster_shapes(std::string_view box, std::size_t boxes,
                                         const ClusterPorts& ports) {
  FORESTCOLL_CHECK(boxes >= 2, "one box has no fabric");
  return Shapes(box, boxes, ports).all();
}

}  // namespace forestcoll
