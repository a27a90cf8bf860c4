#include "simulate/sources/plan_source.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "audit/plan/kinds.hpp"
#include "simulate/fabric/graph_maker.hpp"

namespace forestcoll::simulate {

using audit::Access;
using audit::Findings;
using audit::MemoryMap;
using audit::Operand;
using audit::PlanFile;
using audit::PlanGraph;
using audit::PlanOp;
using audit::PlanThreadblock;

namespace {

using Kind = PlanGraph::Kind;

// Then it is the switch that adds.
bool reads_through_switch(const Access& access) {
  return std::ranges::any_of(access.reads, &Operand::switched);
}

// Signals load no links. Where data goes one way alone, they come back as fast.
std::int32_t signal_route(Rank from, Rank to, Fabric& fabric, Findings& findings) {
  Findings tried(findings.file());
  const std::int32_t route = fabric.between(from, to, tried);
  return tried.count() == 0 ? route : fabric.between(to, from, findings);
}

}  // namespace

PlanSource::PlanSource(const PlanFile& plan, const MemoryMap& memory, std::int64_t chunks,
                       Fabric& fabric, Findings& findings)
    : chunks_(static_cast<double>(chunks)) {
  const PlanGraph graph = build_plan_graph(plan, memory, false, findings);
  if (findings.blocked()) return;
  nodes_.resize(graph.nodes.size());
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    read_node(plan, graph, static_cast<std::int32_t>(n), fabric, findings);
  }
  for (const auto& [from, to] : graph.edges) {
    const std::int32_t a = graph.nodes[static_cast<std::size_t>(from)].rank;
    const std::int32_t b = graph.nodes[static_cast<std::size_t>(to)].rank;
    edges_.push_back({from, to, a == b ? -1 : signal_route(Rank(a), Rank(b), fabric, findings)});
    // A barrier is met as often as those who arrive at it say.
    Node& barrier = nodes_[static_cast<std::size_t>(to)];
    if (graph.nodes[static_cast<std::size_t>(to)].kind == Kind::barrier) {
      barrier.unit = nodes_[static_cast<std::size_t>(from)].unit;
    }
  }
  chain_blocks(graph);
  close_loops(graph);
}

void PlanSource::read_node(const PlanFile& plan, const PlanGraph& graph, std::int32_t n,
                           Fabric& fabric, Findings& findings) {
  const PlanGraph::Node& source = graph.nodes[static_cast<std::size_t>(n)];
  Node& node = nodes_[static_cast<std::size_t>(n)];
  node.block = source.block;
  if (source.op < 0) return;
  const PlanOp& op = graph.op(plan, n);
  if (op.loop >= 0) {
    const auto first = graph.first_block[static_cast<std::size_t>(source.rank)];
    const PlanThreadblock& tb = plan.gpus[static_cast<std::size_t>(source.rank)]
                                    .threadblocks[static_cast<std::size_t>(source.block - first)];
    node.unit = tb.ops[static_cast<std::size_t>(op.loop)].unit_size;
    node.loop = op.loop;
  }
  node.by_proxy = source.kind == Kind::effect || source.kind == Kind::signal_effect;
  if (graph.moves_data(n)) read_access(plan, graph, n, fabric, findings);
}

void PlanSource::read_access(const PlanFile& plan, const PlanGraph& graph, std::int32_t n,
                             Fabric& fabric, Findings& findings) {
  const std::int32_t rank = graph.nodes[static_cast<std::size_t>(n)].rank;
  Node& node = nodes_[static_cast<std::size_t>(n)];
  const Access access = access_of(plan, graph, n);
  node.moves = true;
  const bool packets = !access.writes.empty() && access.writes.back().packets;
  node.size = access.count * (packets ? 2 : 1);
  node.packets = packets || std::ranges::any_of(access.reads, &Operand::packets);
  node.adds = adds(graph.op(plan, n).kind) && !reads_through_switch(access);
  // A group is read, summed up and stored to byte by byte, all at once.
  const auto accesses = group_accesses_of(access, rank);
  if (!accesses.empty()) node.routes.push_back(fabric.through_switches(accesses, findings));
  std::int64_t local = 0;
  for (const Operand& chunk : access.reads) {
    if (chunk.switched) continue;
    if (chunk.rank == rank) {
      ++local;
    } else {
      node.routes.push_back(fabric.between(Rank(chunk.rank), Rank(rank), findings));
    }
  }
  if (node.adds) node.added = std::max<std::int64_t>(0, local - 1) * access.count;
  for (const Operand& chunk : access.writes) {
    if (chunk.switched) continue;
    if (chunk.rank != rank) {
      node.routes.push_back(fabric.between(Rank(rank), Rank(chunk.rank), findings));
    } else if (!node.adds && local > 0) {
      node.copied += access.count;
    }
  }
}

// A threadblock moves data for one operation after the other.
void PlanSource::chain_blocks(const PlanGraph& graph) {
  std::map<std::int32_t, std::int32_t> last;  // by threadblock
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (!nodes_[n].moves || nodes_[n].by_proxy) continue;
    const auto self = static_cast<std::int32_t>(n);
    const auto [previous, is_first] = last.emplace(graph.nodes[n].block, self);
    if (!is_first) edges_.push_back({previous->second, self, -1});
    previous->second = self;
  }
}

