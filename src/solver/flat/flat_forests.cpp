#include "solver/flat/flat_forests.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "forest/route_table.hpp"
#include "solver/common/core.hpp"
#include "solver/flat/boxes.hpp"
#include "solver/flat/lanes.hpp"

namespace forestcoll::solver {
namespace {

using ArcRow = std::vector<ArcId>;  ///< arcs of the core, one after the other

/// The shortest ways between nodes that may be passed. Of equals the widest, as the narrowest arc
/// has it.
class BoxWays {
 public:
  BoxWays(const Core& core, const Boxes& boxes) : core_(core), boxes_(boxes) {}

  // Inside of a box, through switches alone; empty where there is none.
  [[nodiscard]] const ArcRow& inside(Rank from, Rank to) {
    const NodeId tail = core_.compute[from.index()], head = core_.compute[to.index()];
    return between(tail, head, false);
  }

  // From gate to gate.
  [[nodiscard]] ArcRow outside(const Gate& out, const Gate& in) {
    const NodeId tail = core_.graph.head(out.arc), head = core_.graph.tail(in.arc);
    ArcRow way{out.arc};
    if (tail != head) {
      const ArcRow& passed = between(tail, head, true);
      if (passed.empty()) return {};
      way.insert(way.end(), passed.begin(), passed.end());
    }
    way.push_back(in.arc);
    return way;
  }

 private:
  const ArcRow& between(NodeId tail, NodeId head, bool is_outside) {
    auto at = known_.find(tail);
    if (at == known_.end()) at = known_.emplace(tail, search(tail, is_outside)).first;
    return at->second[head.index()];
  }

  // To all nodes, breadth first.
  std::vector<ArcRow> search(NodeId from, bool is_outside) {
    std::vector<ArcRow> ways(core_.graph.node_count());
    std::vector<Capacity> width(ways.size(), 0);
    std::vector<NodeId> level{from};
    while (!level.empty()) {
      std::vector<NodeId> next;
      for (const NodeId v : level) {
        if (v != from && core_.rank_of[v].valid()) continue;
        for (ArcId a = core_.graph.first_out(v); a != core_.graph.last_out(v); ++a.value) {
          const NodeId to = core_.graph.head(a);
          if (to == from || (boxes_.is_outside[to.index()] != 0) != is_outside) continue;
          ArcRow& way = ways[to.index()];
          const std::size_t hops = ways[v.index()].size() + 1;
          if (!way.empty() && way.size() < hops) continue;
          const Capacity least =
              v == from ? core_.capacity[a] : std::min(width[v.index()], core_.capacity[a]);
          if (way.empty()) next.push_back(to);
          if (!way.empty() && least <= width[to.index()]) continue;
          way = ways[v.index()];
          way.push_back(a);
          width[to.index()] = least;
        }
      }
      level = std::move(next);
    }
    return ways;
  }

  const Core& core_;
  const Boxes& boxes_;
  std::map<NodeId, std::vector<ArcRow>> known_;
};

/// BoxRoutes along ways of the core, or backwards.
class BoxRoutes {
 public:
  BoxRoutes(const Core& core, bool is_backward) : table_(core.compute), is_backward_(is_backward) {
    for (std::size_t a = 0; a < core.graph.arc_count(); ++a) {
      const auto along = core.segment(ArcId(a));
      std::vector<NodeId> nodes(along.begin(), along.end());
      if (is_backward) {
        std::ranges::reverse(nodes);
        nodes.erase(nodes.begin());
        nodes.push_back(core.graph.tail(ArcId(a)));
      }
      segments_.push_back(table_.add_segment(nodes));
    }
  }

  // From the rank at which the way begins; backwards, at which it ends.
  Route along(Rank from, const ArcRow& way) {
    PrefixId prefix(from.value);
    for (std::size_t i = 0; i + 1 < way.size(); ++i) prefix = extended(prefix, segment(way, i));
    return {prefix, segment(way, way.size() - 1)};
  }

  RouteTable take() { return std::move(table_); }

 private:
  [[nodiscard]] SegmentId segment(const ArcRow& way, std::size_t i) const {
    return segments_[way[is_backward_ ? way.size() - 1 - i : i].index()];
  }

  PrefixId extended(PrefixId prefix, SegmentId by) {
    const auto [at, is_new] = known_.try_emplace({prefix, by});
    if (is_new) at->second = table_.extend(prefix, by);
    return at->second;
  }

