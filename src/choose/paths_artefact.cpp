#include "choose/paths_artefact.hpp"

#include <algorithm>
#include <utility>

#include "choose/artefact.hpp"
#include "choose/settle.hpp"
#include "emit/flows.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/stopwatch.hpp"
#include "forestcoll/topology.hpp"
#include "schedule/alltoall/alltoall_schedule.hpp"
#include "schedule/mscclpp/plan.hpp"
#include "solver/alltoall/routes/route_alltoall.hpp"

namespace forestcoll {

ParsedDemand demand_of(const CompileOptions& options, const Network& network) {
  if (options.demand) return *options.demand;
  const SynthesizeOptions& asked = options.synthesis;
  return demand_of(asked.collective, network.ranks.size(), asked.root);
}

namespace choose {
namespace {

class Writer {
 public:
  Writer(const Fabric& fabric, const CompileOptions& options, Compilation& result,
         CompileSeconds& seconds)
      : fabric_(fabric),
        demand_(demand_of(options, fabric.network)),
        options_(options),
        result_(result),
        paths_(*result.paths),
        seconds_(seconds) {}

  Expected<void> run() {
    if (auto done = write(); !done) return done;
    auto verdict = verify(result_.text, "<schedule>", &fabric_.topology, runtime_of(options_));
    seconds_.verify += watch_.restart();
    if (!verdict) {
      result_.verdict.findings = verdict.errors();
      return {};
    }
    result_.verdict = *std::move(verdict);
    forest().algbw = result_.chosen.synthesis.allowed = result_.verdict.algbw.value_or(Ratio(0));
    return {};
  }

 private:
  [[nodiscard]] CollectiveForest& forest() const { return result_.chosen.synthesis.forest; }

  Expected<void> write() {
    if (options_.format == Format::msccl) return write_xml();
    if (options_.format == Format::mscclpp) return write_plan();
    return write_flows();
  }

  Expected<void> write_xml() {
    const auto schedule = lower_alltoall(paths_.routes, fabric_.network.rank_of, options_.lowering);
    if (!schedule) return schedule.errors();
    paths_.scratch = schedule->max_scratch();
    seconds_.lower += watch_.restart();
    result_.text = to_msccl_xml(*schedule, forest(), fabric_.topology, options_.xml);
    seconds_.emit += watch_.restart();
    return {};
  }

  Expected<void> write_plan() {
    const auto plan = paths_plan(fabric_, paths_.routes, options_, kEnoughThreadblocks);
    if (!plan) return plan.errors();
    for (const PlanGpu& gpu : plan->gpus) {
      paths_.scratch = std::max(paths_.scratch, gpu.scratch_chunks);
    }
    seconds_.lower += watch_.restart();
    result_.text = to_mscclpp_json(*plan, plan_name(fabric_.topology, forest()));
    seconds_.emit += watch_.restart();
    return {};
  }

  Expected<void> write_flows() {
    const auto algbw = alltoall_algbw(demand_, paths_.routes.rate);
    const auto in_rounds = alltoall_algbw(demand_, paths_.routes.rate_in_rounds);
    if (!algbw) return algbw.errors();
    if (!in_rounds) return in_rounds.errors();
    paths_.algbw_in_rounds = *in_rounds;
    const Demand& demand = demand_.demand;
    result_.text =
        to_flows_json(paths_.routes, demand,
                      {.own_bytes = demand.is_of_blocks() ? 0 : demand_.total - demand.total(),
                       .algbw = *algbw,
                       .algbw_in_rounds = *in_rounds,
                       .optimum = forest().optimum},
                      fabric_.topology);
    seconds_.emit += watch_.restart();
    return {};
  }

  const Fabric& fabric_;
  const ParsedDemand demand_;
  const CompileOptions& options_;
  Compilation& result_;
  CompiledPaths& paths_;
  CompileSeconds& seconds_;
  Stopwatch watch_;
};

}  // namespace

Parts parts_of(const CompileOptions& options) {
  const TreesPerRoot& asked = options.synthesis.trees_per_root;
  if (asked.mode == TreesPerRoot::Mode::fixed) return {asked.value, asked.value};
  return {std::nullopt, asked.value, asked.mode == TreesPerRoot::Mode::best_up_to};
}

Expected<ExecutionPlan> paths_plan(const Fabric& fabric, const AlltoallRoutes& routes,
                                   const CompileOptions& asked, std::int32_t threadblocks) {
  const PlanOptions options = plan_options(asked);
  const Demand demand = demand_of(asked, fabric.network).demand;
  const auto lowered = [&](const AlltoallRoutes& in_parts) {
    return lower_paths_to_plan(in_parts, fabric.network.rank_of, boxes_of_ranks(fabric.topology),
                               demand, options);
  };
  const std::int64_t enough = std::min(threadblocks, options.max_threadblocks);
  const auto pairs = static_cast<std::int64_t>(fabric.network.ranks.size()) / 2;
  std::int64_t times = 1;
  while (!parts_of(asked).given && pairs * routes.k * times < enough) times *= 2;
  if (times > 1) {
    auto plan = lowered(in_finer_parts(routes, times));
    if (plan) return plan;
  }
  return lowered(routes);
}

Expected<Ratio> alltoall_algbw(const ParsedDemand& demand, const Ratio& rate) {
  const auto algbw = checked_mul(rate, Ratio(demand.total, demand.demand.buffers()));
  if (algbw) return *algbw;
  return make_error(Code::E14, "the exact algbw does not fit 64 bits",
                    "give the demand in a larger unit, or round the bandwidths to a coarser grid "
                    "with `quantize`");
}

Expected<Compilation> write_paths(const Fabric& fabric, const CompileOptions& options,
                                  const Ratio& optimum, AlltoallRoutes routes,
                                  CompileSeconds& seconds) {
  Compilation result{.options = options};
  CollectiveForest& forest = result.chosen.synthesis.forest;
  forest.collective = options.synthesis.collective;
  forest.k = routes.k;
  forest.optimum = optimum;
  result.paths.emplace().routes = std::move(routes);
  const auto done = Writer(fabric, options, result, seconds).run();
  if (!done) return done.errors();
  return result;
}

}  // namespace choose
}  // namespace forestcoll
