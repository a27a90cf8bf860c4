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
using Node = PlanOperations::Node;
using Edge = PlanOperations::Edge;

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

// A graph of the operations of classes, under given parameters.
class PlanEvents {
 public:
  PlanEvents(const PlanClasses& classes, const Fabric& fabric,
             const SimulationParameters& parameters, double chunk_bytes)
      : classes_(classes),
        parameters_(parameters),
        chunk_bytes_(chunk_bytes),
        maker_(fabric, parameters, parameters.simple) {}

  ClassGraph build() {
    for (std::size_t n = 0; n < classes_.operations.nodes.size(); ++n) add(n);
    for (const Edge& edge : classes_.operations.edges) add(edge);
    return {std::move(maker_.graph), classes_.flows.capacity, classes_.flows.of_link, true};
  }

 private:
  // One flow after the other.
  void add(std::size_t number) {
    const Node& node = classes_.operations.nodes[number];
    const ProtocolParameters& costs = node.packets ? parameters_.ll : parameters_.simple;
    const std::int64_t rounds = node.unit > 0 ? passes_for(chunk_bytes_, node.unit) : 1;
    const double per_chunk = chunk_bytes_ / static_cast<double>(rounds);
    const double adding_gbs = std::min(costs.threadblock_gbs, costs.reduction_gbs);
    Activity activity;
    activity.repeats = rounds;
    if (node.moves && !node.by_proxy) {
      activity.seconds =
          costs.step_us * 1e-6 +
          per_chunk * static_cast<double>(node.copied) / (costs.threadblock_gbs * 1e9) +
          per_chunk * static_cast<double>(node.added) / (adding_gbs * 1e9);
    }
    first_.push_back(maker_.graph.add(activity));
    const double most = node.by_proxy ? std::numeric_limits<double>::infinity()
                        : node.adds   ? adding_gbs
                                      : costs.threadblock_gbs;
    for (std::size_t i = 0; i < node.routes.size(); ++i) {
      if (i > 0) {
        Activity next;
        next.repeats = rounds;
        const std::int32_t added = maker_.graph.add(next);
        maker_.graph.wait(added - 1, added);
      }
      Activity& flow = maker_.graph.activities.back();
      flow.kind = kind(classes_.loads[number][i], maker_.most_on_links(node.routes[i], most));
      flow.bytes = maker_.on_route(node.routes[i], per_chunk * static_cast<double>(node.size));
    }
    last_.push_back(static_cast<std::int32_t>(maker_.graph.activities.size()) - 1);
  }

  // Of what all of a class send at once, each at most so many bytes per second.
  std::int32_t kind(std::int32_t load, double most) {
    const auto next = static_cast<std::int32_t>(maker_.graph.kinds.size());
    const auto [at, is_new] = kinds_.emplace(std::pair(load, most), next);
    if (is_new) maker_.graph.kinds.push_back({classes_.flows.routes[index(load)], most});
    return at->second;
  }

  void add(const Edge& edge) {
    const std::int32_t from = last_[index(edge.from)], to = first_[index(edge.to)];
    const ProtocolParameters& costs = edge.packets ? parameters_.ll : parameters_.simple;
    const double delay = edge.route < 0 ? 0 : maker_.delay(edge.route, costs);
    if (!edge.all_rounds) {
      maker_.graph.wait(from, to, edge.next_round ? 1 : 0, delay);
      return;
    }
    const std::int32_t all = maker_.graph.add(Activity{});
    maker_.graph.waits.push_back({from, all, delay, 0, 1, rounds_of(from)});
    maker_.graph.waits.push_back({all, to, 0, 0, rounds_of(to), 1});
  }

  [[nodiscard]] std::int64_t rounds_of(std::int32_t activity) const {
    return maker_.graph.activities[index(activity)].repeats;
  }

  const PlanClasses& classes_;
  const SimulationParameters& parameters_;
  double chunk_bytes_;
  GraphMaker maker_;
  std::map<std::pair<std::int32_t, double>, std::int32_t> kinds_;  // by load and rate
  std::vector<std::int32_t> first_, last_;                         // activities, by node
};

}  // namespace

PlanSource::PlanSource(const PlanFile& plan, const MemoryMap& memory, std::int64_t chunks,
                       Fabric& fabric, Findings& findings)
    : chunks_(static_cast<double>(chunks)) {
  const PlanGraph graph = build_plan_graph(plan, memory, false, findings);
  if (findings.blocked()) return;
  all_.nodes.resize(graph.nodes.size());
  for (std::size_t n = 0; n < all_.nodes.size(); ++n) {
    read_node(plan, graph, static_cast<std::int32_t>(n), fabric, findings);
  }
  for (const auto& [from, to] : graph.edges) {
    const std::int32_t a = graph.nodes[static_cast<std::size_t>(from)].rank;
    const std::int32_t b = graph.nodes[static_cast<std::size_t>(to)].rank;
    all_.edges.push_back({.from = from,
                          .to = to,
                          .route = a == b ? -1 : signal_route(Rank(a), Rank(b), fabric, findings)});
    // A barrier is met as often as those who arrive at it say.
    Node& barrier = all_.nodes[static_cast<std::size_t>(to)];
    if (graph.nodes[static_cast<std::size_t>(to)].kind == Kind::barrier) {
      barrier.unit = all_.nodes[static_cast<std::size_t>(from)].unit;
    }
  }
  chain_blocks(graph);
  close_loops(graph);
  finish_edges();
  all_ = without_control(all_);
  if (!findings.blocked()) classes_ = plan_classes(all_, fabric);
}

