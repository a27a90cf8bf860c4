// The yardstick: what one test of one rate costs with a good library. Figures of other machines
// can be compared by their ratio to it.
#include <benchmark/benchmark.h>
#include <lemon/preflow.h>
#include <lemon/smart_graph.h>

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/push_relabel_max_flow.hpp>
#include <vector>

#include "solver_bench.hpp"

namespace forestcoll::bench {

// Arcs are as many times their capacity as there are ranks: at the least rate at which every
// fabric of ours carries the demand.
void lemon_flows_of(benchmark::State& state, Fabric& fabric) {
  const Network& network = fabric.network();
  const auto n = static_cast<std::int64_t>(network.ranks.size());
  lemon::SmartDigraph graph;
  lemon::SmartDigraph::ArcMap<std::int64_t> capacity(graph);
  std::vector<lemon::SmartDigraph::Node> nodes;
  for (std::size_t v = 0; v <= network.graph.node_count(); ++v) nodes.push_back(graph.addNode());
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    const Arc arc = network.graph.arcs()[a];
    capacity[graph.addArc(nodes[arc.tail.index()], nodes[arc.head.index()])] =
        network.capacity[ArcId(a)] * n;
  }
  const auto source = nodes.back();
  for (const NodeId v : network.ranks) capacity[graph.addArc(source, nodes[v.index()])] = 1;
  for (auto _ : state) {
    for (const NodeId v : network.ranks) {
      lemon::Preflow<lemon::SmartDigraph, lemon::SmartDigraph::ArcMap<std::int64_t>> flow(
          graph, capacity, source, nodes[v.index()]);
      flow.runMinCut();
      if (flow.flowValue() != n) state.SkipWithError("a sink does not receive everything");
    }
  }
}

void boost_flows_of(benchmark::State& state, Fabric& fabric) {
  using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
  using Graph = boost::adjacency_list<
      boost::vecS, boost::vecS, boost::directedS, boost::no_property,
      boost::property<
          boost::edge_capacity_t, std::int64_t,
          boost::property<boost::edge_residual_capacity_t, std::int64_t,
                          boost::property<boost::edge_reverse_t, Traits::edge_descriptor>>>>;
  const Network& network = fabric.network();
  const auto n = static_cast<std::int64_t>(network.ranks.size());
  Graph graph(network.graph.node_count() + 1);
  const auto add = [&](std::size_t tail, std::size_t head, std::int64_t capacity) {
    const auto arc = boost::add_edge(tail, head, graph).first;
    const auto back = boost::add_edge(head, tail, graph).first;
    boost::put(boost::edge_capacity, graph, arc, capacity);
    boost::put(boost::edge_capacity, graph, back, 0);
    boost::put(boost::edge_reverse, graph, arc, back);
    boost::put(boost::edge_reverse, graph, back, arc);
  };
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    const Arc arc = network.graph.arcs()[a];
    add(arc.tail.index(), arc.head.index(), network.capacity[ArcId(a)] * n);
  }
  const std::size_t source = network.graph.node_count();
  for (const NodeId v : network.ranks) add(source, v.index(), 1);
  for (auto _ : state) {
    for (const NodeId v : network.ranks) {
      if (boost::push_relabel_max_flow(graph, source, v.index()) != n) {
        state.SkipWithError("a sink does not receive everything");
      }
    }
  }
}

}  // namespace forestcoll::bench
