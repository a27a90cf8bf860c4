#include "solver/height/whole/negotiated_routes.hpp"

#include <algorithm>

namespace forestcoll::solver {
namespace {

// Lengths: of a hop; of what is used of an arc, up to an eighth of a hop, so that detours do not
// pay; and of an arc that is full, or was overfull in a previous round by all it can carry.
constexpr std::int64_t kHop = 1 << 10;
constexpr std::int64_t kUsed = 1 << 7;
constexpr std::int64_t kFull = 4 * kHop;
// Full arcs get so long in so many rounds.
constexpr std::int64_t kRoundsToFull = 16;

}  // namespace

// What is done most often comes first, to be inlined.

inline std::span<const NegotiatedRoutes::Step> NegotiatedRoutes::steps_into(Rank rank) const {
  const std::size_t begin = first_into_[rank.index()];
  return std::span(into_).subspan(begin, first_into_[rank.index() + 1] - begin);
}

// What is used of it, and its toll.
inline void NegotiatedRoutes::update_cost(ArcId resource) {
  const double share =
      static_cast<double>(capacity_[resource] - left_[resource]) * per_unit_[resource];
  cost_[resource] =
      toll_[resource] + static_cast<std::int64_t>(std::min(share * kUsed, double{kFull}));
}

inline void NegotiatedRoutes::charge(ArcId arc, std::int64_t trees) {
  const ArcId resource = resources_.of[arc];
  left_[resource] -= trees * resources_.weight[arc];
  update_cost(resource);
}

inline std::int64_t NegotiatedRoutes::length(const Step& step, std::int64_t trees) const {
  const bool is_full = left_[step.resource] < trees * step.weight;
  return step.hops + cost_[step.resource] + (is_full ? full_ : 0);
}

NegotiatedRoutes::NegotiatedRoutes(const Core& core, const Resources& resources,
                                   IdVector<ArcId, Capacity> capacity, RouteTable& table,
                                   std::size_t targets_per_search)
    : core_(core),
      resources_(resources),
      table_(table),
      targets_per_search_(targets_per_search),
      full_(kFull / kRoundsToFull),
      capacity_(std::move(capacity)),
      left_(capacity_),
      toll_(capacity_.size(), 0),
      cost_(capacity_.size(), 0),
      passing_(core.graph.node_count(), 0) {
  for (const Capacity all : capacity_) {
    per_unit_.push_back(1 / static_cast<double>(std::max<Capacity>(all, 1)));
  }
  gather_arcs();
}

NegotiatedRoutes::Step NegotiatedRoutes::step(ArcId arc, NodeId node) const {
  return {arc, node, resources_.of[arc], resources_.weight[arc],
          kHop * static_cast<std::int64_t>(core_.segment(arc).size())};
}

void NegotiatedRoutes::gather_arcs() {
  for (std::size_t v = 0; v < core_.graph.node_count(); ++v) {
    first_inner_.push_back(inner_.size());
    const NodeId tail(v);
    for (ArcId a = core_.graph.first_out(tail); a != core_.graph.last_out(tail); ++a.value) {
      const NodeId head = core_.graph.head(a);
      if (!core_.rank_of[head].valid()) inner_.push_back(step(a, head));
    }
  }
  first_inner_.push_back(inner_.size());
  for (const NodeId rank : core_.compute) {
    first_into_.push_back(into_.size());
    for (const ArcId in : core_.graph.in(rank)) into_.push_back(step(in, core_.graph.tail(in)));
  }
  first_into_.push_back(into_.size());
}

bool NegotiatedRoutes::send(Rank root, std::int64_t trees, std::span<const Rank> targets,
                            std::span<Route> routes) {
  const NodeId start = core_.compute[root.index()];
  while (!targets.empty()) {
    const auto batch = targets.first(std::min(targets_per_search_, targets.size()));
    targets = targets.subspan(batch.size());
    ++searches_;
    search(start, trees, mark_ends(batch));
    for (const Rank target : batch) {
      const Step last = last_step(start, target, trees);
      if (!last.arc.valid()) return false;
      routes[target.index()] = {prefix_at(last.node), SegmentId(last.arc.value)};
      charge(last.arc, trees);
      passing_[last.node.index()] += trees;
    }
    charge_routes(start);
  }
  return true;
}

// Marks the switches next to the targets; how many there are.
std::size_t NegotiatedRoutes::mark_ends(std::span<const Rank> targets) {
  std::size_t count = 0;
  is_end_.assign(core_.graph.node_count(), false);
  for (const Rank target : targets) {
    for (const Step& in : steps_into(target)) {
      if (core_.rank_of[in.node].valid() || is_end_[in.node.index()] != 0) continue;
      is_end_[in.node.index()] = 1;
      ++count;
    }
  }
  return count;
}

// Shortest paths to switches, until so many ends are reached. No path goes on from a rank, so that
// ranks need not be looked at.
void NegotiatedRoutes::search(NodeId root, std::int64_t trees, std::size_t ends) {
  prefix_.assign(core_.graph.node_count(), PrefixId());
  prefix_[root.index()] = PrefixId(core_.rank_of[root].value);
  shortest_.run(core_.graph.node_count(), root, [&](NodeId v, std::int64_t distance) {
    if (is_end_[v.index()] != 0) --ends;
    if (ends == 0) return false;
    for (std::size_t i = first_inner_[v.index()]; i < first_inner_[v.index() + 1]; ++i) {
      const Step& step = inner_[i];
      shortest_.reach(step.node, step.arc, distance + length(step, trees));
    }
    return true;
  });
}

// By which the target is reached by the shortest path, from a switch or the root itself.
NegotiatedRoutes::Step NegotiatedRoutes::last_step(NodeId root, Rank target,
                                                   std::int64_t trees) const {
  Step best;
  std::int64_t shortest = Dijkstra::kUnreached;
  for (const Step& step : steps_into(target)) {
    if (core_.rank_of[step.node].valid() && step.node != root) continue;
    const std::int64_t total = shortest_.distance(step.node) + length(step, trees);
    if (total >= shortest) continue;
    shortest = total;
    best = step;
  }
  return best;
}

// Of the path that the search found, made once per node and search.
PrefixId NegotiatedRoutes::prefix_at(NodeId v) {
  if (!prefix_[v.index()].valid()) {
    const ArcId by = shortest_.by(v);
    prefix_[v.index()] = table_.extend(prefix_at(core_.graph.tail(by)), SegmentId(by.value));
  }
  return prefix_[v.index()];
}

// What passes through the switches that the search reached, from the farthest to the root.
void NegotiatedRoutes::charge_routes(NodeId root) {
  passing_[root.index()] = 0;
  const std::vector<NodeId>& reached = shortest_.reached();
  for (std::size_t i = reached.size(); i-- > 1;) {
    const NodeId v = reached[i];
    const std::int64_t trees = std::exchange(passing_[v.index()], 0);
    if (trees == 0) continue;
    charge(shortest_.by(v), trees);
    passing_[core_.graph.tail(shortest_.by(v)).index()] += trees;
  }
}

void NegotiatedRoutes::charge(Route route, std::int64_t trees) {
  for_each_arc(table_, route, [&](ArcId arc) { charge(arc, trees); });
}

Int128 NegotiatedRoutes::raise_tolls() {
  Int128 overfull = 0;
  for (std::size_t r = 0; r < left_.size(); ++r) {
    const Capacity left = left_[ArcId(r)];
    if (left >= 0) continue;
    overfull += -left;
    const Int128 over = Int128{-left} * kFull / std::max<Capacity>(capacity_[ArcId(r)], 1);
    toll_[ArcId(r)] += kUsed + static_cast<std::int64_t>(std::min<Int128>(over, kFull));
    update_cost(ArcId(r));
  }
  full_ = std::min(full_ + kFull / kRoundsToFull, kFull);
  return overfull;
}

}  // namespace forestcoll::solver
