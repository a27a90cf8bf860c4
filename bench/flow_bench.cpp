// The yardstick: one pass of textbook maximum flows to every sink, by LEMON's preflow, from
// supplies of one unit at every rank, on the same fabrics.
#include <benchmark/benchmark.h>
#include <lemon/preflow.h>
#include <lemon/smart_graph.h>

#include <memory>
#include <string>
#include <vector>

#include "support/fabrics.hpp"

namespace forestcoll {
namespace {

void lemon_flows_to_all_sinks(benchmark::State& state, const Network& network) {
  lemon::SmartDigraph graph;
  lemon::SmartDigraph::ArcMap<std::int64_t> capacity(graph);
  std::vector<lemon::SmartDigraph::Node> nodes;
  for (std::size_t v = 0; v <= network.graph.node_count(); ++v) nodes.push_back(graph.addNode());
  const auto n = static_cast<std::int64_t>(network.ranks.size());
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

void add(const std::string& name, Network network) {
  auto shared = std::make_shared<Network>(std::move(network));
  benchmark::RegisterBenchmark(("lemon-flows/" + name).c_str(), [shared](benchmark::State& s) {
    lemon_flows_to_all_sinks(s, *shared);
  })->Unit(benchmark::kMillisecond);
}

const bool registered = [] {
  add("a100-x16", test::dgx_a100(16));
  add("a100-x128", test::dgx_a100(128));
  add("torus-8x8x8", test::torus({8, 8, 8}));
  add("dragonfly-1056", test::dragonfly(8, 4, 4));
  return true;
}();

}  // namespace
}  // namespace forestcoll