void PlanSource::read_node(const PlanFile& plan, const PlanGraph& graph, std::int32_t n,
                           Fabric& fabric, Findings& findings) {
  const PlanGraph::Node& source = graph.nodes[static_cast<std::size_t>(n)];
  Node& node = all_.nodes[static_cast<std::size_t>(n)];
  node.block = source.block;
  if (source.op < 0) return;
  const PlanOp& op = graph.op(plan, n);
  if (op.loop >= 0) {
    const auto first = graph.first_block[static_cast<std::size_t>(source.rank)];
    const PlanThreadblock& tb = plan.gpus[static_cast<std::size_t>(source.rank)]
                                    .threadblocks[static_cast<std::size_t>(source.block - first)];
    const PlanOp& pipeline = tb.ops[static_cast<std::size_t>(op.loop)];
    node.unit = static_cast<double>(pipeline.unit_size) / static_cast<double>(pipeline.loop_chunks);
    node.loop = op.loop;
  }
  node.by_proxy = source.kind == Kind::effect || source.kind == Kind::signal_effect;
  if (graph.moves_data(n)) read_access(plan, graph, n, fabric, findings);
}

void PlanSource::read_access(const PlanFile& plan, const PlanGraph& graph, std::int32_t n,
                             Fabric& fabric, Findings& findings) {
  const std::int32_t rank = graph.nodes[static_cast<std::size_t>(n)].rank;
  Node& node = all_.nodes[static_cast<std::size_t>(n)];
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
  for (std::size_t n = 0; n < all_.nodes.size(); ++n) {
    if (!all_.nodes[n].moves || all_.nodes[n].by_proxy) continue;
    const auto self = static_cast<std::int32_t>(n);
    const auto [previous, is_first] = last.emplace(graph.nodes[n].block, self);
    if (!is_first) all_.edges.push_back({.from = previous->second, .to = self});
    previous->second = self;
  }
}

// A threadblock goes round a pipeline again when it has been round it once.
void PlanSource::close_loops(const PlanGraph& graph) {
  std::vector<bool> is_entered(all_.nodes.size(), false), is_left(all_.nodes.size(), false);
  const auto loop_of = [&](std::int32_t n) {
    return std::pair(graph.nodes[static_cast<std::size_t>(n)].block,
                     all_.nodes[static_cast<std::size_t>(n)].loop);
  };
  for (const Edge& edge : all_.edges) {
    const bool within = loop_of(edge.from) == loop_of(edge.to) && edge.route < 0 &&
                        !all_.nodes[static_cast<std::size_t>(edge.to)].by_proxy;
    if (!within) continue;
    is_left[static_cast<std::size_t>(edge.from)] = true;
    is_entered[static_cast<std::size_t>(edge.to)] = true;
  }
  std::map<std::pair<std::int32_t, std::int32_t>,
           std::pair<std::vector<std::int32_t>, std::vector<std::int32_t>>>
      ends;
  for (std::size_t n = 0; n < all_.nodes.size(); ++n) {
    if (all_.nodes[n].loop < 0 || all_.nodes[n].by_proxy) continue;
    auto& [sources, sinks] = ends[loop_of(static_cast<std::int32_t>(n))];
    if (!is_entered[n]) sources.push_back(static_cast<std::int32_t>(n));
    if (!is_left[n]) sinks.push_back(static_cast<std::int32_t>(n));
  }
  for (const auto& [loop, both] : ends) {
    Node turn;
    turn.block = loop.first;
    turn.loop = loop.second;
    turn.unit = all_.nodes[static_cast<std::size_t>(both.first.front())].unit;
    const auto self = static_cast<std::int32_t>(all_.nodes.size());
    all_.nodes.push_back(turn);
    for (const std::int32_t sink : both.second) all_.edges.push_back({.from = sink, .to = self});
    for (const std::int32_t source : both.first)
      all_.edges.push_back({.from = self, .to = source, .next_round = true});
  }
}

// Of two pipelines of a threadblock, and of those that go round in different units, all rounds of
// one come before the other.
void PlanSource::finish_edges() {
  for (Edge& edge : all_.edges) {
    const Node& before = all_.nodes[static_cast<std::size_t>(edge.from)];
    const Node& after = all_.nodes[static_cast<std::size_t>(edge.to)];
    const bool in_turn = before.block == after.block && before.loop >= 0 && after.loop >= 0 &&
                         before.loop != after.loop;
    edge.packets = before.packets;
    edge.all_rounds = before.unit != after.unit || in_turn;
  }
}

double PlanSource::full_pass(const SimulationParameters&) const {
  double unit = std::numeric_limits<double>::infinity();
  for (const Node& node : all_.nodes) {
    if (node.unit > 0) unit = std::min(unit, node.unit);
  }
  return unit * chunks_;
}

ClassGraph PlanSource::make(const Fabric& fabric, const SimulationParameters& parameters,
                            double bytes) const {
  return PlanEvents(classes_, fabric, parameters, bytes / chunks_).build();
}

ClassGraph PlanSource::make_each(const Fabric& fabric, const SimulationParameters& parameters,
                                 double bytes) const {
  return PlanEvents(each_by_itself(all_, fabric), fabric, parameters, bytes / chunks_).build();
}

}  // namespace forestcoll::simulate
