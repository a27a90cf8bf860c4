#include "solver/height_flat.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "solver/height_routes.hpp"

namespace forestcoll::solver {
namespace {

// Lengths: of a hop; of what is used of an arc, up to an eighth of a hop, so that detours do not
// pay; and of an arc that is full, or was overfull in a former round by all it can carry.
constexpr std::int64_t kHop = 1 << 10;
constexpr std::int64_t kUsed = 1 << 7;
constexpr std::int64_t kFull = 4 * kHop;

// Searches for routes: per tree, and for few trees.
constexpr std::size_t kSearches = 16;
constexpr std::size_t kFewTrees = 256;

// Rounds in a row without a sixteenth less that is overfull, and there is no such forest to be had.
constexpr int kIdleRounds = 8;

// One search serves as many targets at least; where there are few trees, not many more, because
// what they take makes other ways shorter.
constexpr std::size_t kFewTargets = 128;

constexpr std::int64_t kFar = std::numeric_limits<std::int64_t>::max() / 2;

// 0 … n−1, neighbours far apart: all parts of the fabric get filled at the same pace.
std::vector<std::size_t> scattered(std::size_t n) {
  std::size_t step = n * 5 / 8 + 1;
  while (std::gcd(step, n) != 1) ++step;
  std::vector<std::size_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = i * step % n;
  return order;
}

class FlatTrees {
 public:
  FlatTrees(const TreeRows& rows, Resources& resources)
      : rows_(rows),
        core_(rows.core),
        resources_(resources),
        ranks_(rows.core.compute.size()),
        maker_(rows.core, rows.table) {
    maker_.note(rows.routes);
  }

  bool run(std::int32_t height, const std::stop_token& stop) {
    join_roots();
    all_ = capacity();
    left_ = all_;
    for (const Capacity all : all_) {
      per_unit_.push_back(1 / static_cast<double>(std::max<Capacity>(all, 1)));
    }
    routes_.assign(trees_.size() * ranks_, Route{});
    if (height == 2) group_ranks();
    passing_.assign(core_.graph.node_count(), 0);
    toll_.assign(all_.size(), 0);
    cost_.assign(all_.size(), 0);
    for (std::size_t a = 0; a < core_.graph.arc_count(); ++a) {
      hops_.push_back(kHop * static_cast<std::int64_t>(core_.segment(ArcId(a)).size()));
    }
    searches_left_ = static_cast<std::int64_t>(kSearches * std::max(trees_.size(), kFewTrees));
    per_search_ = std::max(trees_.size() * ranks_ / (4 * kFewTrees), kFewTargets);
    if (!route_all(height, stop)) return false;
    Int128 least = 0;
    int idle_rounds = 0;
    while (const Int128 overfull = raise_tolls()) {
      const bool better = least == 0 || overfull < least - least / 16;
      if (better) least = overfull;
      idle_rounds = better ? 0 : idle_rounds + 1;
      full_ = std::min(full_ + kFull / 16, kFull);
      if (idle_rounds > kIdleRounds || searches_left_ <= 0 || stop.stop_requested() || !reroute()) {
        return false;
      }
    }
    measure();
    rows_.trees = std::move(trees_);
    rows_.routes = std::move(routes_);
    resources_.residual = std::move(left_);
    return true;
  }

 private:
  // All trees once, within the capacities or not; false where a rank cannot be reached so.
  bool route_all(std::int32_t height, const std::stop_token& stop) {
    for (const std::size_t t : scattered(trees_.size())) {
      if (stop.stop_requested() || !(height == 1 ? grow_star(t) : grow_by_groups(t))) return false;
      trees_[t].height = height;
    }
    return true;
  }

