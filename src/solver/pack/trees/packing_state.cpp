#include "solver/pack/trees/packing_state.hpp"

#include <algorithm>
#include <numeric>

#include "base/check.hpp"

namespace forestcoll::solver {
PackingState::PackingState(const Core& core, const Orbits& orbits,
                           const IdVector<Rank, std::int64_t>& owed, TreeStore& store)
    : core_(core),
      orbits_(orbits),
      pool_(core, orbits),
      residual_(core.capacity),
      owed_(owed),
      total_owed_(std::accumulate(owed.begin(), owed.end(), std::int64_t{0})),
      store_(store) {
  for (std::size_t a = 0; a < residual_.size(); ++a) {
    // What a tree and its images cannot use together is of no use.
    residual_[ArcId(a)] -= residual_[ArcId(a)] % orbits.weight[ArcId(a)];
  }
  growing_.routes.assign(core.compute.size(), Route{});
  growing_.depth.assign(core.compute.size(), -1);
}

std::int64_t PackingState::slack_of(const SinkSide& inside) const {
  std::int64_t slack = 0;
  for (std::size_t a = 0; a < residual_.size(); ++a) {
    if (!inside[core_.graph.tail(ArcId(a)).index()] && inside[core_.graph.head(ArcId(a)).index()]) {
      slack += residual(ArcId(a));
    }
  }
  for (std::size_t r = 0; r < core_.compute.size(); ++r) {
    if (!inside[core_.compute[r].index()]) slack -= owed(Rank(r));
  }
  return slack;
}

std::vector<NodeId> PackingState::reached_nodes() const {
  std::vector<NodeId> nodes;
  for (const Rank r : growing_.reached) nodes.push_back(core_.compute[r.index()]);
  return nodes;
}

CutId PackingState::add_cut(const SinkSide& inside) {
  return pool_.add(inside, slack_of(inside), growing_.multiplicity, reached_nodes());
}

Rank PackingState::newest_damage(CutId x) {
  Rank newest;
  std::vector<ArcId> arcs;
  pool_.begin_replay(x, growing_.root);
  for (const Rank r : growing_.reached) {
    if (!growing_.routes[r].valid()) continue;
    arcs.clear();
    store_.for_each_arc(growing_.routes[r], [&](ArcId arc) { arcs.push_back(arc); });
    if (pool_.replay(x, arcs) > 0) newest = r;
  }
  return newest;
}

bool PackingState::has_room(std::span<const ArcId> route) const {
  for (auto it = route.begin(); it != route.end(); ++it) {
    const ArcId orbit = orbits_.arc_orbit[*it];
    const auto uses = std::count_if(route.begin(), it + 1,
                                    [&](ArcId arc) { return orbits_.arc_orbit[arc] == orbit; });
    if (residual_[orbit] < growing_.multiplicity * orbits_.weight[*it] * uses) return false;
  }
  return true;
}

void PackingState::begin_tree(Rank root) {
  growing_.root = core_.compute[root.index()];
  growing_.multiplicity = owed_[root];
  growing_.routes.assign(core_.compute.size(), Route{});
  growing_.depth.assign(core_.compute.size(), -1);
  growing_.depth[root] = 0;
  growing_.reached.assign(1, root);
  total_owed_ -= owed_[root] * orbits_.images();
  owed_[root] = 0;
  pool_.begin_tree(growing_.root);
}

void PackingState::attach(std::span<const ArcId> route) {
  const Rank from = core_.rank_of[core_.graph.tail(route.front())];
  const Rank to = core_.rank_of[core_.graph.head(route.back())];
  pool_.take(route, growing_.multiplicity);
  PrefixId prefix(from.value);
  for (std::size_t i = 0; i < route.size(); ++i) {
    residual_[orbits_.arc_orbit[route[i]]] -= growing_.multiplicity * orbits_.weight[route[i]];
    if (i + 1 < route.size()) prefix = store_.extended(prefix, route[i]);
  }
  growing_.routes[to] = {prefix, SegmentId(route.back().value)};
  growing_.depth[to] = growing_.depth[from] + 1;
  growing_.reached.push_back(to);
}

void PackingState::give_back(Route route, std::int64_t amount) {
  store_.for_each_arc(route, [&](ArcId arc) {
    residual_[orbits_.arc_orbit[arc]] += amount * orbits_.weight[arc];
    pool_.add_capacity(arc, amount);
  });
}

void PackingState::set_multiplicity(std::int64_t multiplicity) {
  const std::int64_t delta = growing_.multiplicity - multiplicity;
  const Rank root = growing_.reached.front();
  for (std::size_t i = 1; i < growing_.reached.size(); ++i) {
    give_back(growing_.routes[growing_.reached[i]], delta);
  }
  pool_.shrink_tree(growing_.root, delta);
  owed_[root] += delta;
  total_owed_ += delta * orbits_.images();
  growing_.multiplicity = multiplicity;
}

void PackingState::detach_subtree(Rank rank) {
  // Attachment order puts parents before children, so one pass finds the whole subtree.
  std::vector<Rank> kept;
  IdVector<Rank, bool> dropped(core_.compute.size(), false);
  dropped[rank] = true;
  for (const Rank r : growing_.reached) {
    const Route route = growing_.routes[r];
    if (route.valid() && dropped[store_.origin(route)]) dropped[r] = true;
    if (!dropped[r]) {
      kept.push_back(r);
      continue;
    }
    give_back(route, growing_.multiplicity);
    growing_.routes[r] = Route{};
    growing_.depth[r] = -1;
  }
  growing_.reached = std::move(kept);
  pool_.recount_reached(growing_.multiplicity, reached_nodes());
}

SlotId PackingState::finish_tree() {
  FORESTCOLL_CHECK(growing_.reached.size() == core_.compute.size(), "a finished tree spans");
  const auto height = *std::max_element(growing_.depth.begin(), growing_.depth.end());
  const SlotId slot = store_.add({growing_.reached.front(), growing_.multiplicity, height},
                                 {&*growing_.routes.begin(), growing_.routes.size()});
  growing_.multiplicity = 0;
  growing_.reached.clear();
  return slot;
}

void PackingState::remove_tree(SlotId slot) {
  const Forest::Tree& tree = store_.tree(slot);
  for (const Route route : store_.row(slot)) {
    if (route.valid()) give_back(route, tree.multiplicity);
  }
  owed_[tree.root] += tree.multiplicity;
  total_owed_ += tree.multiplicity * orbits_.images();
  pool_.add_owed(core_.compute[tree.root.index()], tree.multiplicity);
  store_.remove(slot);
}

bool PackingState::damages(SlotId slot, const SinkSide& inside) const {
  if (orbits_.group.size() > 1) return true;  // one of the images will
  const bool outside = !inside[core_.compute[store_.tree(slot).root.index()].index()];
  std::int64_t entries = 0;
  for (const Route route : store_.row(slot)) {
    if (!route.valid()) continue;
    store_.for_each_arc(route, [&](ArcId arc) {
      entries += !inside[core_.graph.tail(arc).index()] && inside[core_.graph.head(arc).index()];
    });
  }
  return entries > (outside ? 1 : 0);
}

}  // namespace forestcoll::solver
