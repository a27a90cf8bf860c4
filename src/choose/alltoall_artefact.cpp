#include "choose/alltoall_artefact.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

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

  // Where k is left open, in as many more parts as give enough threadblocks something to do; not
  // where that does not fit.
  [[nodiscard]] Expected<ExecutionPlan> plan_of(const AlltoallRoutes& routes,
                                                const PlanOptions& options) const {
    const auto lowered = [&](const AlltoallRoutes& in_parts) {
      return lower_alltoall_to_plan(in_parts, fabric_.network.rank_of,
                                    boxes_of_ranks(fabric_.topology), options);
    };
    const std::int64_t enough = std::min(kPlanThreadblocks, options.max_threadblocks);
    const auto pairs = static_cast<std::int64_t>(demand_.demand.ranks()) / 2;
    std::int64_t times = 1;
    while (!options_.k && pairs * routes.k * times < enough) times *= 2;
    if (times > 1) {
      auto plan = lowered(in_finer_parts(routes, times));
      if (plan) return plan;
    }
    return lowered(routes);
  }

  Expected<void> write_plan() {
    PlanOptions options;
    options.in_place = options_.in_place;
    options.max_threadblocks = options_.lowering.max_threadblocks;
    options.min_bytes = options_.xml.min_bytes;
    options.max_bytes = options_.xml.max_bytes;
    const auto plan = plan_of(result_.routes, options);
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