  // Gives the routes from roots over what is overfull another way. False where there are none.
  bool reroute() {
    ++round_;
    was_overfull_.resize(core_.graph.arc_count());
    for (std::size_t a = 0; a < was_overfull_.size(); ++a) {
      was_overfull_[ArcId(a)] = is_overfull(ArcId(a)) ? 1 : 0;
    }
    bool any = false;
    for (std::size_t t = 0; t < trees_.size() && searches_left_ > 0; ++t) {
      targets_.clear();
      for (std::size_t v = 0; v < ranks_; ++v) {
        const Route route = routes_[t * ranks_ + v];
        if (!route.valid()) continue;
        if (was_overfull_[ArcId(route.last.value)] == 0 && !was_overfull(route.prefix)) continue;
        if (rows_.table.origin(route.prefix) != trees_[t].root) continue;
        // What moved before may have made room.
        bool overfull = false;
        for_each_arc(route, [&](ArcId arc) { overfull |= is_overfull(arc); });
        if (!overfull) continue;
        charge(route, -trees_[t].multiplicity);
        targets_.push_back(Rank(v));
      }
      if (targets_.empty()) continue;
      any = true;
      if (!send(t)) return false;
    }
    return any;
  }

  [[nodiscard]] bool is_overfull(ArcId arc) const { return left_[resources_.of[arc]] < 0; }

  // When the round began: most routes are ruled out by this one look.
  bool was_overfull(PrefixId prefix) {
    const std::size_t at = prefix.index();
    if (seen_.size() <= at) seen_.resize(2 * at + 1);
    if (seen_[at].round == round_) return seen_[at].overfull;
    const SegmentId segment = rows_.table.segment(prefix);
    const bool overfull = segment.valid() && (was_overfull_[ArcId(segment.value)] != 0 ||
                                              was_overfull(rows_.table.before(prefix)));
    seen_[at] = {round_, overfull};
    return overfull;
  }

  template <class Visit>
  void for_each_arc(Route route, Visit&& visit) const {
    visit(ArcId(route.last.value));
    for (PrefixId p = route.prefix; rows_.table.segment(p).valid(); p = rows_.table.before(p)) {
      visit(ArcId(rows_.table.segment(p).value));
    }
  }

  void charge(Route route, std::int64_t trees) {
    for_each_arc(route, [&](ArcId arc) { charge(arc, trees); });
  }

  void charge(ArcId arc, std::int64_t trees) {
    const ArcId resource = resources_.of[arc];
    left_[resource] -= trees * resources_.weight[arc];
    update_cost(resource);
  }

  // What is used of it, and its toll.
  void update_cost(ArcId resource) {
    const double share =
        static_cast<double>(all_[resource] - left_[resource]) * per_unit_[resource];
    cost_[resource] =
        toll_[resource] + static_cast<std::int64_t>(std::min(share * kUsed, double{kFull}));
  }

  // Negotiated congestion (McMurchie, Ebeling 1995): what is overfull costs more from now on.
  // By how much all that is overfull is so.
  Int128 raise_tolls() {
    Int128 overfull = 0;
    for (std::size_t r = 0; r < left_.size(); ++r) {
      const Capacity left = left_[ArcId(r)];
      if (left >= 0) continue;
      overfull += -left;
      const Int128 over = Int128{-left} * kFull / std::max<Capacity>(all_[ArcId(r)], 1);
      toll_[ArcId(r)] += kUsed + static_cast<std::int64_t>(std::min<Int128>(over, kFull));
      update_cost(ArcId(r));
    }
    return overfull;
  }

  // One tree per root.
  void join_roots() {
    IdVector<Rank, std::int64_t> owed(ranks_, 0);
    for (const Forest::Tree& tree : rows_.trees) owed[tree.root] += tree.multiplicity;
    for (std::size_t r = 0; r < ranks_; ++r) {
      if (owed[Rank(r)] > 0) trees_.push_back({Rank(r), owed[Rank(r)], 0});
    }
  }

  [[nodiscard]] IdVector<ArcId, Capacity> capacity() const {
    IdVector<ArcId, Capacity> all = resources_.residual;
    if (rows_.routes.empty()) return all;
    for (std::size_t t = 0; t < rows_.trees.size(); ++t) {
      for (std::size_t v = 0; v < ranks_; ++v) {
        const Route route = rows_.routes[t * ranks_ + v];
        if (!route.valid()) continue;
        for_each_arc(route, [&](ArcId arc) {
          all[resources_.of[arc]] += rows_.trees[t].multiplicity * resources_.weight[arc];
        });
      }
    }
    return all;
  }

