// The optimal rate, by Newton's method on minimum cuts.
//
// Let λ = 1/x be the time that a unit of everybody's data takes. A cut S (not holding every
// compute node) demands λ·B⁺(S) ≥ weight(S). With λ = p/q in integers, a set S ∌ v violates this
// for a sink v exactly if the maximum flow to v, from supplies q·weight at every compute node and
// capacities p·b, is below q·(total weight); the minimum cut is then the most violated one, and
// its own ratio weight(S)/B⁺(S) is the next λ (Dinkelbach 1967: the ratios rise strictly and end
// at the maximum). λ only grows, so capacities grow relative to the demand and sinks that hold
// stay merged. All products fit 64 bits by Network's invariant: p ≤ total weight, q ≤ ΣB.
#include "forestcoll/rate.hpp"

#include <algorithm>
#include <numeric>

#include "base/check.hpp"
#include "graph/sink_flow.hpp"
#include "solver/common/sink_order.hpp"
#include "solver/common/stop_poller.hpp"
#include "solver/rate/alike_sinks.hpp"

namespace forestcoll {
namespace {

std::int64_t total(const Weights& weights) {
  return std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
}

// Adds up a cut by definition.
Cut measure(const Network& network, const Weights& weights, const std::vector<bool>& sink_side) {
  Cut cut;
  for (std::size_t v = 0; v < sink_side.size(); ++v) {
    if (sink_side[v]) continue;
    cut.sending.push_back(NodeId(v));
    if (const Rank r = network.rank_of[NodeId(v)]; r.valid()) cut.weight += weights[r];
  }
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    const Arc arc{network.graph.tail(ArcId(a)), network.graph.head(ArcId(a))};
    if (!sink_side[arc.tail.index()] && sink_side[arc.head.index()]) {
      cut.exit += network.capacity[ArcId(a)];
    }
  }
  return cut;
}

// The best of the cuts around one compute node: what must enter it, and what must leave it.
std::vector<bool> best_single_node_cut(const Network& network, const Weights& weights) {
  const std::size_t n = network.graph.node_count();
  std::vector<Capacity> in(n, 0), out(n, 0);
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    in[network.graph.head(ArcId(a)).index()] += network.capacity[ArcId(a)];
    out[network.graph.tail(ArcId(a)).index()] += network.capacity[ArcId(a)];
  }
  const std::int64_t all = total(weights);
  Ratio best = -1;
  NodeId best_node;
  bool best_enters = true;
  for (std::size_t r = 0; r < network.ranks.size(); ++r) {
    const NodeId v = network.ranks[r];
    // A node need not be entered, or left, where nothing has to cross.
    if (const std::int64_t data = all - weights[Rank(r)]; data > 0) {
      const Ratio enters(data, in[v.index()]);
      if (best < enters) std::tie(best, best_node, best_enters) = std::tuple(enters, v, true);
    }
    if (weights[Rank(r)] > 0) {
      const Ratio leaves(weights[Rank(r)], out[v.index()]);
      if (best < leaves) std::tie(best, best_node, best_enters) = std::tuple(leaves, v, false);
    }
  }
  std::vector<bool> sink_side(n, !best_enters);
  sink_side[best_node.index()] = best_enters;
  return sink_side;
}

}  // namespace

Weights uniform_weights(const Network& network) {
  return Weights(network.ranks.size(), 1);
}

Weights shares(const Network& network) {
  return network.weight.empty() ? uniform_weights(network) : network.weight;
}

Weights single_root(const Network& network, Rank root) {
  Weights weights(network.ranks.size(), 0);
  weights[root] = 1;
  return weights;
}

Rate optimal_rate(const Network& network, const Weights& weights) {
  return optimal_rate(network, weights, {});
}

Rate optimal_rate(const Network& network, const Weights& weights,
                  std::span<const std::vector<NodeId>> known_cuts, const std::stop_token& stop) {
  FORESTCOLL_CHECK(network.ranks.size() >= 2, "a rate needs two compute nodes");
  const std::int64_t all = total(weights);
  const std::size_t n = network.graph.node_count();
  const Int128 capacities =
      std::accumulate(network.capacity.begin(), network.capacity.end(), std::int64_t{0});
  FORESTCOLL_CHECK(all > 0 && capacities * all < Int128{1} << 62, "exact arithmetic in 64 bits");

  Rate rate;
  rate.bottleneck = measure(network, weights, best_single_node_cut(network, weights));
  rate.inverse = Ratio(rate.bottleneck.weight, rate.bottleneck.exit);
  for (const std::vector<NodeId>& sending : known_cuts) {
    std::vector<bool> sink_side(n, true);
    for (const NodeId v : sending) sink_side[v.index()] = false;
    Cut cut = measure(network, weights, sink_side);
    const Ratio inverse(cut.weight, cut.exit);
    if (!(rate.inverse < inverse)) continue;
    rate.bottleneck = std::move(cut);
    rate.inverse = inverse;
  }

  graph::SinkFlow flow(network.graph);
  std::vector<std::int64_t> capacity(network.graph.arc_count());
  std::vector<std::int64_t> supply(n, 0);
  solver::AlikeSinks holding(network, weights);
  const auto load = [&] {
    for (std::size_t a = 0; a < capacity.size(); ++a) {
      capacity[a] = network.capacity[ArcId(a)] * rate.inverse.num();
    }
    for (std::size_t r = 0; r < network.ranks.size(); ++r) {
      supply[network.ranks[r].index()] = weights[Rank(r)] * rate.inverse.den();
    }
    flow.reset(capacity, supply);
    holding.merge_again(flow);
  };

  load();
  solver::StopPoller looks(network, stop);
  for (const NodeId sink : solver::locality_order(network.graph, network.capacity, network.ranks,
                                                  network.ranks.front())) {
    if (flow.is_merged(sink)) continue;
    if (looks.stopped_before_sink()) {
      rate.optimal = false;
      break;
    }
    for (++rate.statistics.flows; !flow.send(sink, all * rate.inverse.den());
         ++rate.statistics.flows) {
      rate.bottleneck = measure(network, weights, flow.tight_sink_side(sink));
      const Ratio next(rate.bottleneck.weight, rate.bottleneck.exit);
      FORESTCOLL_CHECK(rate.inverse < next, "Newton's method must rise");
      rate.inverse = next;
      ++rate.statistics.newton_steps;
      load();
    }
    holding.merge(flow, sink);
  }
  return rate;
}

}  // namespace forestcoll
