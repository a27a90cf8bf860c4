#include "solver/height_flat.hpp"

#include <algorithm>
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

// One search serves as many targets at least; where there are few trees, not many more, because
// what they take makes other ways shorter.
constexpr std::size_t kFewTargets = 32;

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
    routes_.assign(trees_.size() * ranks_, Route{});
    if (height == 2) group_ranks();
    toll_.assign(all_.size(), 0);
    searches_left_ = static_cast<std::int64_t>(kSearches * std::max(trees_.size(), kFewTrees));
    per_search_ = std::max(trees_.size() * ranks_ / (4 * kFewTrees), kFewTargets);
    if (!route_all(height, stop)) return false;
    while (raise_tolls()) {
      full_ = std::min(full_ + kFull / 16, kFull);
      if (searches_left_ <= 0 || stop.stop_requested() || !reroute()) return false;
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
    bool any = false;
    for (std::size_t t = 0; t < trees_.size() && searches_left_ > 0; ++t) {
      targets_.clear();
      for (std::size_t v = 0; v < ranks_; ++v) {
        const Route route = routes_[t * ranks_ + v];
        if (!route.valid() || rows_.table.origin(route.prefix) != trees_[t].root) continue;
        bool overfull = false;
        for_each_arc(route, [&](ArcId arc) { overfull |= left_[resources_.of[arc]] < 0; });
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

  template <class Visit>
  void for_each_arc(Route route, Visit&& visit) const {
    visit(ArcId(route.last.value));
    for (PrefixId p = route.prefix; rows_.table.segment(p).valid(); p = rows_.table.before(p)) {
      visit(ArcId(rows_.table.segment(p).value));
    }
  }

  void charge(Route route, std::int64_t trees) {
    for_each_arc(route,
                 [&](ArcId arc) { left_[resources_.of[arc]] -= trees * resources_.weight[arc]; });
  }

  // Negotiated congestion (McMurchie, Ebeling 1995): what is overfull costs more from now on.
  // False where nothing is.
  bool raise_tolls() {
    bool overfull = false;
    for (std::size_t r = 0; r < left_.size(); ++r) {
      const Capacity left = left_[ArcId(r)];
      if (left >= 0) continue;
      overfull = true;
      const Int128 over = Int128{-left} * kFull / std::max<Capacity>(all_[ArcId(r)], 1);
      toll_[ArcId(r)] += kUsed + static_cast<std::int64_t>(std::min<Int128>(over, kFull));
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
        const auto out = arc_between(v, w);
        if (core_.rank_of[w].valid() || !out || core_.capacity[in] <= width) continue;
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

  [[nodiscard]] std::optional<ArcId> arc_between(NodeId from, NodeId to) const {
    for (ArcId a = core_.graph.first_out(from); a != core_.graph.last_out(from); ++a.value) {
      if (core_.graph.head(a) == to) return a;
    }
    return std::nullopt;
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
    const auto up = arc_between(core_.compute[from.index()], all.hub);
    for (const Rank to : all.members) {
      if (to == from) continue;
      const auto down = arc_between(all.hub, core_.compute[to.index()]);
      if (!up || !down) return false;
      path_.assign({*up, *down});
      take(t, to, maker_.along(path_));
    }
    return true;
  }

  // From the root of tree `t` to all targets. False where one cannot be reached.
  bool send(std::size_t t) {
    const NodeId root = core_.compute[trees_[t].root.index()];
    std::size_t sent = 0;
    for (const std::size_t i : scattered(targets_.size())) {
      if (sent++ % per_search_ == 0) {
        --searches_left_;
        search(root, trees_[t].multiplicity);
      }
      const Rank target = targets_[i];
      if (!trace(root, target)) return false;
      const ArcId last = path_.back();
      take(t, target, {prefix_at(core_.graph.tail(last)), SegmentId(last.value)});
    }
    return true;
  }

  // Shortest ways through switches (Dijkstra 1959); full arcs are long.
  void search(NodeId root, std::int64_t trees) {
    distance_.assign(core_.graph.node_count(), kFar);
    by_.assign(core_.graph.node_count(), ArcId());
    prefix_.assign(core_.graph.node_count(), PrefixId());
    prefix_[root.index()] = PrefixId(core_.rank_of[root].value);
    distance_[root.index()] = 0;
    heap_.assign(1, {0, root});
    while (!heap_.empty()) {
      std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
      const auto [distance, v] = heap_.back();
      heap_.pop_back();
      if (distance > distance_[v.index()] || (core_.rank_of[v].valid() && v != root)) continue;
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
    const Capacity left = left_[resource];
    const Capacity all = std::max<Capacity>(all_[resource], 1);
    const auto used =
        static_cast<std::int64_t>(std::min<Int128>(Int128{all - left} * kUsed / all, kFull));
    return kHop * static_cast<std::int64_t>(core_.segment(arc).size()) + used + toll_[resource] +
           (left < needed ? full_ : 0);
  }

  // The arcs of the way to `target`; false where there is none.
  bool trace(NodeId root, Rank target) {
    path_.clear();
    for (NodeId v = core_.compute[target.index()]; v != root;) {
      const ArcId by = by_[v.index()];
      if (!by.valid()) return false;
      path_.push_back(by);
      v = core_.graph.tail(by);
    }
    std::reverse(path_.begin(), path_.end());
    return true;
  }

  // Of the way that the search found, made once per node and search.
  PrefixId prefix_at(NodeId v) {
    if (!prefix_[v.index()].valid()) {
      const ArcId by = by_[v.index()];
      prefix_[v.index()] = maker_.extended(prefix_at(core_.graph.tail(by)), by);
    }
    return prefix_[v.index()];
  }

  // Gives the target the route, whether or not there is room.
  void take(std::size_t t, Rank target, Route route) {
    charge(route, trees_[t].multiplicity);
    routes_[t * ranks_ + target.index()] = route;
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
  IdVector<ArcId, std::int64_t> toll_;    ///< by resource, in lengths
  std::vector<Group> groups_;
  IdVector<Rank, std::size_t> group_of_, place_;
  std::vector<Rank> targets_;
  std::int64_t searches_left_ = 0;
  std::size_t per_search_ = 1;      ///< targets
  std::int64_t full_ = kFull / 16;  ///< what a full arc adds to its length
  std::vector<std::int64_t> distance_;
  std::vector<ArcId> by_, path_;
  std::vector<PrefixId> prefix_;
  std::vector<std::pair<std::int64_t, NodeId>> heap_;
};

}  // namespace

bool pack_flat(const TreeRows& rows, Resources& resources, std::int32_t height,
               const std::stop_token& stop) {
  return FlatTrees(rows, resources).run(height, stop);
}

}  // namespace forestcoll::solver