  // By the widest switch that each rank has in both directions; ranks without one stand alone.
  void group_ranks() {
    IdVector<NodeId, std::vector<Rank>> at(core_.graph.node_count());
    group_of_.assign(ranks_, 0);
    place_.assign(ranks_, 0);
    for (std::size_t r = 0; r < ranks_; ++r) {
      const NodeId v = core_.compute[r];
      NodeId widest = v;
      Capacity width = 0;
      for (const ArcId in : core_.graph.in(v)) {
        const NodeId w = core_.graph.tail(in);
        const ArcId out = core_.graph.find(v, w);
        if (core_.rank_of[w].valid() || !out.valid() || core_.capacity[in] <= width) continue;
        width = core_.capacity[in];
        widest = w;
      }
      at[widest].push_back(Rank(r));
    }
    for (std::size_t v = 0; v < at.size(); ++v) {
      std::vector<Rank>& members = at[NodeId(v)];
      if (members.empty()) continue;
      for (std::size_t i = 0; i < members.size(); ++i) {
        group_of_[members[i]] = groups_.size();
        place_[members[i]] = i;
      }
      groups_.push_back({NodeId(v), std::move(members)});
    }
  }

  bool grow_star(std::size_t t) {
    targets_.clear();
    for (std::size_t v = 0; v < ranks_; ++v) {
      if (Rank(v) != trees_[t].root) targets_.push_back(Rank(v));
    }
    return send(t);
  }

  bool grow_by_groups(std::size_t t) {
    const Rank root = trees_[t].root;
    targets_.clear();
    for (const Rank mate : groups_[group_of_[root]].members) {
      if (mate != root) targets_.push_back(mate);
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (g != group_of_[root]) targets_.push_back(entry(g, root));
    }
    if (!send(t)) return false;
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (g != group_of_[root] && !pass_on(t, g, entry(g, root))) return false;
    }
    return true;
  }

  [[nodiscard]] Rank entry(std::size_t group, Rank root) const {
    const auto& members = groups_[group].members;
    return members[place_[root] % members.size()];
  }

  // Through the group's switch, from one rank to the others.
  bool pass_on(std::size_t t, std::size_t group, Rank from) {
    const Group& all = groups_[group];
    if (all.members.size() == 1) return true;
    const ArcId up = core_.graph.find(core_.compute[from.index()], all.hub);
    for (const Rank to : all.members) {
      if (to == from) continue;
      const ArcId down = core_.graph.find(all.hub, core_.compute[to.index()]);
      if (!up.valid() || !down.valid()) return false;
      const Route route = maker_.along(std::array{up, down});
      charge(route, trees_[t].multiplicity);
      routes_[t * ranks_ + to.index()] = route;
    }
    return true;
  }

  // From the root of tree `t` to all targets. False where one cannot be reached.
  bool send(std::size_t t) {
    const NodeId root = core_.compute[trees_[t].root.index()];
    const std::vector<std::size_t> order = scattered(targets_.size());
    for (std::size_t begin = 0; begin < order.size(); begin += per_search_) {
      --searches_left_;
      search(root, trees_[t].multiplicity);
      const std::size_t end = std::min(begin + per_search_, order.size());
      for (std::size_t i = begin; i < end; ++i) {
        const Rank target = targets_[order[i]];
        const ArcId last = by_[core_.compute[target.index()].index()];
        if (!last.valid()) return false;
        const NodeId tail = core_.graph.tail(last);
        routes_[t * ranks_ + target.index()] = {prefix_at(tail), SegmentId(last.value)};
        charge(last, trees_[t].multiplicity);
        passing_[tail.index()] += trees_[t].multiplicity;
      }
      charge_ways(root);
    }
    return true;
  }

  // What passes through the switches that the search reached, from the farthest to the root.
  void charge_ways(NodeId root) {
    for (std::size_t i = reached_.size(); i-- > 0;) {
      const NodeId v = reached_[i];
      const std::int64_t trees = std::exchange(passing_[v.index()], 0);
      if (trees == 0 || v == root) continue;
      charge(by_[v.index()], trees);
      passing_[core_.graph.tail(by_[v.index()]).index()] += trees;
    }
  }

