#include "solver/height/flat.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "solver/height/negotiated_ways.hpp"
#include "solver/height/routes.hpp"

namespace forestcoll::solver {
namespace {

// Searches for routes: per tree, and for few trees.
constexpr std::size_t kSearches = 16;
constexpr std::size_t kFewTrees = 256;

// Rounds in a row without a sixteenth less that is overfull, and there is no such forest to be had.
constexpr int kIdleRounds = 8;

// One search serves as many targets at least; where there are few trees, not many more, because
// what they take makes other ways shorter.
constexpr std::size_t kFewTargets = 128;

// Neighbours far apart: all parts of the fabric get filled at the same pace.
template <class T>
std::vector<T> scattered(const std::vector<T>& items) {
  const std::size_t n = items.size();
  std::size_t step = n * 5 / 8 + 1;
  while (std::gcd(step, n) != 1) ++step;
  std::vector<T> result;
  result.reserve(n);
  for (std::size_t i = 0; i < n; ++i) result.push_back(items[i * step % n]);
  return result;
}

class FlatTrees {
 public:
  FlatTrees(const TreeRows& rows, Resources& resources)
      : rows_(rows),
        core_(rows.core),
        resources_(resources),
        ranks_(rows.core.compute.size()),
        trees_(one_per_root(rows)),
        routes_(trees_.size() * ranks_),
        maker_(rows.core, rows.table),
        ways_(rows.core, resources, capacity(), rows.table,
              std::max(routes_.size() / (4 * kFewTrees), kFewTargets)) {
    maker_.note(rows.routes);
  }

  bool run(std::int32_t height, const std::stop_token& stop) {
    if (height == 2) group_ranks();
    if (!route_all(height, stop)) return false;
    Int128 least = 0;
    int idle_rounds = 0;
    while (const Int128 overfull = ways_.raise_tolls()) {
      const bool better = least == 0 || overfull < least - least / 16;
      if (better) least = overfull;
      idle_rounds = better ? 0 : idle_rounds + 1;
      if (idle_rounds > kIdleRounds || searched_enough() || stop.stop_requested() || !reroute()) {
        return false;
      }
    }
    measure();
    rows_.trees = std::move(trees_);
    rows_.routes = std::move(routes_);
    resources_.residual = ways_.left();
    return true;
  }

 private:
  struct Group {
    NodeId hub;
    std::vector<Rank> members;
  };

  static std::vector<Forest::Tree> one_per_root(const TreeRows& rows) {
    IdVector<Rank, std::int64_t> owed(rows.core.compute.size(), 0);
    for (const Forest::Tree& tree : rows.trees) owed[tree.root] += tree.multiplicity;
    std::vector<Forest::Tree> trees;
    for (std::size_t r = 0; r < owed.size(); ++r) {
      if (owed[Rank(r)] > 0) trees.push_back({Rank(r), owed[Rank(r)], 0});
    }
    return trees;
  }

  // By resource: what is left, and what the present routes take.
  [[nodiscard]] IdVector<ArcId, Capacity> capacity() const {
    IdVector<ArcId, Capacity> all = resources_.residual;
    if (rows_.routes.empty()) return all;
    for (std::size_t t = 0; t < rows_.trees.size(); ++t) {
      for (std::size_t v = 0; v < ranks_; ++v) {
        const Route route = rows_.routes[t * ranks_ + v];
        if (!route.valid()) continue;
        for_each_arc(rows_.table, route, [&](ArcId arc) {
          all[resources_.of[arc]] += rows_.trees[t].multiplicity * resources_.weight[arc];
        });
      }
    }
    return all;
  }

  [[nodiscard]] bool searched_enough() const {
    return ways_.searches() >=
           static_cast<std::int64_t>(kSearches * std::max(trees_.size(), kFewTrees));
  }

  // All trees once, within the capacities or not; false where a rank cannot be reached so.
  bool route_all(std::int32_t height, const std::stop_token& stop) {
    std::vector<std::size_t> order(trees_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (const std::size_t t : scattered(order)) {
      if (stop.stop_requested() || !(height == 1 ? grow_star(t) : grow_by_groups(t))) return false;
      trees_[t].height = height;
    }
    return true;
  }

  // Gives the routes from roots over what is overfull another way. False where there are none.
  bool reroute() {
    mark_overfull();
    bool any = false;
    for (std::size_t t = 0; t < trees_.size() && !searched_enough(); ++t) {
      take_back_overfull(t);
      if (targets_.empty()) continue;
      any = true;
      if (!send(t)) return false;
    }
    return any;
  }

  // Takes routes from the root over what is overfull back; their ranks are the targets.
  void take_back_overfull(std::size_t t) {
    targets_.clear();
    for (std::size_t v = 0; v < ranks_; ++v) {
      const Route route = routes_[t * ranks_ + v];
      if (!route.valid()) continue;
      if (was_overfull_on_[route.prefix.index()] == 0 &&
          was_overfull_[ArcId(route.last.value)] == 0) {
        continue;
      }
      if (rows_.table.origin(route.prefix) != trees_[t].root) continue;
      // What moved before may have made room.
      bool overfull = false;
      for_each_arc(rows_.table, route, [&](ArcId arc) { overfull |= ways_.is_overfull(arc); });
      if (!overfull) continue;
      ways_.charge(route, -trees_[t].multiplicity);
      targets_.push_back(Rank(v));
    }
  }

  // What is overfull when the round begins, and prefixes that lead over it: that rules out most
  // routes.
  void mark_overfull() {
    was_overfull_.resize(core_.graph.arc_count());
    for (std::size_t a = 0; a < was_overfull_.size(); ++a) {
      was_overfull_[ArcId(a)] = ways_.is_overfull(ArcId(a)) ? 1 : 0;
    }
    was_overfull_on_.resize(rows_.table.prefix_count());
    for (std::size_t p = 0; p < was_overfull_on_.size(); ++p) {
      const SegmentId segment = rows_.table.segment(PrefixId(p));
      was_overfull_on_[p] = segment.valid()
                                ? was_overfull_[ArcId(segment.value)] |
                                      was_overfull_on_[rows_.table.before(PrefixId(p)).index()]
                                : char{0};
    }
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
      ways_.charge(route, trees_[t].multiplicity);
      routes_[t * ranks_ + to.index()] = route;
    }
    return true;
  }

  // From the root of tree `t` to all targets. False where one cannot be reached.
  bool send(std::size_t t) {
    return ways_.send(trees_[t].root, trees_[t].multiplicity, scattered(targets_),
                      std::span(routes_).subspan(t * ranks_, ranks_));
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

  const TreeRows& rows_;
  const Core& core_;
  Resources& resources_;
  std::size_t ranks_;
  std::vector<Forest::Tree> trees_;
  std::vector<Route> routes_;
  RouteMaker maker_;
  NegotiatedWays ways_;
  IdVector<ArcId, char> was_overfull_;
  std::vector<char> was_overfull_on_;  ///< by prefix
  std::vector<Group> groups_;
  IdVector<Rank, std::size_t> group_of_, place_;
  std::vector<Rank> targets_;
};

}  // namespace

bool pack_flat(const TreeRows& rows, Resources& resources, std::int32_t height,
               const std::stop_token& stop) {
  return FlatTrees(rows, resources).run(height, stop);
}

}  // namespace forestcoll::solver
