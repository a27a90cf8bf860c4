#include "solver/pack/trees/invariant.hpp"

#include <tbb/info.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>

#include "solver/common/sink_order.hpp"

namespace forestcoll::solver {
namespace {

// Beyond this many arcs the images of a tree in progress are not modelled.
constexpr std::size_t kMaxSourceArcs = 4'000'000;

// How often a pass looks at an arc where images of a tree in progress are sources, about.
constexpr std::int64_t kLooksWithSources = 16;

// Arcs from which on a test is worth several threads: below, it takes less than waking them.
constexpr std::size_t kLeastArcs = 256;

// The core with one more node per image of the tree in progress: its source, which leads to every
// rank. What the tree has reached may pass its data on. Arcs of the sources follow the core's, by
// source and then by the ranks' nodes.
Digraph with_sources(const Core& core, std::size_t sources) {
  const std::size_t n = core.graph.node_count();
  std::vector<Arc> arcs(core.graph.arcs().begin(), core.graph.arcs().end());
  for (std::size_t i = 0; i < sources; ++i) {
    for (const NodeId v : core.compute) arcs.push_back({NodeId(n + i), v});
  }
  return Digraph(n + sources, arcs);
}

IdVector<Rank, std::size_t> positions(const Core& core) {
  std::vector<Rank> by_node;
  for (std::size_t r = 0; r < core.compute.size(); ++r) by_node.emplace_back(r);
  std::sort(by_node.begin(), by_node.end(),
            [&](Rank a, Rank b) { return core.compute[a.index()] < core.compute[b.index()]; });
  IdVector<Rank, std::size_t> position(by_node.size());
  for (std::size_t i = 0; i < by_node.size(); ++i) position[by_node[i]] = i;
  return position;
}

}  // namespace

Invariant::Invariant(const PackingState& state, int threads, Budget& budget)
    : state_(state),
      core_(state.core()),
      budget_(budget),
      flows_(static_cast<std::size_t>(std::clamp(threads, 1, tbb::info::default_concurrency())),
             graph::SinkFlow(core_.graph)),
      edge_flow_(core_.graph),
      position_(positions(core_)) {
  // At a root first, so that for a single root its cuts come first.
  Rank first(0);
  while (first.index() + 1 < core_.compute.size() && state.owed(first) == 0) ++first.value;
  order_sinks(core_.compute[first.index()]);
}

bool Invariant::can_test_growing() const {
  return state_.orbits().group.size() * core_.compute.size() <= kMaxSourceArcs;
}

bool Invariant::holds(const Tight& tight) {
  const std::int64_t demand = load();
  graph::SinkFlow& flow = flows_.front();
  flow.reset(capacity_, supply_);
  for (const NodeId sink : order_) {
    if (budget_.stopped() || !flow.send(sink, demand)) return false;
    SinkSide side = flow.tight_sink_side(sink);
    side.resize(core_.graph.node_count());
    if (std::count(side.begin(), side.end(), true) > 1) tight(side);
    merge(flow, sink);
  }
  return true;
}

bool Invariant::test(const Repair& repair) {
  // Neighbours in what is left, not in the whole fabric: late in the packing they differ.
  order_sinks(order_.front());
  std::int64_t demand = load();
  bool holds = true;
  for (std::size_t begin = 0;;) {
    begin = first_violated(begin, demand);
    if (begin == order_.size() || budget_.is_over()) return holds;
    holds = false;
    // Taking trees back lowers no cut's slack, so the sinks before this one still hold.
    SinkSide side = violated_;
    side.resize(core_.graph.node_count());  // the trees' sources are no nodes of the core
    repair(side);
    demand = load();
  }
}

// The first sink from `begin` on that lacks something, where all before `begin` hold; fills
// violated_. Each thread takes the next few sinks again and again, and goes by those that others
// have taken as if they held: if one does not, its cut is the answer, and what was found at later
// ones is void. The minimum cut nearest a sink does not depend on the flow that shows it, and so
// neither does the answer on the number of threads.
std::size_t Invariant::first_violated(std::size_t begin, std::int64_t demand) {
  SinkQueue queue(begin, order_.size());
  const auto test = [&](std::size_t i) {
    if (const auto sink = test_taken(flows_[i], queue, demand)) queue.report(*sink, i);
  };
  if (flows_.size() == 1 || core_.graph.arc_count() < kLeastArcs) {
    test(0);
  } else {
    tbb::task_arena arena(static_cast<int>(flows_.size()));
    arena.execute([&] { tbb::parallel_for(std::size_t{0}, flows_.size(), test); });
  }
  const auto first = queue.first();
  if (!first) return order_.size();
  violated_ = flows_[first->finder].tight_sink_side(order_[first->sink]);
  return first->sink;
}

// The first sink that lacks something among those that this call takes from the queue.
std::optional<std::size_t> Invariant::test_taken(graph::SinkFlow& flow, SinkQueue& queue,
                                                 std::int64_t demand) const {
  std::size_t s = 0;
  while (const auto taken = queue.take()) {
    if (s == 0) flow.reset(capacity_, supply_);
    for (; s < taken->begin; ++s) merge(flow, order_[s]);
    for (; s < taken->end; ++s) {
      if (budget_.stopped()) return std::nullopt;
      if (flow.is_merged(order_[s])) continue;
      if (!flow.send(order_[s], demand)) return s;
      merge(flow, order_[s]);
    }
  }
  return std::nullopt;
}

SinkSide Invariant::test_edge(NodeId x, NodeId y) {
  budget_.spend(2 * static_cast<std::int64_t>(core_.graph.arc_count()));
  load_residual();
  edge_flow_.reset(std::span(capacity_).first(core_.graph.arc_count()),
                   std::span(supply_).first(core_.graph.node_count()));
  edge_flow_.merge(x);
  if (edge_flow_.send(y, state_.total_owed() + state_.growing().multiplicity)) return {};
  return edge_flow_.tight_sink_side(y);
}

// One of each orbit; where all are alone, in an order in which the next one is near.
void Invariant::order_sinks(NodeId first) {
  const Orbits& orbits = state_.orbits();
  if (orbits.group.size() > 1) {
    order_.clear();
    for (const Rank r : orbits.roots) order_.push_back(core_.compute[r.index()]);
    return;
  }
  IdVector<ArcId, Capacity> residual(core_.graph.arc_count());
  for (std::size_t a = 0; a < residual.size(); ++a) residual[ArcId(a)] = state_.residual(ArcId(a));
  order_ = locality_order(core_.graph, residual, core_.compute, first);
}

// What holds for a sink holds for its images.
void Invariant::merge(graph::SinkFlow& flow, NodeId sink) const {
  const Symmetry& group = state_.orbits().group;
  for (std::size_t i = 0; i < group.size(); ++i) {
    const NodeId image = group.apply(group.element(i), sink);
    if (!flow.is_merged(image)) flow.merge(image);
  }
}

void Invariant::load_residual() {
  capacity_.assign(core_.graph.arc_count() + sources_ * core_.compute.size(), 0);
  supply_.assign(core_.graph.node_count() + sources_, 0);
  for (std::size_t a = 0; a < core_.graph.arc_count(); ++a) {
    capacity_[a] = state_.residual(ArcId(a));
  }
  for (std::size_t r = 0; r < core_.compute.size(); ++r) {
    supply_[core_.compute[r].index()] = state_.owed(Rank(r));
  }
}

// Loads what is left; returns the demand at every sink.
std::int64_t Invariant::load() {
  const GrowingTree& tree = state_.growing();
  if (tree.active()) add_sources();
  load_residual();
  // A pass over the sinks looks at all arcs at least; where many trees grow at once, again and
  // again.
  const std::int64_t looks = tree.active() && sources_ > 1 ? kLooksWithSources : 1;
  budget_.spend(looks * static_cast<std::int64_t>(capacity_.size()));
  std::int64_t demand = state_.total_owed();
  if (tree.active()) {
    const Symmetry& group = state_.orbits().group;
    for (std::size_t i = 0; i < sources_; ++i) {
      supply_[core_.graph.node_count() + i] = tree.multiplicity;
      demand += tree.multiplicity;
      const std::size_t arcs = core_.graph.arc_count() + i * core_.compute.size();
      for (const Rank r : tree.reached) {
        capacity_[arcs + position_[group.apply(group.element(i), r)]] = tree.multiplicity;
      }
    }
  }
  return demand;
}

void Invariant::add_sources() {
  if (sources_ > 0) return;
  sources_ = state_.orbits().group.size();
  flows_.assign(flows_.size(), graph::SinkFlow(with_sources(core_, sources_)));
}

}  // namespace forestcoll::solver
