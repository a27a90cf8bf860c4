#include "solver/height/flat.hpp"

#include <algorithm>
#include <array>
#include <boost/pending/disjoint_sets.hpp>
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
constexpr int kIdleRoundsOverfull = 1;  // where others go on from what is overfull

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

  bool run(std::int32_t height, Fit fit, const std::stop_token& stop) {
    if (height == 2) {
      group_ranks();
      join_switches();
    }
    if (!route_all(height, stop)) return false;
    const int most_idle = fit == Fit::within ? kIdleRounds : kIdleRoundsOverfull;
    Int128 least = 0;
    int idle_rounds = 0;
    while (const Int128 overfull = ways_.raise_tolls()) {
      const bool better = least == 0 || overfull < least - least / 16;
      if (better) least = overfull;
      idle_rounds = better ? 0 : idle_rounds + 1;
      if (stop.stop_requested()) return false;
      if (idle_rounds > most_idle || searched_enough() || !reroute()) {
        if (fit == Fit::within) return false;
        break;
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
      groups_.push_back({std::move(members)});
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
    entry_.resize(groups_.size());
    around_.clear();
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (g == group_of_[root]) continue;
      const Passage passage = passage_to(g, root);
      if (!passage.to.valid()) return false;
      entry_[g] = passage.to;
      if (passage.from == root) {
        targets_.push_back(passage.to);
      } else {
        around_.push_back(passage);
      }
    }
    if (!send(t)) return false;
    for (const Passage& passage : around_) {
      if (!send_from(t, passage.from, std::array{passage.to})) return false;
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (g != group_of_[root] && !pass_on(t, g, entry_[g])) return false;
    }
    return true;
  }

  /// How data gets from one group to another: between two ranks with switches in common.
  struct Passage {
    Rank from, to;
  };

  // From the root, if it can, to where it stands itself; or else to the next one after that. A root
  // without a way out has a mate send, another one for every group.
  [[nodiscard]] Passage passage_to(std::size_t group, Rank root) const {
    const auto& mates = groups_[group_of_[root]].members;
    const auto& members = groups_[group].members;
    for (std::size_t m = 0; m <= mates.size(); ++m) {
      const std::size_t next = place_[root] + group + group_of_[root] + m;
      const Rank from = m == 0 ? root : mates[next % mates.size()];
      for (std::size_t i = 0; i < members.size(); ++i) {
        const Rank to = members[(place_[from] + i) % members.size()];
        if (is_joined(from, to)) return {from, to};
      }
    }
    return {};
  }

  // Is there a way from one rank to another through switches?
  [[nodiscard]] bool is_joined(Rank from, Rank to) const {
    if (core_.graph.find(core_.compute[from.index()], core_.compute[to.index()]).valid()) {
      return true;
    }
    const std::vector<std::size_t>&out = leads_to_[from], &in = comes_from_[to];
    return std::find_first_of(out.begin(), out.end(), in.begin(), in.end()) != out.end();
  }

  // Switches that are linked are one part of the fabric; to which parts each rank leads, and from
  // which it is reached.
  void join_switches() {
    boost::disjoint_sets_with_storage<> parts(core_.graph.node_count());
    const auto is_switch = [&](NodeId v) { return !core_.rank_of[v].valid(); };
    for (const Arc& arc : core_.graph.arcs()) {
      if (is_switch(arc.tail) && is_switch(arc.head)) {
        parts.union_set(arc.tail.index(), arc.head.index());
      }
    }
    leads_to_.assign(ranks_, {});
    comes_from_.assign(ranks_, {});
    const auto add = [&](std::vector<std::size_t>& known, NodeId node) {
      const std::size_t part = parts.find_set(node.index());
      if (std::find(known.begin(), known.end(), part) == known.end()) known.push_back(part);
    };
    for (const Arc& arc : core_.graph.arcs()) {
      if (!is_switch(arc.tail) && is_switch(arc.head)) {
        add(leads_to_[core_.rank_of[arc.tail]], arc.head);
      }
      if (is_switch(arc.tail) && !is_switch(arc.head)) {
        add(comes_from_[core_.rank_of[arc.head]], arc.tail);
      }
    }
  }

  // Through one switch, from one rank to the others: the switch that has the most room.
  bool pass_on(std::size_t t, std::size_t group, Rank from) {
    for (const Rank to : groups_[group].members) {
      if (to == from) continue;
      const auto [up, down] = way_inside(from, to);
      if (!up.valid()) return false;
      const Route route = maker_.along(std::array{up, down});
      ways_.charge(route, trees_[t].multiplicity);
      routes_[t * ranks_ + to.index()] = route;
    }
    return true;
  }

  [[nodiscard]] std::pair<ArcId, ArcId> way_inside(Rank from, Rank to) const {
    const Digraph& graph = core_.graph;
    const NodeId tail = core_.compute[from.index()], head = core_.compute[to.index()];
    std::pair<ArcId, ArcId> best;
    Capacity width = 0, most = 0;
    for (ArcId up = graph.first_out(tail); up != graph.last_out(tail); ++up.value) {
      const NodeId hub = graph.head(up);
      const ArcId down = core_.rank_of[hub].valid() ? ArcId() : graph.find(hub, head);
      if (!down.valid()) continue;
      const Capacity room = std::min(core_.capacity[up], core_.capacity[down]);
      const Capacity left =
          std::min(ways_.left()[resources_.of[up]], ways_.left()[resources_.of[down]]);
      if (room < width || (room == width && left <= most)) continue;
      width = room;
      most = left;
      best = {up, down};
    }
    return best;
  }

  // From the root of tree `t` to all targets. False where one cannot be reached.
  bool send(std::size_t t) { return send_from(t, trees_[t].root, scattered(targets_)); }

  bool send_from(std::size_t t, Rank from, std::span<const Rank> targets) {
    return ways_.send(from, trees_[t].multiplicity, targets,
                      std::span(routes_).subspan(t * ranks_, ranks_));
  }

  // Trees may turn out lower than asked for, or higher where roots have no way out.
  void measure() {
    for (std::size_t t = 0; t < trees_.size(); ++t) {
      const auto routes = std::span(routes_).subspan(t * ranks_, ranks_);
      const auto origin = [&](std::size_t v) {
        return rows_.table.origin(routes[v].prefix).index();
      };
      trees_[t].height = 0;
      for (std::size_t v = 0; v < ranks_; ++v) {
        std::int32_t depth = 0;
        for (std::size_t u = v; routes[u].valid(); u = origin(u)) ++depth;
        trees_[t].height = std::max(trees_[t].height, depth);
      }
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
  IdVector<Rank, std::vector<std::size_t>> leads_to_, comes_from_;  ///< parts made of switches
  std::vector<Rank> targets_;
  std::vector<Rank> entry_;      ///< by group, of the tree at hand
  std::vector<Passage> around_;  ///< not from its root
};

}  // namespace

bool pack_flat(const TreeRows& rows, Resources& resources, std::int32_t height, Fit fit,
               const std::stop_token& stop) {
  return FlatTrees(rows, resources).run(height, fit, stop);
}

}  // namespace forestcoll::solver
