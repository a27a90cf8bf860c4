#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "baseline/boxes.hpp"
#include "baseline/makers.hpp"
#include "baseline/trees/box_tree.hpp"
#include "forest/route_builder.hpp"
#include "forest/route_table.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/congestion.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::baseline {
namespace {

constexpr std::size_t kMostNvlsEdges = std::size_t{1} << 25;

// Of the narrowest link between these ranks and a switch, either way; 0 where some rank has none.
Capacity width_of(const Network& network, NodeId node, const std::vector<Rank>& members) {
  Capacity width = std::numeric_limits<Capacity>::max();
  for (const Rank member : members) {
    const NodeId rank = network.ranks[member.index()];
    for (const auto& [from, to] : {std::pair(rank, node), std::pair(node, rank)}) {
      const ArcId arc = network.graph.find(from, to);
      if (!arc.valid()) return 0;
      width = std::min(width, network.capacity[arc]);
    }
  }
  return width;
}

/// A switch of every box, and the narrowest of the links that join them to the boxes' ranks.
struct Plane {
  std::vector<NodeId> switches;
  Capacity width = 0;
};

class Nvls {
 public:
  explicit Nvls(const Request& request)
      : network_(request.network),
        topology_(request.topology),
        roles_(switch_roles(request.topology)),
        boxes_(group_boxes(request.topology, request.network)),
        finder_(request.network, boxes_.box_of) {}

  Expected<BaselineResult> make() {
    join_where_one_switch_serves_all();
    const std::vector<Plane> planes = find_planes();
    if (planes.empty()) return no_switch();
    if (const auto done = find_heads(); !done) return done.errors();
    BranchingForest forest{.ranks = network_.ranks};
    forest.chunks = 0;
    std::int64_t common = 0;
    for (const Plane& plane : planes) common = std::gcd(common, plane.width);
    for (const Plane& plane : planes) {
      const std::int64_t share = plane.width / common;
      auto trees = trees_through(plane, share);
      if (!trees) return trees.errors();
      forest.chunks += share * static_cast<std::int64_t>(trees->forest.tree_count());
      forest.reduce.push_back({plane.switches, trees->forest.reversed()});
      forest.broadcast.push_back(*std::move(trees));
    }
    const auto algbw = congestion_algbw(forest, network_, roles_);
    if (!algbw) return inexact("the rate of this algorithm does not fit 64-bit fractions");
    forest.algbw = *algbw;
    return BaselineResult{.forest = {},
                          .branching = std::move(forest),
                          .algbw = *algbw,
                          .rings = 0,
                          .note = in_words(planes.size())};
  }

 private:
  /// A tree over the boxes, along one rail.
  struct Shape {
    std::size_t rail = 0;
    BoxTree boxes;
    [[nodiscard]] auto root(const std::vector<std::vector<Rank>>& heads) const {
      return heads[boxes.root()][rail];
    }
  };

  [[nodiscard]] bool able(NodeId v) const { return roles_[v].copies && roles_[v].combines; }

  // Boxes of one NVLink domain are one box to NCCL.
  void join_where_one_switch_serves_all() {
    std::vector<Rank> all;
    for (std::size_t r = 0; r < network_.ranks.size(); ++r) all.emplace_back(r);
    for (std::size_t w = 0; w < roles_.size(); ++w) {
      if (!able(NodeId(w)) || width_of(network_, NodeId(w), all) == 0) continue;
      boxes_.members.clear();
      boxes_.members.push_back(std::move(all));
      return;
    }
  }

  [[nodiscard]] std::vector<Plane> find_planes() const {
    std::vector<Plane> planes;
    for (std::size_t b = 0; b < boxes_.size(); ++b) {
      std::size_t next = 0;
      for (std::size_t w = 0; w < roles_.size(); ++w) {
        const Capacity width =
            able(NodeId(w)) ? width_of(network_, NodeId(w), boxes_.members[b]) : 0;
        if (width == 0) continue;
        if (b == 0) planes.push_back({{}, width});
        if (next == planes.size()) break;
        planes[next].switches.emplace_back(w);
        planes[next].width = std::min(planes[next].width, width);
        ++next;
      }
      planes.resize(next);
    }
    return planes;
  }