  RouteTable table_;
  const bool is_backward_;
  std::vector<SegmentId> segments_;  ///< by arc of the core
  std::map<std::pair<PrefixId, SegmentId>, PrefixId> known_;
};

// `total` in proportion to `parts`, no part of it above its own: rounded down, and the rest goes to
// the first that have room. REQUIRES: `total` is at most the sum.
std::vector<std::int64_t> portions(std::span<const Lane> parts, std::int64_t total) {
  Int128 sum = 0;
  for (const Lane& lane : parts) sum += lane.trees;
  std::vector<std::int64_t> result;
  std::int64_t left = total;
  for (const Lane& lane : parts) {
    result.push_back(static_cast<std::int64_t>(Int128{lane.trees} * total / sum));
    left -= result.back();
  }
  for (std::size_t i = 0; left > 0; i = (i + 1) % parts.size()) {
    if (result[i] == parts[i].trees) continue;
    ++result[i];
    --left;
  }
  return result;
}

/// The trees of one phase.
class BoxTrees {
 public:
  BoxTrees(const Core& core, const Boxes& boxes, const Lanes& lanes, const Weights& trees,
           BoxWays& ways, bool is_reduce)
      : core_(core),
        boxes_(boxes),
        lanes_(lanes),
        owed_(trees),
        ways_(ways),
        is_reduce_(is_reduce),
        routes_(core, is_reduce) {}

  std::optional<Forest> run() {
    if (!find_stars()) return std::nullopt;
    for (std::size_t box = 0; box < boxes_.members.size(); ++box) {
      if (lanes_.trees[box] > 0 && !add_trees(box)) return std::nullopt;
    }
    sort_by_root();
    return Forest(routes_.take(), std::move(trees_), std::move(rows_));
  }

 private:
  /// To another box, for the trees up to `end` of a box.
  struct Branch {
    std::int64_t end = 0;
    Rank exit, entry;
    Route route;
  };

  // Of every rank to its mates.
  bool find_stars() {
    stars_.assign(core_.compute.size(), {});
    for (const auto& members : boxes_.members) {
      for (const Rank center : members) {
        for (const Rank mate : members) {
          Route route;
          if (mate != center) {
            const ArcRow& way =
                is_reduce_ ? ways_.inside(mate, center) : ways_.inside(center, mate);
            if (way.empty()) return false;
            route = routes_.along(center, way);
          }
          stars_[center.index()].push_back(route);
        }
      }
    }
    return true;
  }

  // In the order of lanes: boxes that are alike change them at the same trees.
  std::optional<std::vector<Branch>> branches(std::size_t box, std::size_t other) {
    const auto& lanes = is_reduce_ ? lanes_.lanes[other][box] : lanes_.lanes[box][other];
    const std::int64_t owned = lanes_.trees[is_reduce_ ? other : box];
    auto parts = portions(lanes, owned);
    std::vector<Branch> result;
    std::int64_t end = 0;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      if (is_reduce_) parts[i] = lanes[i].trees - parts[i];
      if (parts[i] == 0) continue;
      end += parts[i];
      const Gate& out = boxes_.out[is_reduce_ ? other : box][lanes[i].out];
      const Gate& in = boxes_.in[is_reduce_ ? box : other][lanes[i].in];
      const ArcRow way = ways_.outside(out, in);
      if (way.empty()) return std::nullopt;
      const Rank exit = is_reduce_ ? in.rank : out.rank, entry = is_reduce_ ? out.rank : in.rank;
      result.push_back({end, exit, entry, routes_.along(exit, way)});
    }
    return result;
  }

  bool add_trees(std::size_t box) {
    std::vector<std::vector<Branch>> all;
    std::set<std::int64_t> ends;
    for (std::size_t other = 0; other < boxes_.members.size(); ++other) {
      if (other == box) {
        all.emplace_back();
        continue;
      }
      auto own = branches(box, other);
      if (!own) return false;
      for (const Branch& branch : *own) ends.insert(branch.end);
      all.push_back(*std::move(own));
    }
    std::int64_t end_of_root = 0;
    std::vector<std::int64_t> ends_of_roots;
    for (const Rank root : boxes_.members[box]) {
      end_of_root += owed_[root];
      ends_of_roots.push_back(end_of_root);
      if (owed_[root] > 0) ends.insert(end_of_root);
    }
    std::vector<std::size_t> at(all.size(), 0);
    std::size_t root = 0;
    std::int64_t begin = 0;
    for (const std::int64_t end : ends) {
      while (ends_of_roots[root] <= begin) ++root;
      for (std::size_t other = 0; other < all.size(); ++other) {
        while (other != box && all[other][at[other]].end <= begin) ++at[other];
      }
      add_tree(box, boxes_.members[box][root], end - begin, all, at);
      begin = end;
    }
    return true;
  }

