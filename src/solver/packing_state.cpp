#include "solver/packing_state.hpp"

#include <algorithm>
#include <numeric>

#include "base/check.hpp"
#include "solver/height.hpp"

namespace forestcoll::solver {
namespace {

// Exchanges of edges that are looked at: some tenths of a second.
constexpr std::int64_t kHeightEffort = 50'000'000;

}  // namespace

PackingState::PackingState(const Core& core, const IdVector<Rank, std::int64_t>& owed)
    : core_(core),
      ranks_(core.compute.size()),
      pool_(core),
      residual_(core.capacity),
      owed_(owed),
      total_owed_(std::accumulate(owed.begin(), owed.end(), std::int64_t{0})),
      table_(core.compute) {
  for (std::size_t a = 0; a < core.graph.arc_count(); ++a) {
    table_.add_segment(core.segment(ArcId(a)));
  }
  growing_.routes.assign(ranks_, Route{});
  growing_.depth.assign(ranks_, -1);
  const auto roots = std::count_if(owed.begin(), owed.end(), [](auto trees) { return trees > 0; });
  routes_.reserve(static_cast<std::size_t>(roots) * ranks_);
}

std::int64_t PackingState::slack_of(const SinkSide& inside) const {
  std::int64_t slack = 0;
  for (std::size_t a = 0; a < residual_.size(); ++a) {
    if (!inside[core_.graph.tail(ArcId(a)).index()] && inside[core_.graph.head(ArcId(a)).index()]) {
      slack += residual_[ArcId(a)];
    }
  }
  for (std::size_t r = 0; r < ranks_; ++r) {
    if (!inside[core_.compute[r].index()]) slack -= owed_[Rank(r)];
  }
  if (growing_.active() && !growing_reaches(inside)) slack -= growing_.multiplicity;
  return slack;
}

bool PackingState::growing_reaches(const SinkSide& inside) const {
  return std::any_of(growing_.reached.begin(), growing_.reached.end(),
                     [&](Rank r) { return inside[core_.compute[r.index()].index()]; });
}

void PackingState::begin_tree(Rank root) {
  growing_.root = core_.compute[root.index()];
  growing_.multiplicity = owed_[root];
  growing_.routes.assign(ranks_, Route{});
  growing_.depth.assign(ranks_, -1);
  growing_.depth[root] = 0;
  growing_.reached.assign(1, root);
  total_owed_ -= owed_[root];
  owed_[root] = 0;
  pool_.begin_tree(growing_.root);
}

PrefixId PackingState::extended(PrefixId prefix, ArcId arc) {
  const std::uint64_t key =
      (static_cast<std::uint64_t>(prefix.value) << 32) | static_cast<std::uint32_t>(arc.value);
  const auto [it, is_new] = prefix_of_.try_emplace(key);
  if (is_new) it->second = table_.extend(prefix, SegmentId(arc.value));
  return it->second;
}

void PackingState::attach(std::span<const ArcId> route) {
  const Rank from = core_.rank_of[core_.graph.tail(route.front())];
  const Rank to = core_.rank_of[core_.graph.head(route.back())];
  pool_.take(route, growing_.multiplicity);
  PrefixId prefix(from.value);
  for (std::size_t i = 0; i < route.size(); ++i) {
    residual_[route[i]] -= growing_.multiplicity;
    if (i + 1 < route.size()) prefix = extended(prefix, route[i]);
  }
  growing_.routes[to] = {prefix, SegmentId(route.back().value)};
  growing_.depth[to] = growing_.depth[from] + 1;
  growing_.reached.push_back(to);
}

void PackingState::give_back(Route route, std::int64_t amount) {
  for_each_arc(route, [&](ArcId arc) {
    residual_[arc] += amount;
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
  total_owed_ += delta;
  growing_.multiplicity = multiplicity;
}

void PackingState::detach_subtree(Rank rank) {
  // Attachment order puts parents before children, so one pass finds the whole subtree.
  std::vector<Rank> kept;
  IdVector<Rank, bool> dropped(ranks_, false);
  dropped[rank] = true;
  for (const Rank r : growing_.reached) {
    const Route route = growing_.routes[r];
    if (route.valid() && dropped[table_.origin(route.prefix)]) dropped[r] = true;
    if (!dropped[r]) {
      kept.push_back(r);
      continue;
    }
    give_back(route, growing_.multiplicity);
    growing_.routes[r] = Route{};
    growing_.depth[r] = -1;
  }
  growing_.reached = std::move(kept);
  pool_.recount_reached(growing_.multiplicity,
                        [&](const SinkSide& inside) { return growing_reaches(inside); });
}

SlotId PackingState::finish_tree() {
  FORESTCOLL_CHECK(growing_.reached.size() == ranks_, "a finished tree spans");
  SlotId slot;
  if (free_.empty()) {
    slot = slots_.push_back({});
    routes_.resize(routes_.size() + ranks_);
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  std::copy(growing_.routes.begin(), growing_.routes.end(), row(slot).begin());
  const auto height = *std::max_element(growing_.depth.begin(), growing_.depth.end());
  slots_[slot] = {growing_.reached.front(), growing_.multiplicity, height};
  growing_.multiplicity = 0;
  growing_.reached.clear();
  return slot;
}

void PackingState::remove_tree(SlotId slot) {
  Forest::Tree& tree = slots_[slot];
  for (const Route route : row(slot)) {
    if (route.valid()) give_back(route, tree.multiplicity);
  }
  owed_[tree.root] += tree.multiplicity;
  total_owed_ += tree.multiplicity;
  pool_.add_owed(core_.compute[tree.root.index()], tree.multiplicity);
  tree.multiplicity = 0;
  free_.push_back(slot);
}

std::int64_t PackingState::entries(Route route, const SinkSide& inside) const {
  std::int64_t count = 0;
  for_each_arc(route, [&](ArcId arc) {
    count += !inside[core_.graph.tail(arc).index()] && inside[core_.graph.head(arc).index()];
  });
  return count;
}

std::int64_t PackingState::entries(SlotId slot, const SinkSide& inside) const {
  std::int64_t count = 0;
  for (const Route route : row(slot)) {
    if (route.valid()) count += entries(route, inside);
  }
  return count;
}

// Rows of removed trees are filled from the end.
void PackingState::close_gaps() {
  std::sort(free_.begin(), free_.end());
  std::size_t end = slots_.size();
  for (const SlotId gap : free_) {
    while (end > 0 && slots_[SlotId(end - 1)].multiplicity == 0) --end;
    if (gap.index() >= end) break;
    --end;
    std::copy(row(SlotId(end)).begin(), row(SlotId(end)).end(), row(gap).begin());
    std::swap(slots_[gap], slots_[SlotId(end)]);
  }
  slots_.resize(slots_.size() - free_.size());
  free_.clear();
}

Forest PackingState::release() {
  close_gaps();
  std::vector<SlotId> order;
  for (std::size_t s = 0; s < slots_.size(); ++s) order.push_back(SlotId(s));
  std::stable_sort(order.begin(), order.end(),
                   [&](SlotId a, SlotId b) { return slots_[a].root < slots_[b].root; });
  std::vector<Forest::Tree> trees;
  for (const SlotId s : order) trees.push_back(slots_[s]);

  // Rows move to their places along the cycles of the permutation: no second copy of the forest.
  std::vector<Route> spare(ranks_);
  for (std::size_t first = 0; first < order.size(); ++first) {
    if (order[first].index() == first) continue;
    std::copy(row(SlotId(first)).begin(), row(SlotId(first)).end(), spare.begin());
    std::size_t at = first;
    while (order[at].index() != first) {
      const std::size_t from = order[at].index();
      std::copy(row(SlotId(from)).begin(), row(SlotId(from)).end(), row(SlotId(at)).begin());
      order[at] = SlotId(at);
      at = from;
    }
    std::copy(spare.begin(), spare.end(), row(SlotId(at)).begin());
    order[at] = SlotId(at);
  }
  routes_.resize(order.size() * ranks_);
  lower_heights(table_, trees, routes_, ranks_, kHeightEffort);
  return Forest(std::move(table_), std::move(trees), std::move(routes_));
}

}  // namespace forestcoll::solver
