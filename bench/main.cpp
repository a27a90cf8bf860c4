// forestcoll_bench [--large] [--benchmark_filter=REGEX …]
//
//   rate/FABRIC      the optimal rate
//   pack/FABRIC      a forest at that rate, as the library does it by itself
//   generic/FABRIC   the same without looking for symmetries
//   lemon/FABRIC, boost/FABRIC   the yardstick of the same run: see flow_bench.cpp
//
// All times are processor times of one thread. --large adds what takes a minute or gigabytes.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "solver_bench.hpp"

namespace forestcoll::bench {
namespace {

void register_all(bool large) {
  for (const Case& each : all_cases()) {
    const auto fabric = std::make_shared<Fabric>(each);
    const auto add = [&](const std::string& stage, When when, auto&& measure) {
      if (when == When::never || (when == When::large && !large)) return;
      benchmark::RegisterBenchmark((stage + "/" + each.name).c_str(), measure)
          ->Unit(benchmark::kMillisecond)
          ->MeasureProcessCPUTime();
    };
    add("rate", each.rate, [fabric](benchmark::State& state) { rate_of(state, *fabric); });
    add("pack", each.pack, [fabric](benchmark::State& state) { pack_of(state, *fabric, true); });
    add("generic", each.generic,
        [fabric](benchmark::State& state) { pack_of(state, *fabric, false); });
    add("lemon", each.yardstick,
        [fabric](benchmark::State& state) { lemon_flows_of(state, *fabric); });
    add("boost", each.yardstick,
        [fabric](benchmark::State& state) { boost_flows_of(state, *fabric); });
  }
}

}  // namespace
}  // namespace forestcoll::bench

int main(int argc, char** argv) {
  char** const end = argv + argc;
  char** const kept = std::remove(argv + 1, end, std::string_view("--large"));
  argc = static_cast<int>(kept - argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  forestcoll::bench::register_all(kept != end);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
