#include "simulate/sources/read_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "audit/plan/kinds.hpp"
#include "audit/plan_run/graph.hpp"

namespace forestcoll::simulate {
namespace {

using audit::Access;
using audit::Findings;
using audit::Operand;
using audit::PlanFile;
using audit::PlanGraph;
using audit::PlanOp;
using Node = PlanOperations::Node;
using Edge = PlanOperations::Edge;

// Then it is the switch that adds.
bool reads_through_switch(const Access& access) {
  return std::ranges::any_of(access.reads, &Operand::switched);
}

class PlanReader {
 public:
  PlanReader(const PlanFile& plan, const PlanGraph& graph, Fabric& fabric, ImageRoutes* images,
             Findings& findings)
      : plan_(plan), graph_(graph), fabric_(fabric), images_(images), findings_(findings) {}

  PlanOperations read() {
    all_.nodes.resize(graph_.nodes.size());
    for (std::size_t n = 0; n < all_.nodes.size(); ++n) read_node(static_cast<std::int32_t>(n));
    read_edges();
    chain_blocks();
    close_loops();
    finish_edges();
    return std::move(all_);
  }

 private:
  [[nodiscard]] Node& node(std::int32_t n) { return all_.nodes[index(n)]; }
  [[nodiscard]] const PlanGraph::Node& source(std::int32_t n) const {
    return graph_.nodes[index(n)];
  }

  // Of data.
  std::int32_t route_between(std::int32_t from, std::int32_t to) {
    if (images_ == nullptr) return fabric_.between(Rank(from), Rank(to), findings_);
    const std::int32_t pair = images_->add(Rank(from), Rank(to), findings_);
    return pair < 0 ? -1 : images_->own(pair);
  }

  // Signals load no links. Where data goes one way alone, they come back as fast.
  std::int32_t signal_route(std::int32_t from, std::int32_t to) {
    Findings tried(findings_.file());
    const std::int32_t route = fabric_.between(Rank(from), Rank(to), tried);
    return tried.count() == 0 ? route : fabric_.between(Rank(to), Rank(from), findings_);
  }

  // Edges and messages are in one order.
  void read_edges() {
    auto message = graph_.messages.begin();
    for (const auto& [from, to] : graph_.edges) {
      const bool is_message =
          message != graph_.messages.end() && message->from == from && message->to == to;
      const std::int32_t here = source(from).rank;
      const std::int32_t there = is_message ? (message++)->peer : source(to).rank;
      const std::int32_t route = here == there ? -1 : signal_route(here, there);
      all_.edges.push_back({.from = from, .to = to, .route = route});
      // A barrier is met as often as those who arrive at it say.
      if (source(to).kind == PlanGraph::Kind::barrier) node(to).unit = node(from).unit;
    }
  }

  void read_node(std::int32_t n) {
    const PlanGraph::Node& of = source(n);
    Node& read = node(n);
    read.block = of.block;
    if (of.op < 0) return;
    const PlanOp& op = graph_.op(plan_, n);
    if (op.loop >= 0) {
      const auto first = graph_.first_block[index(of.rank)];
      const audit::PlanThreadblock& tb =
          plan_.gpus[index(of.rank)].threadblocks[index(of.block - first)];
      const PlanOp& pipeline = tb.ops[index(op.loop)];
      read.unit =
          static_cast<double>(pipeline.unit_size) / static_cast<double>(pipeline.loop_chunks);
      read.loop = op.loop;
    }
    read.by_proxy = of.kind == PlanGraph::Kind::effect || of.kind == PlanGraph::Kind::signal_effect;
    if (graph_.moves_data(n)) read_access(n);
  }

