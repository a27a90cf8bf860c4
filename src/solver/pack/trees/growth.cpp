#include "solver/pack/trees/growth.hpp"

#include <algorithm>
#include <utility>

namespace forestcoll::solver {
Growth::Growth(PackingState& state, Guard guard, Budget& budget)
    : state_(state),
      guard_(std::move(guard)),
      core_(state.core()),
      budget_(budget),
      step_(core_.graph.arc_count()),
      feeders_(core_.graph.node_count()) {
  for (std::size_t a = 0; a < step_.size(); ++a)
    step_[ArcId(a)] = core_.capacity[ArcId(a)] / 64 + 1;
}

bool Growth::is_usable(ArcId arc) const {
  return state_.has_room(arc) && state_.pool().is_open(arc, state_.growing().multiplicity);
}

bool Growth::extend(int routes_tried, bool detours) {
  detours_ = detours;
  const GrowingTree& tree = state_.growing();
  const std::size_t ranks = core_.compute.size();
  bool progress = true;
  while (progress && tree.reached.size() < ranks && !budget_.is_over()) {
    progress = false;
    // Depths grow while levels are expanded, so the loop ends at the deepest level reached.
    for (std::int32_t depth = 0; tree.reached.size() < ranks; ++depth) {
      const std::size_t before = tree.reached.size();
      if (!expand(depth, false, routes_tried)) break;
      progress |= tree.reached.size() > before;
    }
  }
  return tree.reached.size() == ranks;
}

bool Growth::can_extend(int routes_tried) {
  const auto& tree = state_.growing();
  std::int32_t deepest = 0;
  for (const Rank r : tree.reached) deepest = std::max(deepest, tree.depth[r]);
  for (std::int32_t depth = 0; depth <= deepest; ++depth) {
    if (expand(depth, true, routes_tried)) return true;
  }
  return false;
}

// Searches from the ranks at `depth`. When testing, true where one rank could be attached;
// otherwise true where there was a rank at that depth.
bool Growth::expand(std::int32_t depth, bool only_test, int routes_tried) {
  const GrowingTree& tree = state_.growing();
  ++level_;
  ring_.clear();
  for (const Rank r : tree.reached) {
    if (tree.depth[r] == depth) ring_.push_back(core_.compute[r.index()]);
  }
  if (ring_.empty()) return false;
  for (std::int32_t ring = 1; !ring_.empty(); ++ring) {
    next_ring_.clear();
    candidates_.clear();
    for (const NodeId v : ring_) scan(v, ring);
    std::sort(candidates_.begin(), candidates_.end());
    for (const Candidate& candidate : candidates_) {
      const Rank to = core_.rank_of[core_.graph.head(candidate.arc)];
      if (tree.depth[to] >= 0 || !is_usable(candidate.arc)) continue;
      if (attach_through(candidate.arc, only_test, routes_tried) && only_test) return true;
      if (tree.reached.size() == core_.compute.size()) return !only_test;
    }
    std::swap(ring_, next_ring_);
  }
  return !only_test;
}

// Notes the usable arcs out of `v`: to unreached ranks as candidates, to switches as feeders.
void Growth::scan(NodeId v, std::int32_t ring) {
  const GrowingTree& tree = state_.growing();
  const std::int32_t length = core_.rank_of[v].valid() ? 0 : feeders_[v].length;
  budget_.spend(core_.graph.last_out(v).value - core_.graph.first_out(v).value);
  for (ArcId a = core_.graph.first_out(v); a != core_.graph.last_out(v); ++a.value) {
    const NodeId w = core_.graph.head(a);
    const Rank to = core_.rank_of[w];
    if (to.valid() && tree.depth[to] >= 0) continue;
    if (!is_usable(a)) continue;
    const auto hops = length + static_cast<std::int32_t>(core_.segment(a).size());
    if (to.valid()) {
      const Capacity left = state_.residual(a) / step_[a];
      candidates_.push_back({static_cast<std::int64_t>(hops) * 128 + (64 - left), a});
      continue;
    }
    Feeders& feeders = feeders_[w];
    if (feeders.level != level_) {
      feeders.level = level_;
      feeders.ring = ring;
      feeders.length = hops;
      feeders.next = 0;
      feeders.arcs.clear();
      next_ring_.push_back(w);
    }
    if (feeders.ring == ring || detours_) feeders.arcs.push_back(a);
  }
}

bool Growth::attach_through(ArcId last, bool only_test, int budget) {
  route_.assign(1, last);
  return trace(core_.graph.tail(last), only_test, budget) == Outcome::attached;
}

// Does the newest arc of route_ begin at a switch that the route already passes?
bool Growth::returns() const {
  const NodeId from = core_.graph.tail(route_.back());
  return std::any_of(route_.begin(), route_.end(),
                     [&](ArcId arc) { return core_.graph.head(arc) == from; });
}

// Completes route_ backwards from `v` to a rank that the search began at, and attaches it. Feeders
// that lead nowhere any more are forgotten: within a level, room only shrinks.
Growth::Outcome Growth::trace(NodeId v, bool only_test, int& budget) {
  budget_.spend(1);
  if (core_.rank_of[v].valid()) {
    --budget;
    forward_.assign(route_.rbegin(), route_.rend());
    if (!state_.has_room(forward_)) return Outcome::refused;
    if (!state_.pool().admits(forward_, state_.growing().multiplicity)) return Outcome::refused;
    if (!guard_(forward_)) return Outcome::refused;
    if (!only_test) state_.attach(forward_);
    return Outcome::attached;
  }
  Feeders& feeders = feeders_[v];
  for (std::size_t tried = 0; tried < feeders.arcs.size() && budget > 0;) {
    if (feeders.next >= feeders.arcs.size()) feeders.next = 0;
    const std::size_t at = feeders.next;
    const auto forget = [&] {
      feeders.arcs.erase(feeders.arcs.begin() + static_cast<std::ptrdiff_t>(at));
    };
    const ArcId arc = feeders.arcs[at];
    if (!is_usable(arc)) {
      forget();
      continue;
    }
    route_.push_back(arc);
    const bool loops = detours_ && returns();
    const Outcome outcome =
        loops ? Outcome::refused : trace(core_.graph.tail(arc), only_test, budget);
    route_.pop_back();
    if (outcome == Outcome::attached) {
      feeders.next = at + 1;
      return outcome;
    }
    if (outcome == Outcome::dead && !detours_) {
      forget();
      continue;
    }
    feeders.next = at + 1;
    ++tried;
  }
  return feeders.arcs.empty() ? Outcome::dead : Outcome::refused;
}

}  // namespace forestcoll::solver