  void add_tree(std::size_t box, Rank root, std::int64_t multiplicity,
                const std::vector<std::vector<Branch>>& all, const std::vector<std::size_t>& at) {
    std::vector<Route> row(core_.compute.size());
    std::int32_t height = boxes_.members[box].size() > 1 ? 1 : 0;
    put_star(box, root, row);
    for (std::size_t other = 0; other < all.size(); ++other) {
      if (other == box) continue;
      const Branch& branch = all[other][at[other]];
      put_star(other, branch.entry, row);
      row[branch.entry.index()] = branch.route;
      const std::int32_t deep = boxes_.members[other].size() > 1 ? 1 : 0;
      height = std::max(height, (branch.exit == root ? 1 : 2) + deep);
    }
    trees_.push_back({root, multiplicity, height});
    rows_.insert(rows_.end(), row.begin(), row.end());
  }

  void put_star(std::size_t box, Rank center, std::vector<Route>& row) const {
    const auto& members = boxes_.members[box];
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (members[i] != center) row[members[i].index()] = stars_[center.index()][i];
    }
  }

  void sort_by_root() {
    const std::size_t ranks = core_.compute.size();
    std::vector<std::size_t> order(trees_.size());
    for (std::size_t t = 0; t < order.size(); ++t) order[t] = t;
    std::ranges::stable_sort(order, {}, [&](std::size_t t) { return trees_[t].root; });
    std::vector<Forest::Tree> trees;
    std::vector<Route> rows;
    rows.reserve(rows_.size());
    for (const std::size_t t : order) {
      trees.push_back(trees_[t]);
      const auto begin = rows_.begin() + static_cast<std::ptrdiff_t>(t * ranks);
      rows.insert(rows.end(), begin, begin + static_cast<std::ptrdiff_t>(ranks));
    }
    trees_ = std::move(trees);
    rows_ = std::move(rows);
  }

  const Core& core_;
  const Boxes& boxes_;
  const Lanes& lanes_;
  const Weights& owed_;
  BoxWays& ways_;
  const bool is_reduce_;
  BoxRoutes routes_;
  std::vector<std::vector<Route>> stars_;  ///< by center, to the ranks of its box in their order
  std::vector<Forest::Tree> trees_;
  std::vector<Route> rows_;
};

// As evenly as whole numbers are.
Weights trees_of_roots(const Boxes& boxes, const Lanes& lanes, std::size_t ranks) {
  Weights trees(ranks, 0);
  for (std::size_t box = 0; box < boxes.members.size(); ++box) {
    const auto& members = boxes.members[box];
    const auto count = static_cast<std::int64_t>(members.size());
    for (std::int64_t i = 0; i < count; ++i) {
      trees[members[static_cast<std::size_t>(i)]] =
          lanes.trees[box] / count + (i < lanes.trees[box] % count ? 1 : 0);
    }
  }
  return trees;
}

std::optional<FlatForests> forests_of(const Core& core, const Boxes& boxes, const Lanes& lanes) {
  BoxWays ways(core, boxes);
  FlatForests result{trees_of_roots(boxes, lanes, core.compute.size()), {}, {}};
  auto broadcast = BoxTrees(core, boxes, lanes, result.trees, ways, false).run();
  if (!broadcast) return std::nullopt;
  auto reduce = BoxTrees(core, boxes, lanes, result.trees, ways, true).run();
  if (!reduce) return std::nullopt;
  result.broadcast = *std::move(broadcast);
  result.reduce = reduce->reversed();
  return result;
}

}  // namespace

std::optional<FlatForests> flat_forests(const Network& network, const Ratio& rate,
                                        const std::stop_token& stop) {
  const Core core = make_core(network, network.capacity);
  for (const Boxes& boxes : divisions_into_boxes(core)) {
    const auto lanes = find_lanes(boxes, rate);
    if (!lanes) continue;
    if (stop.stop_requested()) return std::nullopt;
    if (auto found = forests_of(core, boxes, *lanes)) return found;
  }
  return std::nullopt;
}

}  // namespace forestcoll::solver