  // Shortest ways through switches (Dijkstra 1959); full arcs are long.
  void search(NodeId root, std::int64_t trees) {
    distance_.assign(core_.graph.node_count(), kFar);
    by_.assign(core_.graph.node_count(), ArcId());
    prefix_.assign(core_.graph.node_count(), PrefixId());
    prefix_[root.index()] = PrefixId(core_.rank_of[root].value);
    distance_[root.index()] = 0;
    reached_.clear();
    heap_.assign(1, {0, root});
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      const auto [distance, v] = heap_.back();
      heap_.pop_back();
      if (distance > distance_[v.index()]) continue;
      reached_.push_back(v);
      for (ArcId a = core_.graph.first_out(v); a != core_.graph.last_out(v); ++a.value) {
        const NodeId w = core_.graph.head(a);
        const std::int64_t through = distance + length(a, trees * resources_.weight[a]);
        if (through >= distance_[w.index()]) continue;
        distance_[w.index()] = through;
        by_[w.index()] = a;
        if (core_.rank_of[w].valid()) continue;
        heap_.emplace_back(through, w);
        std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
      }
    }
  }

  [[nodiscard]] std::int64_t length(ArcId arc, std::int64_t needed) const {
    const ArcId resource = resources_.of[arc];
    return hops_[arc] + cost_[resource] + (left_[resource] < needed ? full_ : 0);
  }

  // Of the way that the search found, made once per node and search.
  PrefixId prefix_at(NodeId v) {
    if (!prefix_[v.index()].valid()) {
      const ArcId by = by_[v.index()];
      prefix_[v.index()] = rows_.table.extend(prefix_at(core_.graph.tail(by)), SegmentId(by.value));
    }
    return prefix_[v.index()];
  }

  // A tree may turn out lower than asked for.
  void measure() {
    for (std::size_t t = 0; t < trees_.size(); ++t) {
      const auto routes = std::span(routes_).subspan(t * ranks_, ranks_);
      const bool star = std::all_of(routes.begin(), routes.end(), [&](Route route) {
        return !route.valid() || rows_.table.origin(route.prefix) == trees_[t].root;
      });
      if (star) trees_[t].height = std::min(trees_[t].height, 1);
    }
  }

  struct Seen {
    std::int32_t round = 0;
    bool overfull = false;
  };
  struct Group {
    NodeId hub;
    std::vector<Rank> members;
  };

  const TreeRows& rows_;
  const Core& core_;
  Resources& resources_;
  std::size_t ranks_;
  RouteMaker maker_;
  std::vector<Forest::Tree> trees_;
  std::vector<Route> routes_;
  IdVector<ArcId, Capacity> all_, left_;  ///< by resource
  IdVector<ArcId, double> per_unit_;      ///< 1 / all_
  IdVector<ArcId, std::int64_t> toll_;    ///< by resource, in lengths
  IdVector<ArcId, std::int64_t> cost_;    ///< by resource: its toll and what is used of it
  IdVector<ArcId, std::int64_t> hops_;    ///< by arc, in lengths
  IdVector<ArcId, char> was_overfull_;
  std::vector<Seen> seen_;  ///< by prefix
  std::int32_t round_ = 0;
  std::vector<Group> groups_;
  IdVector<Rank, std::size_t> group_of_, place_;
  std::vector<Rank> targets_;
  std::int64_t searches_left_ = 0;
  std::size_t per_search_ = 1;      ///< targets
  std::int64_t full_ = kFull / 16;  ///< what a full arc adds to its length
  std::vector<std::int64_t> distance_;
  std::vector<ArcId> by_;
  std::vector<NodeId> reached_;        ///< the root and switches, by distance
  std::vector<std::int64_t> passing_;  ///< by node: trees to charge its last arc with
  std::vector<PrefixId> prefix_;
  std::vector<std::pair<std::int64_t, NodeId>> heap_;
};

}  // namespace

bool pack_flat(const TreeRows& rows, Resources& resources, std::int32_t height,
               const std::stop_token& stop) {
  return FlatTrees(rows, resources).run(height, stop);
}

}  // namespace forestcoll::solver
