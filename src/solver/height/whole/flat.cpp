#include "solver/height/whole/flat.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "forest/route_table.hpp"
#include "solver/height/common/routes.hpp"
#include "solver/height/whole/negotiated_routes.hpp"
#include "solver/height/whole/passages.hpp"

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

/// Over one switch to another rank of the group.
struct InsideHop {
  Rank to;
  ArcId up, down;
};

class FlatTrees {
 public:
  // `turns`: with `Fit::perhaps`, others take the place of ranks whose links are full.
  FlatTrees(const TreeRows& rows, Resources& resources, Fit fit, Fit turns, Capacity arriving)
      : rows_(rows),
        core_(rows.core),
        resources_(resources),
        ranks_(rows.core.compute.size()),
        trees_(one_per_root(rows)),
        routes_(trees_.size() * ranks_),
        maker_(rows.core, rows.table),
        negotiated_(rows.core, resources, capacity(), rows.table,
                    std::max(routes_.size() / (4 * kFewTrees), kFewTargets)),
        fit_(fit),
        turns_(turns),
        arriving_(arriving) {
    maker_.note(rows.routes);
  }

  bool run(std::int32_t height, const std::stop_token& stop) {
    if (height == 2) passages_.emplace(core_, resources_, negotiated_.left(), arriving_);
    if (!route_all(height, stop)) return false;
    const int most_idle = fit_ == Fit::within ? kIdleRounds : kIdleRoundsOverfull;
    Int128 least = 0;
    int idle_rounds = 0;
    while (const Int128 overfull = negotiated_.raise_tolls()) {
      const bool better = least == 0 || overfull < least - least / 16;
      if (better) least = overfull;
      idle_rounds = better ? 0 : idle_rounds + 1;
      if (stop.stop_requested()) return false;
      if (idle_rounds > most_idle || searched_enough() || !reroute()) {
        if (fit_ == Fit::within) return false;
        break;
      }
    }
    return true;
  }

  // How much more than there is the forest asks for.
  [[nodiscard]] Int128 overfull() const {
    Int128 sum = 0;
    for (const Capacity left : negotiated_.left()) sum += std::max<Capacity>(-left, 0);
    return sum;
  }

  void write() {
    measure();
    rows_.trees = std::move(trees_);
    rows_.routes = std::move(routes_);
    resources_.residual = negotiated_.left();
  }