// A threadblock goes round a pipeline again when it has been round it once.
void PlanSource::close_loops(const PlanGraph& graph) {
  std::vector<bool> is_entered(nodes_.size(), false), is_left(nodes_.size(), false);
  const auto loop_of = [&](std::int32_t n) {
    return std::pair(graph.nodes[static_cast<std::size_t>(n)].block,
                     nodes_[static_cast<std::size_t>(n)].loop);
  };
  for (const Edge& edge : edges_) {
    const bool within = loop_of(edge.from) == loop_of(edge.to) && edge.route < 0 &&
                        !nodes_[static_cast<std::size_t>(edge.to)].by_proxy;
    if (!within) continue;
    is_left[static_cast<std::size_t>(edge.from)] = true;
    is_entered[static_cast<std::size_t>(edge.to)] = true;
  }
  std::map<std::pair<std::int32_t, std::int32_t>,
           std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>>>
      ends;
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (nodes_[n].loop < 0 || nodes_[n].by_proxy) continue;
    auto& [sources, sinks] = ends[loop_of(static_cast<std::int32_t>(n))];
    if (!is_entered[n]) sources.push_back(static_cast<std::int32_t>(n));
    if (!is_left[n]) sinks.push_back(static_cast<std::int32_t>(n));
  }
  for (const auto& [loop, both] : ends) {
    Node turn;
    turn.block = loop.first;
    turn.loop = loop.second;
    turn.unit = nodes_[static_cast<std::size_t>(both.first.front())].unit;
    const auto self = static_cast<std::int32_t>(nodes_.size());
    nodes_.push_back(turn);
    for (const std::int32_t sink : both.second) edges_.push_back({sink, self, -1});
    for (const std::int32_t source : both.first) edges_.push_back({self, source, -1, true});
  }
}

double PlanSource::full_pass(const SimulationParameters&) const {
  std::int64_t unit = std::numeric_limits<std::int64_t>::max();
  for (const Node& node : nodes_) {
    if (node.unit > 0) unit = std::min(unit, node.unit);
  }
  if (unit == std::numeric_limits<std::int64_t>::max()) {
    return std::numeric_limits<double>::infinity();
  }
  return static_cast<double>(unit) * chunks_;
}

EventGraph PlanSource::make(const Fabric& fabric, const SimulationParameters& parameters,
                            double bytes) const {
  GraphMaker maker(fabric, parameters, parameters.simple);
  const double chunk_bytes = bytes / chunks_;
  std::vector<std::int32_t> first, last;
  for (const Node& node : nodes_) {
    const std::int64_t rounds =
        node.unit > 0 ? passes_for(chunk_bytes, static_cast<double>(node.unit)) : 1;
    const double per_chunk = chunk_bytes / static_cast<double>(rounds);
    const ProtocolParameters& costs = node.packets ? parameters.ll : parameters.simple;
    const double adding_gbs = std::min(costs.threadblock_gbs, costs.reduction_gbs);
    Activity activity;
    activity.repeats = rounds;
    if (node.moves && !node.by_proxy) {
      activity.seconds =
          costs.step_us * 1e-6 +
          per_chunk * static_cast<double>(node.copied) / (costs.threadblock_gbs * 1e9) +
          per_chunk * static_cast<double>(node.added) / (adding_gbs * 1e9);
    }
    first.push_back(maker.graph.add(activity));
    for (std::size_t i = 0; i < node.routes.size(); ++i) {
      const double most = node.by_proxy ? std::numeric_limits<double>::infinity()
                          : node.adds   ? adding_gbs
                                        : costs.threadblock_gbs;
      if (i > 0) {
        Activity next;
        next.repeats = rounds;
        const std::int32_t added = maker.graph.add(next);
        maker.graph.wait(added - 1, added);
      }
      maker.graph.activities.back().kind = maker.kind(node.routes[i], most);
      maker.graph.activities.back().bytes =
          maker.on_route(node.routes[i], per_chunk * static_cast<double>(node.size));
    }
    last.push_back(static_cast<std::int32_t>(maker.graph.activities.size()) - 1);
  }
  const auto rounds_of = [&](std::int32_t activity) {
    return maker.graph.activities[static_cast<std::size_t>(activity)].repeats;
  };
  for (const Edge& edge : edges_) {
    const std::int32_t from = last[static_cast<std::size_t>(edge.from)];
    const std::int32_t to = first[static_cast<std::size_t>(edge.to)];
    const Node& before = nodes_[static_cast<std::size_t>(edge.from)];
    const ProtocolParameters& costs = before.packets ? parameters.ll : parameters.simple;
    const double delay = edge.route < 0 ? 0 : maker.delay(edge.route, costs);
    const Node& after = nodes_[static_cast<std::size_t>(edge.to)];
    const bool in_turn = before.block == after.block && before.loop >= 0 && after.loop >= 0 &&
                         before.loop != after.loop;  // two pipelines of a threadblock
    const bool each_round = before.unit == after.unit && !in_turn;
    if (each_round) {
      maker.graph.wait(from, to, edge.next_round ? 1 : 0, delay);
      continue;
    }
    // All rounds of the one before any of the other.
    const std::int32_t all = maker.graph.add(Activity{});
    maker.graph.waits.push_back({from, all, delay, 0, 1, rounds_of(from)});
    maker.graph.waits.push_back({all, to, 0, 0, rounds_of(to), 1});
  }
  return std::move(maker.graph);
}

}  // namespace forestcoll::simulate
