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

Expected<Lowered> lower_paths(const Fabric& fabric, const AlltoallRoutes& routes,
                              const CompileOptions& options) {
  if (options.format == Format::mscclpp) {
    auto plan = paths_plan(fabric, routes, options, kEnoughThreadblocks);
    if (!plan) return plan.errors();
    return Lowered(*std::move(plan));
  }
  if (options.format != Format::msccl) return Lowered();
  auto schedule = lower_alltoall(routes, fabric.network.rank_of, options.lowering);
  if (!schedule) return schedule.errors();
  return Lowered(*std::move(schedule));
}

std::int64_t most_scratch(const Lowered& lowered) {
  if (const auto* schedule = std::get_if<Schedule>(&lowered)) return schedule->max_scratch();
  const auto* plan = std::get_if<ExecutionPlan>(&lowered);
  return plan == nullptr ? 0 : scratch_of(*plan);
}

Expected<std::string> emit_flows(CompiledPaths& paths, const Ratio& optimum,
                                 const ParsedDemand& parsed, const Topology& topology) {
  const auto algbw = alltoall_algbw(parsed, paths.routes.rate);
  if (!algbw) return algbw.errors();
  // What does not fit is left out.
  const auto in_rounds = alltoall_algbw(parsed, paths.routes.rate_in_rounds);
  paths.algbw_in_rounds = in_rounds ? *in_rounds : Ratio(0);
  const Demand& demand = parsed.demand;
  return to_flows_json(paths.routes, demand,
                       {.own_bytes = demand.is_of_blocks() ? 0 : parsed.total - demand.total(),
                        .algbw = *algbw,
                        .algbw_in_rounds = *paths.algbw_in_rounds,
                        .optimum = optimum},
                       topology);
}

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

std::int64_t scratch_of(const ExecutionPlan& plan) {
  std::int64_t most = 0;
  for (const PlanGpu& gpu : plan.gpus) most = std::max(most, gpu.scratch_chunks);
  return most;
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
  CompiledPaths& paths = result.paths.emplace();
  paths.routes = std::move(routes);
  Stopwatch watch;
  const auto lowered = lower_paths(fabric, paths.routes, options);
  if (!lowered) return lowered.errors();
  paths.scratch = most_scratch(*lowered);
  seconds.lower += watch.restart();
  auto text = std::holds_alternative<std::monostate>(*lowered)
                  ? emit_flows(paths, optimum, demand_of(options, fabric.network), fabric.topology)
                  : emit_forest(forest, *lowered, fabric.topology, options);
  if (!text) return text.errors();
  result.text = *std::move(text);
  seconds.emit += watch.restart();
  verify_text(result.text, fabric.topology, result);
  seconds.verify += watch.restart();
  forest.algbw = result.chosen.synthesis.allowed = result.verdict.algbw.value_or(Ratio(0));
  return result;
}

}  // namespace choose
}  // namespace forestcoll
