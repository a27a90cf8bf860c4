#include "choose/alltoall_artefact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "choose/settle.hpp"
#include "emit/alltoall.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/stopwatch.hpp"
#include "forestcoll/topology.hpp"
#include "schedule/alltoall/alltoall_schedule.hpp"
#include "schedule/mscclpp/plan.hpp"
#include "solver/alltoall/routes/route_alltoall.hpp"

namespace forestcoll::choose {
namespace {

// Of a plan, so that copying within a box does not hold up its links: in the model, eight A100
// need a quarter of the time that they do with as few as they have pairs of neighbours.
constexpr std::int32_t kPlanThreadblocks = 32;

std::int64_t crossing_bytes(const Demand& demand) {
  std::int64_t sum = 0;
  for (std::size_t s = 0; s < demand.ranks(); ++s) {
    for (std::size_t t = 0; t < demand.ranks(); ++t) sum += demand(Rank(s), Rank(t));
  }
  return sum;
}

class Writer {
 public:
  Writer(const Fabric& fabric, const ParsedDemand& demand, const AlltoallCompileOptions& options,
         AlltoallCompilation& result, AlltoallSeconds& seconds)
      : fabric_(fabric), demand_(demand), options_(options), result_(result), seconds_(seconds) {}

  Expected<void> run() {
    if (auto done = write(); !done) return done;
    auto verdict = verify(result_.text, "<schedule>", &fabric_.topology,
                          {.target = options_.lowering.target, .sms = options_.sms});
    seconds_.verify += watch_.restart();
    if (!verdict) {
      result_.verdict.findings = verdict.errors();
      return {};
    }
    result_.verdict = *std::move(verdict);
    result_.algbw = result_.verdict.algbw.value_or(Ratio(0));
    return {};
  }

 private:
  Expected<void> write() {
    switch (options_.format) {
      case AlltoallFormat::msccl:
        return write_xml();
      case AlltoallFormat::mscclpp:
        return write_plan();
      case AlltoallFormat::flows:
      case AlltoallFormat::none:
        break;
    }
    return write_flows();
  }

  Expected<void> write_xml() {
    const auto schedule =
        lower_alltoall(result_.routes, fabric_.network.rank_of, options_.lowering);
    if (!schedule) return schedule.errors();
    result_.scratch = schedule->max_scratch();
    seconds_.lower += watch_.restart();
    result_.text = to_alltoall_xml(*schedule, result_.optimum, fabric_.topology, options_.xml);
    seconds_.emit += watch_.restart();
    return {};
  }

  Expected<void> write_plan() {
    const auto plan =
        alltoall_plan(fabric_, result_.routes, !options_.k, plan_options(as_allgather(options_)));
    if (!plan) return plan.errors();
    for (const PlanGpu& gpu : plan->gpus) {
      result_.scratch = std::max(result_.scratch, gpu.scratch_chunks);
    }
    seconds_.lower += watch_.restart();
    const std::string name =
        fmt::format("forestcoll-{}-alltoall-k{}", fabric_.topology.name, result_.routes.k);
    result_.text = to_mscclpp_json(*plan, name);
    seconds_.emit += watch_.restart();
    return {};
  }

  Expected<void> write_flows() {
    const auto algbw = alltoall_algbw(demand_, result_.routes.rate);
    const auto in_rounds = alltoall_algbw(demand_, result_.routes.rate_in_rounds);
    if (!algbw) return algbw.errors();
    if (!in_rounds) return in_rounds.errors();
    result_.algbw_in_rounds = *in_rounds;
    const Demand& demand = demand_.demand;
    result_.text = to_flows_json(
        result_.routes, demand,
        {.own_bytes = demand.is_uniform() ? 0 : demand_.total - crossing_bytes(demand),
         .algbw = *algbw,
         .algbw_in_rounds = *in_rounds,
         .optimum = result_.optimum},
        fabric_.topology);
    seconds_.emit += watch_.restart();
    return {};
  }

  const Fabric& fabric_;
  const ParsedDemand& demand_;
  const AlltoallCompileOptions& options_;
  AlltoallCompilation& result_;
  AlltoallSeconds& seconds_;
  Stopwatch watch_;
};

}  // namespace

CompileOptions as_allgather(const AlltoallCompileOptions& options) {
  CompileOptions result;
  result.synthesis.collective = Collective::allgather;
  result.synthesis.packing.stop = options.solver.stop;
  if (options.k) result.tree_count = TreeCount::as_given;
  result.format = options.format == AlltoallFormat::mscclpp ? Format::mscclpp
                  : options.format == AlltoallFormat::msccl ? Format::msccl
                                                            : Format::none;
  result.lowering.target = options.lowering.target;
  result.lowering.max_threadblocks = options.lowering.max_threadblocks;
  result.lowering.placement = options.in_place ? Placement::in_place : Placement::out_of_place;
  result.lowering.instances = options.lowering.instances;
  if (options.lowering.merge) result.lowering.threadblocks = ThreadblockUse::merge;
  result.xml = options.xml;
  result.sms = options.sms;
  return result;
}

Expected<ExecutionPlan> alltoall_plan(const Fabric& fabric, const AlltoallRoutes& routes,
                                      bool finer, const PlanOptions& options) {
  const auto lowered = [&](const AlltoallRoutes& in_parts) {
    return lower_alltoall_to_plan(in_parts, fabric.network.rank_of, boxes_of_ranks(fabric.topology),
                                  options);
  };
  const std::int64_t enough = std::min(kPlanThreadblocks, options.max_threadblocks);
  const auto pairs = static_cast<std::int64_t>(fabric.network.ranks.size()) / 2;
  std::int64_t times = 1;
  while (finer && pairs * routes.k * times < enough) times *= 2;
  if (times > 1) {
    auto plan = lowered(in_finer_parts(routes, times));
    if (plan) return plan;
  }
  return lowered(routes);
}

Expected<Ratio> alltoall_algbw(const ParsedDemand& demand, const Ratio& rate) {
  const auto ranks = static_cast<std::int64_t>(demand.demand.ranks());
  const auto algbw = checked_mul(rate, Ratio(demand.total, ranks));
  if (algbw) return *algbw;
  return make_error(Code::E14, "the exact algbw of this all-to-all does not fit 64 bits",
                    "give the demand in a larger unit, or round the bandwidths to a coarser grid "
                    "with `quantize`");
}

Expected<AlltoallCompilation> write_alltoall(const Fabric& fabric, const ParsedDemand& demand,
                                             const AlltoallCompileOptions& options,
                                             const Ratio& optimum, AlltoallRoutes routes,
                                             AlltoallSeconds& seconds) {
  AlltoallCompilation result;
  result.optimum = optimum;
  result.routes = std::move(routes);
  const auto done = Writer(fabric, demand, options, result, seconds).run();
  if (!done) return done.errors();
  return result;
}

}  // namespace forestcoll::choose
