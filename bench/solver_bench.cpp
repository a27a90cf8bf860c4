// The rate and the packing on named fabrics. Every answer is checked outside the timing: the rate
// against its closed form, the forest by the tests' independent checker.
//
// Figures are absolute times of one machine; compare them with the yardstick of the same run, one
// pass of LEMON's maximum flow over all sinks (flow_bench.cpp).
#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

#include "forestcoll/pack.hpp"
#include "support/fabrics.hpp"
#include "support/oracles.hpp"

namespace forestcoll {
namespace {

struct Case {
  Network network;
  Ratio algbw;  ///< allgather, in the fabric's units
};

Ratio per_root(std::int64_t numerator, std::int64_t denominator) {
  return Ratio(numerator, denominator);
}

// Each GPU must receive all but its box's share through the box's NICs.
Case a100(std::int64_t boxes) {
  return {test::dgx_a100(static_cast<std::size_t>(boxes)), per_root(200 * boxes, boxes - 1)};
}
Case h100(std::int64_t boxes, std::int64_t oversubscription) {
  return {test::h100_rails(static_cast<std::size_t>(boxes), oversubscription),
          per_root(400 * boxes, boxes - 1)};
}
// Everything that is not a rank's own enters through its links.
Case direct(Network network, std::int64_t degree) {
  const auto n = static_cast<std::int64_t>(network.ranks.size());
  return {std::move(network), per_root(degree * n, n - 1)};
}

void optimal_rate_of(benchmark::State& state, const Case& fabric) {
  const Weights weights = uniform_weights(fabric.network);
  Rate rate;
  for (auto _ : state) benchmark::DoNotOptimize(rate = optimal_rate(fabric.network, weights));
  const auto n = static_cast<std::int64_t>(fabric.network.ranks.size());
  if (Ratio(n) / rate.inverse * fabric.network.unit != fabric.algbw)
    state.SkipWithError("wrong rate");
  state.counters["flows"] = static_cast<double>(rate.statistics.flows);
}

void pack_of(benchmark::State& state, const Case& fabric) {
  const Weights weights = uniform_weights(fabric.network);
  const Rate rate = optimal_rate(fabric.network, weights);
  const Scaling scaling = scale_to_optimum(fabric.network, rate);
  std::optional<Packing> packing;
  for (auto _ : state) {
    packing.reset();
    packing = *pack(fabric.network, weights, scaling);
  }
  const std::string flaw =
      test::find_forest_flaw(fabric.network, weights, packing->scaling, packing->forest);
  if (!flaw.empty()) state.SkipWithError(flaw.c_str());
  if (packing->scaling.scale != scaling.scale) state.SkipWithError("below the optimum");
  const double edges = static_cast<double>(packing->forest.tree_count()) *
                       static_cast<double>(fabric.network.ranks.size() - 1);
  state.counters["s/edge"] = benchmark::Counter(
      edges, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  state.counters["trees"] = static_cast<double>(packing->forest.tree_count());
  state.counters["height"] = packing->forest.max_height();
  state.counters["cuts"] = static_cast<double>(packing->statistics.cuts);
  state.counters["checks"] = static_cast<double>(packing->statistics.checks);
  state.counters["repairs"] = static_cast<double>(packing->statistics.repairs);
}

void add(const std::string& name, Case fabric) {
  auto shared = std::make_shared<Case>(std::move(fabric));
  benchmark::RegisterBenchmark(("rate/" + name).c_str(), [shared](benchmark::State& s) {
    optimal_rate_of(s, *shared);
  })->Unit(benchmark::kMillisecond);
  benchmark::RegisterBenchmark(("pack/" + name).c_str(), [shared](benchmark::State& s) {
    pack_of(s, *shared);
  })->Unit(benchmark::kMillisecond);
}

const bool registered = [] {
  add("a100-x2", {test::dgx_a100(2), Ratio(1040, 3)});
  add("a100-x16", a100(16));
  add("a100-x128", a100(128));
  add("h100-x128-1to1", h100(128, 1));
  add("h100-x128-2to1", h100(128, 2));
  add("torus-8x8x8", direct(test::torus({8, 8, 8}), 6));
  add("hypercube-256", direct(test::hypercube(8), 8));
  add("fat-tree-1024", direct(test::fat_tree(16), 1));
  add("dragonfly-1056", direct(test::dragonfly(8, 4, 4), 1));
  return true;
}();

}  // namespace
}  // namespace forestcoll
