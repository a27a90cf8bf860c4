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
#include "solver/common/join_trees.hpp"
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
// the first that have room. Nothing where they have not so much, or less than nothing is asked for.
std::optional<std::vector<std::int64_t>> portions(std::span<const std::int64_t> parts,
                                                  std::int64_t total) {
  Int128 sum = 0;
  for (const std::int64_t part : parts) sum += part;
  if (total < 0 || sum < total) return std::nullopt;
  std::vector<std::int64_t> result;
  std::int64_t left = total;
  for (const std::int64_t part : parts) {
    result.push_back(sum == 0 ? 0 : static_cast<std::int64_t>(Int128{part} * total / sum));
    left -= result.back();
  }
  for (std::size_t i = 0; left > 0; i = (i + 1) % parts.size()) {
    if (result[i] == parts[i]) continue;
    ++result[i];
    --left;
  }
  return result;
}

/// What goes over each lane, by phases and relays.
class LaneParts {
 public:
  LaneParts(const Boxes& boxes, const Lanes& lanes) : boxes_(boxes), lanes_(lanes) {}

  // By lane of a pair of boxes.
  using Amounts = std::vector<std::int64_t>;

  // False where relays find no lanes.
  bool divide() {
    const std::size_t boxes = boxes_.members.size();
    left_.assign(boxes, std::vector<Amounts>(boxes));
    for (std::size_t g = 0; g < boxes; ++g) {
      for (std::size_t h = 0; h < boxes; ++h) {
        for (const Lane& lane : lanes_.lanes[g][h]) left_[g][h].push_back(lane.trees);
      }
    }
    straight_[0] = straight_[1] = left_;
    std::map<std::pair<std::size_t, std::size_t>, std::int64_t> less[2];
    for (const Relay& relay : lanes_.shares.relays) {
      if (!divide(relay)) return false;
      less[relay.is_reduce ? 1 : 0][{relay.root, relay.to}] += relay.trees;
    }
    for (std::size_t g = 0; g < boxes; ++g) {
      for (std::size_t h = 0; h < boxes; ++h) {
        if (g == h) continue;
        auto own = portions(left_[g][h], lanes_.shares.trees[g] - less[0][{g, h}]);
        if (!own) return false;
        straight_[0][g][h] = *std::move(own);
        for (std::size_t i = 0; i < left_[g][h].size(); ++i) {
          straight_[1][g][h][i] = left_[g][h][i] - straight_[0][g][h][i];
        }
      }
    }
    return true;
  }

  // Of trees straight from or to their root's box, in the broadcast or the reduce.
  [[nodiscard]] const Amounts& straight(bool is_reduce, std::size_t from, std::size_t to) const {
    return straight_[is_reduce ? 1 : 0][from][to];
  }
  // By relay.
  [[nodiscard]] const Amounts& of_relay(std::size_t relay) const { return of_relays_[relay]; }

 private:
  // Over lanes that begin or end where data of the root's comes from or goes to.
  bool divide(const Relay& relay) {
    const std::size_t from = relay.is_reduce ? relay.to : relay.via;
    const std::size_t to = relay.is_reduce ? relay.via : relay.to;
    std::set<Rank> ends;
    const auto& other =
        relay.is_reduce ? lanes_.lanes[relay.via][relay.root] : lanes_.lanes[relay.root][relay.via];
    for (const Lane& lane : other) {
      ends.insert(relay.is_reduce ? boxes_.out[relay.via][lane.out].rank
                                  : boxes_.in[relay.via][lane.in].rank);
    }
    Amounts open = left_[from][to];
    for (std::size_t i = 0; i < open.size(); ++i) {
      const Lane& lane = lanes_.lanes[from][to][i];
      const Rank rank =
          relay.is_reduce ? boxes_.in[to][lane.in].rank : boxes_.out[from][lane.out].rank;
      if (!ends.contains(rank)) open[i] = 0;
    }
    auto own = portions(open, relay.trees);
    if (!own) return false;
    for (std::size_t i = 0; i < open.size(); ++i) left_[from][to][i] -= (*own)[i];
    of_relays_.push_back(*std::move(own));
    return true;
  }

