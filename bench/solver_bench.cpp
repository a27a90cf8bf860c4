// The rate and the packing. Every answer is checked outside the timing.
#include "solver_bench.hpp"

#include <benchmark/benchmark.h>

#include <optional>
#include <string>

#include "check_forest.hpp"
#include "memory.hpp"

namespace forestcoll::bench {
namespace {

// Reading every edge of a forest over 16,384 ranks takes minutes.
constexpr std::size_t kRanksReadInFull = 2000;

void add_counters(benchmark::State& state, Fabric& fabric, const Packing& packing) {
  const auto count = [&](const char* name, auto value) {
    state.counters[name] = static_cast<double>(value);
  };
  const Forest& forest = packing.forest;
  const double edges =
      static_cast<double>(forest.tree_count()) * static_cast<double>(forest.rank_count() - 1);
  state.counters["s/edge"] = benchmark::Counter(
      edges, benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
  count("edges", edges);
  count("k", packing.scaling.k);
  count("trees", forest.tree_count());
  count("base_trees", forest.base_trees().size());
  count("height", forest.max_height());
  count("mean_height", forest.mean_height());
  count("least_height", height_lower_bound(fabric.network(), fabric.weights(), packing.scaling));
  count("cuts", packing.statistics.cuts);
  count("checks", packing.statistics.checks);
  count("repairs", packing.statistics.repairs);
}

}  // namespace

void rate_of(benchmark::State& state, Fabric& fabric) {
  const Network& network = fabric.network();
  const Weights& weights = fabric.weights();
  Rate rate;
  for (auto _ : state) benchmark::DoNotOptimize(rate = optimal_rate(network, weights));
  const auto n = static_cast<std::int64_t>(network.ranks.size());
  if (Ratio(n) / rate.inverse * network.unit != fabric.allgather())
    state.SkipWithError("wrong rate");
  state.counters["ranks"] = static_cast<double>(n);
  state.counters["flows"] = static_cast<double>(rate.statistics.flows);
}

void pack_of(benchmark::State& state, Fabric& fabric, bool symmetry) {
  const Scaling& scaling = fabric.scaling();
  std::optional<Packing> packing;
  std::size_t most = 0, held = 0;
  for (auto _ : state) {
    state.PauseTiming();
    packing.reset();
    const std::size_t before = live_bytes();
    forget_peak();
    state.ResumeTiming();
    packing = *pack(fabric.network(), fabric.weights(), scaling, {.symmetry = symmetry});
    most = peak_bytes() - before;
    held = live_bytes() - before;
  }
  if (packing->scaling.scale != scaling.scale) state.SkipWithError("below the optimum");
  const auto find =
      packing->forest.rank_count() > kRanksReadInFull ? find_flaw_by_orbits : find_flaw;
  const std::string flaw =
      find(fabric.network(), fabric.weights(), packing->scaling, packing->forest);
  if (!flaw.empty()) state.SkipWithError(flaw.c_str());
  state.counters["ranks"] = static_cast<double>(fabric.network().ranks.size());
  state.counters["bytes"] = static_cast<double>(most);
  state.counters["forest_bytes"] = static_cast<double>(held);
  add_counters(state, fabric, *packing);
}

}  // namespace forestcoll::bench