  [[nodiscard]] Expected<void> find_heads() {
    std::size_t edges = network_.ranks.size() + boxes_.size();
    heads_ = doors_by_rail(boxes_, finder_);
    const std::size_t rails = heads_.front().size();
    if (rails == 0) {
      return make_error(Code::B08, "no switches lead out of a box",
                        "compare with another algorithm");
    }
    if (2 * rails > kMostNvlsEdges / edges) {
      return too_large("the trees have more than 33 million edges");
    }
    for (std::size_t rail = 0; rail < rails; ++rail) {
      shapes_.push_back({rail, BoxTree(boxes_.size(), false)});
      if (boxes_.size() > 1) shapes_.push_back({rail, BoxTree(boxes_.size(), true)});
    }
    std::ranges::stable_sort(shapes_, {}, [&](const Shape& shape) { return shape.root(heads_); });
    return {};
  }

  // Out-trees of so many chunks each.
  [[nodiscard]] Expected<BranchingTrees> trees_through(const Plane& plane, std::int64_t share) {
    std::vector<NodeId> spanned = network_.ranks;
    spanned.insert(spanned.end(), plane.switches.begin(), plane.switches.end());
    RouteBuilder builder(spanned);
    std::vector<Forest::Tree> trees;
    std::vector<Route> routes;
    for (const Shape& shape : shapes_) {
      const std::size_t begin = routes.size();
      routes.resize(begin + spanned.size());
      std::int32_t height = 0;
      for (std::size_t b = 0; b < boxes_.size(); ++b) {
        const Rank head = heads_[b][shape.rail];
        const Rank through(network_.ranks.size() + b);
        const auto add = [&](Rank from, Rank to, const Path& path) {
          routes[begin + to.index()] = builder.add(from, path);
        };
        const auto depth = static_cast<std::int32_t>(shape.boxes.depth(b));
        height = std::max(height, depth + (boxes_.members[b].size() > 1 ? 2 : 1));
        add(head, through, {spanned[head.index()], plane.switches[b]});
        for (const Rank member : boxes_.members[b]) {
          if (member == head) continue;
          add(through, member, {plane.switches[b], spanned[member.index()]});
        }
        if (b == shape.boxes.root()) continue;
        const Rank above = heads_[shape.boxes.parent(b)][shape.rail];
        const Path path = finder_.take(above, head, Through::switches);
        if (path.empty() || !leads_back(path)) return no_path(above, head);
        add(above, head, path);
      }
      trees.push_back({shape.root(heads_), share, height});
    }
    return BranchingTrees{plane.switches,
                          Forest(builder.take(), std::move(trees), std::move(routes))};
  }

  [[nodiscard]] bool leads_back(const Path& path) const {
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
      if (!network_.graph.find(path[i + 1], path[i]).valid()) return false;
    }
    return true;
  }

  [[nodiscard]] std::string in_words(std::size_t planes) const {
    const std::string switches = planes == 1 ? "one switch" : fmt::format("{} switches", planes);
    if (boxes_.size() == 1) {
      return fmt::format("{} trees through {}", shapes_.size() * planes, switches);
    }
    return fmt::format("{} trees over {} boxes, through {} in each", shapes_.size() * planes,
                       boxes_.size(), switches);
  }

  [[nodiscard]] Diagnostic no_switch() const {
    return make_error(
        Code::B03,
        fmt::format("no switch with \"multicast\" and \"reduce\" is linked to every GPU{} "
                    "both ways",
                    boxes_.size() == 1 ? "" : " of some box"),
        "NVLS is for boxes whose switch combines data: set both keys on the switches "
        "that do");
  }

  [[nodiscard]] Diagnostic no_path(Rank from, Rank to) const {
    return make_error(Code::B08,
                      fmt::format("no switches lead from {} to {} and back, its child in a tree",
                                  name_of(topology_, from), name_of(topology_, to)),
                      "compare with another algorithm");
  }

  const Network& network_;
  const Topology& topology_;
  const SwitchRoles roles_;
  Boxes boxes_;
  PathFinder finder_;
  std::vector<std::vector<Rank>> heads_;  // by box and rail
  std::vector<Shape> shapes_;             // by root
};

}  // namespace

Expected<BaselineResult> nvls(const Request& request) {
  return Nvls(request).make();
}

}  // namespace forestcoll::baseline