  const Boxes& boxes_;
  const Lanes& lanes_;
  std::vector<std::vector<Amounts>> left_, straight_[2];
  std::vector<Amounts> of_relays_;
};

/// The trees of one phase.
class BoxTrees {
 public:
  BoxTrees(const Core& core, const Boxes& boxes, const Lanes& lanes, const LaneParts& parts,
           const Weights& trees, BoxWays& ways, bool is_reduce)
      : core_(core),
        boxes_(boxes),
        lanes_(lanes),
        parts_(parts),
        owed_(trees),
        ways_(ways),
        is_reduce_(is_reduce),
        routes_(core, is_reduce) {}

  std::optional<Forest> run() {
    if (!find_stars()) return std::nullopt;
    for (std::size_t box = 0; box < boxes_.members.size(); ++box) {
      if (lanes_.shares.trees[box] > 0 && !add_trees(box)) return std::nullopt;
    }
    join_equal_trees(trees_, rows_, core_.compute.size());
    return Forest(routes_.take(), std::move(trees_), std::move(rows_));
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  /// To another box, for some of the trees of a box.
  struct Branch {
    std::int64_t begin = 0, end = 0;
    Rank exit, entry;
    Route route;
    std::size_t via = kNone;  ///< the box that passes data on
  };
  using Branches = std::vector<Branch>;  ///< in the order of the trees

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

  // Over a lane; empty where there is no way between its gates.
  std::optional<Branch> branch_over(const Lane& lane, std::size_t from, std::size_t to) {
    const Gate &out = boxes_.out[from][lane.out], &in = boxes_.in[to][lane.in];
    const ArcRow way = ways_.outside(out, in);
    if (way.empty()) return std::nullopt;
    const Rank exit = is_reduce_ ? in.rank : out.rank, entry = is_reduce_ ? out.rank : in.rank;
    return Branch{0, 0, exit, entry, routes_.along(exit, way)};
  }

  // Straight from the root's box where nothing passes data on, in the order of lanes: boxes that
  // are alike change them at the same trees.
  bool add_straight(std::size_t box, std::size_t other, Branches& branches) {
    const std::size_t from = is_reduce_ ? other : box, to = is_reduce_ ? box : other;
    const auto& amounts = parts_.straight(is_reduce_, from, to);
    const auto relayed = std::move(branches);
    branches.clear();
    auto next = relayed.begin();
    std::int64_t at = 0;
    const auto pass_relayed = [&] {
      for (; next != relayed.end() && next->begin == at; ++next) {
        branches.push_back(*next);
        at = next->end;
      }
    };
    for (std::size_t i = 0; i < amounts.size(); ++i) {
      if (amounts[i] == 0) continue;
      auto branch = branch_over(lanes_.lanes[from][to][i], from, to);
      if (!branch) return false;
      for (std::int64_t left = amounts[i]; left > 0;) {
        pass_relayed();
        const std::int64_t room = next == relayed.end() ? left : next->begin - at;
        branch->begin = at;
        branch->end = at += std::min(left, room);
        left -= branch->end - branch->begin;
        branches.push_back(*branch);
      }
    }
    pass_relayed();
    return at == lanes_.shares.trees[box] && next == relayed.end();
  }

  // Where data enters the box that passes it on by the rank at which the lane begins.
  bool add_relayed(const Relay& relay, const LaneParts::Amounts& amounts, const Branches& to_via,
                   Branches& branches) {
    const std::size_t from = is_reduce_ ? relay.to : relay.via;
    const std::size_t to = is_reduce_ ? relay.via : relay.to;
    for (std::size_t i = 0; i < amounts.size(); ++i) {
      if (amounts[i] == 0) continue;
      auto branch = branch_over(lanes_.lanes[from][to][i], from, to);
      if (!branch) return false;
      branch->via = relay.via;
      std::int64_t left = amounts[i];
      for (const Branch& before : to_via) {
        if (before.entry == branch->exit && left > 0) left -= fill(before, left, *branch, branches);
      }
      if (left > 0) return false;
    }
    return true;
  }

  // What is open of `range`, up to `most` trees. How many there are.
  static std::int64_t fill(const Branch& range, std::int64_t most, Branch branch,
                           Branches& branches) {
    std::int64_t filled = 0;
    std::int64_t at = range.begin;
    for (std::size_t i = 0; at < range.end && filled < most; ++i) {
      while (i < branches.size() && branches[i].end <= at) ++i;
      if (i < branches.size() && branches[i].begin <= at) {
        at = branches[i].end;
        continue;
      }
      const std::int64_t room = i < branches.size() ? branches[i].begin : range.end;
      branch.begin = at;
      branch.end = at + std::min(std::min(room, range.end) - at, most - filled);
      filled += branch.end - branch.begin;
      at = branch.end;
      branches.insert(branches.begin() + static_cast<std::ptrdiff_t>(i), branch);
    }
    return filled;
  }

  // By box: those that pass data on come first, which get it straight.
  bool find_branches(std::size_t box, std::vector<Branches>& all) {
    all.assign(boxes_.members.size(), {});
    std::set<std::size_t> relayed;
    for (const Relay& relay : lanes_.shares.relays) {
      if (relay.is_reduce == is_reduce_ && relay.root == box) relayed.insert(relay.to);
    }
    const auto add = [&](bool is_relayed) {
      for (std::size_t other = 0; other < all.size(); ++other) {
        if (other == box || relayed.contains(other) != is_relayed) continue;
        if (!add_straight(box, other, all[other])) return false;
      }
      return true;
    };
    if (!add(false)) return false;
    for (std::size_t i = 0; i < lanes_.shares.relays.size(); ++i) {
      const Relay& relay = lanes_.shares.relays[i];
      if (relay.is_reduce != is_reduce_ || relay.root != box) continue;
      if (!add_relayed(relay, parts_.of_relay(i), all[relay.via], all[relay.to])) return false;
    }
    return add(true);
  }

  bool add_trees(std::size_t box) {
    std::vector<Branches> all;
    if (!find_branches(box, all)) return false;
    std::set<std::int64_t> ends;
    for (const Branches& branches : all) {
      for (const Branch& branch : branches) ends.insert(branch.end);
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
                const std::vector<Branches>& all, const std::vector<std::size_t>& at) {
    std::vector<Route> row(core_.compute.size());
    std::int32_t height = boxes_.members[box].size() > 1 ? 1 : 0;
    put_star(box, root, row);
    for (std::size_t other = 0; other < all.size(); ++other) {
      if (other == box) continue;
      const Branch& branch = all[other][at[other]];
      put_star(other, branch.entry, row);
      row[branch.entry.index()] = branch.route;
      const Rank exit = branch.via == kNone ? branch.exit : all[branch.via][at[branch.via]].exit;
      const std::int32_t hops = (exit == root ? 1 : 2) + (branch.via == kNone ? 0 : 1);
      height = std::max(height, hops + (boxes_.members[other].size() > 1 ? 1 : 0));
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

  const Core& core_;
  const Boxes& boxes_;
  const Lanes& lanes_;
  const LaneParts& parts_;
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
          lanes.shares.trees[box] / count + (i < lanes.shares.trees[box] % count ? 1 : 0);
    }
  }
  return trees;
}

std::optional<FlatForests> forests_of(const Core& core, const Boxes& boxes, const Lanes& lanes) {
  BoxWays ways(core, boxes);
  FlatForests result{trees_of_roots(boxes, lanes, core.compute.size()), {}, {}};
  LaneParts parts(boxes, lanes);
  if (!parts.divide()) return std::nullopt;
  auto broadcast = BoxTrees(core, boxes, lanes, parts, result.trees, ways, false).run();
  if (!broadcast) return std::nullopt;
  auto reduce = BoxTrees(core, boxes, lanes, parts, result.trees, ways, true).run();
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