  void read_access(std::int32_t n) {
    const std::int32_t rank = source(n).rank;
    Node& read = node(n);
    const Access access = access_of(plan_, graph_, n);
    read.moves = true;
    const bool packets = !access.writes.empty() && access.writes.back().packets;
    read.size = access.count * (packets ? 2 : 1);
    read.packets = packets || std::ranges::any_of(access.reads, &Operand::packets);
    read.adds = adds(graph_.op(plan_, n).kind) && !reads_through_switch(access);
    // A group is read, summed up and stored to byte by byte, all at once.
    const auto accesses = group_accesses_of(access, rank);
    if (!accesses.empty()) read.routes.push_back(fabric_.through_switches(accesses, findings_));
    std::int64_t local = 0;
    for (const Operand& chunk : access.reads) {
      if (chunk.switched) continue;
      if (chunk.rank == rank) {
        ++local;
      } else {
        read.routes.push_back(route_between(chunk.rank, rank));
      }
    }
    if (read.adds) read.added = std::max<std::int64_t>(0, local - 1) * access.count;
    for (const Operand& chunk : access.writes) {
      if (chunk.switched) continue;
      if (chunk.rank != rank) {
        read.routes.push_back(route_between(rank, chunk.rank));
      } else if (!read.adds && local > 0) {
        read.copied += access.count;
      }
    }
  }

  // A threadblock moves data for one operation after the other.
  void chain_blocks() {
    std::map<std::int32_t, std::int32_t> last;  // by threadblock
    for (std::size_t n = 0; n < all_.nodes.size(); ++n) {
      if (!all_.nodes[n].moves || all_.nodes[n].by_proxy) continue;
      const auto self = static_cast<std::int32_t>(n);
      const auto [previous, is_first] = last.emplace(graph_.nodes[n].block, self);
      if (!is_first) all_.edges.push_back({.from = previous->second, .to = self});
      previous->second = self;
    }
  }

  // A threadblock goes round a pipeline again when it has been round it once.
  void close_loops() {
    std::vector<bool> is_entered(all_.nodes.size(), false), is_left(all_.nodes.size(), false);
    const auto loop_of = [&](std::int32_t n) { return std::pair(node(n).block, node(n).loop); };
    for (const Edge& edge : all_.edges) {
      const bool within =
          loop_of(edge.from) == loop_of(edge.to) && edge.route < 0 && !node(edge.to).by_proxy;
      if (!within) continue;
      is_left[index(edge.from)] = true;
      is_entered[index(edge.to)] = true;
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
      turn.unit = node(both.first.front()).unit;
      const auto self = static_cast<std::int32_t>(all_.nodes.size());
      all_.nodes.push_back(turn);
      for (const std::int32_t sink : both.second) all_.edges.push_back({.from = sink, .to = self});
      for (const std::int32_t source : both.first)
        all_.edges.push_back({.from = self, .to = source, .next_round = true});
    }
  }

  // Of two pipelines of a threadblock, and of those that go round in different units, all rounds of
  // one come before the other.
  void finish_edges() {
    for (Edge& edge : all_.edges) {
      const Node& before = node(edge.from);
      const Node& after = node(edge.to);
      const bool in_turn = edge.route < 0 && before.block == after.block && before.loop >= 0 &&
                           after.loop >= 0 && before.loop != after.loop;
      edge.packets = before.packets;
      edge.all_rounds = before.unit != after.unit || in_turn;
    }
  }

  const PlanFile& plan_;
  const PlanGraph& graph_;
  Fabric& fabric_;
  ImageRoutes* images_;  // null: all ranks are there
  Findings& findings_;
  PlanOperations all_;
};

}  // namespace

PlanOperations read_operations(const PlanFile& plan, const audit::MemoryMap& memory,
                               const PlanImages& images, Fabric& fabric, ImageRoutes& routes,
                               Findings& findings) {
  const PlanGraph graph = build_plan_graph(plan, memory, false, findings, images.ends);
  if (findings.blocked()) return {};
  ImageRoutes* of_images = images.ranks.count > 1 ? &routes : nullptr;
  return PlanReader(plan, graph, fabric, of_images, findings).read();
}

}  // namespace forestcoll::simulate