 private:
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
    return negotiated_.searches() >=
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
      for_each_arc(rows_.table, route,
                   [&](ArcId arc) { overfull |= negotiated_.is_overfull(arc); });
      if (!overfull) continue;
      negotiated_.charge(route, -trees_[t].multiplicity);
      targets_.push_back(Rank(v));
    }
  }

  // What is overfull when the round begins, and prefixes that lead over it: that rules out most
  // routes.
  void mark_overfull() {
    was_overfull_.resize(core_.graph.arc_count());
    for (std::size_t a = 0; a < was_overfull_.size(); ++a) {
      was_overfull_[ArcId(a)] = negotiated_.is_overfull(ArcId(a)) ? 1 : 0;
    }
    was_overfull_on_.resize(rows_.table.prefix_count());
    for (std::size_t p = 0; p < was_overfull_on_.size(); ++p) {
      const SegmentId segment = rows_.table.segment(PrefixId(p));
      const bool is_overfull =
          segment.valid() && (was_overfull_[ArcId(segment.value)] != 0 ||
                              was_overfull_on_[rows_.table.before(PrefixId(p)).index()] != 0);
      was_overfull_on_[p] = is_overfull ? 1 : 0;
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
    around_.clear();
    entries_.clear();
    for (const Rank mate : passages_->members(passages_->group_of(root))) {
      if (mate != root) targets_.push_back(mate);
    }
    for (std::size_t g = 0; g < passages_->group_count(); ++g) {
      const Passage passage = passages_->take(g, root, trees_[t].multiplicity, turns_);
      if (!passage.to.valid()) return fit_ == Fit::at_any_height && grow_level_by_level(t);
      if (passage.to == root) continue;
      entries_.push_back(passage);
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
    return std::all_of(entries_.begin(), entries_.end(),
                       [&](const Passage& entry) { return pass_on(t, entry); });
  }

  // Where a group cannot be entered so: each rank in turn sends to all that it can and that have
  // nothing yet.
  bool grow_level_by_level(std::size_t t) {
    std::vector<Rank> reached = {trees_[t].root}, others;
    for (std::size_t v = 0; v < ranks_; ++v) {
      if (Rank(v) != reached.front()) others.push_back(Rank(v));
    }
    for (std::size_t i = 0; i < reached.size() && !others.empty(); ++i) {
      const auto first = std::stable_partition(others.begin(), others.end(), [&](Rank other) {
        return !passages_->is_joined(reached[i], other);
      });
      targets_.assign(first, others.end());
      others.erase(first, others.end());
      if (!send_from(t, reached[i], targets_)) return false;
      reached.insert(reached.end(), targets_.begin(), targets_.end());
    }
    return others.empty();
  }

  // Through one switch, from the entry or its helper to the others: the switch that has the most
  // room.
  bool pass_on(std::size_t t, const Passage& entry) {
    const bool is_helped = entry.helper.valid();
    if (is_helped && !pass_to(t, entry.to, entry.helper)) return false;
    const Rank from = is_helped ? entry.helper : entry.to;
    const auto mates = passages_->members(passages_->group_of(from));
    return std::ranges::all_of(mates, [&](Rank mate) {
      return mate == from || mate == entry.to || pass_to(t, from, mate);
    });
  }

  bool pass_to(std::size_t t, Rank from, Rank to) {
    const std::vector<InsideHop>& hops = hops_inside(from);
    const auto first = std::ranges::lower_bound(hops, to, {}, &InsideHop::to);
    const auto last = std::ranges::upper_bound(hops, to, {}, &InsideHop::to);
    if (first == last) return false;
    const InsideHop& best = roomiest({first, last});
    const Route route = maker_.along(std::array{best.up, best.down});
    negotiated_.charge(route, trees_[t].multiplicity);
    routes_[t * ranks_ + to.index()] = route;
    return true;
  }

  // Of the widest hops, the one of which the most is left.
  [[nodiscard]] const InsideHop& roomiest(std::span<const InsideHop> hops) const {
    const auto room = [&](const InsideHop& hop) {
      return std::pair(std::min(core_.capacity[hop.up], core_.capacity[hop.down]),
                       std::min(negotiated_.left()[resources_.of[hop.up]],
                                negotiated_.left()[resources_.of[hop.down]]));
    };
    const InsideHop* best = hops.data();
    for (const InsideHop& hop : hops) {
      if (room(*best) < room(hop)) best = &hop;
    }
    return *best;
  }

  // From a rank through one switch to each other member of its group, found when first asked for.
  const std::vector<InsideHop>& hops_inside(Rank from) {
    if (hops_inside_.empty()) hops_inside_.resize(ranks_);
    std::vector<InsideHop>& hops = hops_inside_[from.index()];
    if (!hops.empty()) return hops;
    const Digraph& graph = core_.graph;
    const NodeId tail = core_.compute[from.index()];
    for (const Rank to : passages_->members(passages_->group_of(from))) {
      if (to == from) continue;
      for (ArcId up = graph.first_out(tail); up != graph.last_out(tail); ++up.value) {
        const NodeId hub = graph.head(up);
        if (core_.rank_of[hub].valid()) continue;
        const ArcId down = graph.find(hub, core_.compute[to.index()]);
        if (down.valid()) hops.push_back({to, up, down});
      }
    }
    return hops;
  }

  // From the root of tree `t` to all targets. False where one cannot be reached.
  bool send(std::size_t t) { return send_from(t, trees_[t].root, scattered(targets_)); }

  bool send_from(std::size_t t, Rank from, std::span<const Rank> targets) {
    return negotiated_.send(from, trees_[t].multiplicity, targets,
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
  NegotiatedRoutes negotiated_;
  IdVector<ArcId, char> was_overfull_;
  std::vector<char> was_overfull_on_;  ///< by prefix
  Fit fit_, turns_;
  Capacity arriving_;
  std::optional<Passages> passages_;                 ///< for height 2
  std::vector<std::vector<InsideHop>> hops_inside_;  ///< by rank
  // Of the tree at hand:
  std::vector<Rank> targets_;
  std::vector<Passage> entries_;  ///< into other groups
  std::vector<Passage> around_;   ///< not from its root
};

}  // namespace

bool pack_flat(const TreeRows& rows, Resources& resources, std::int32_t height, Fit fit,
               const std::stop_token& stop, Capacity arriving) {
  FlatTrees in_turn(rows, resources, fit, Fit::within, arriving);
  const bool found = in_turn.run(height, stop);
  if (height == 1 || fit == Fit::within || (found && in_turn.overfull() == 0)) {
    if (found) in_turn.write();
    return found;
  }
  FlatTrees around_full(rows, resources, fit, Fit::perhaps, arriving);
  const bool found_around = around_full.run(height, stop);
  if (found_around && (!found || around_full.overfull() < in_turn.overfull())) {
    around_full.write();
  } else if (found) {
    in_turn.write();
  }
  return found || found_around;
}

}  // namespace forestcoll::solver
