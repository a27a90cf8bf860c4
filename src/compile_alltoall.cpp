#include "forestcoll/compile_alltoall.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "choose/settle.hpp"
#include "emit/alltoall.hpp"
#include "forestcoll/alltoall_baseline.hpp"
#include "forestcoll/boxes.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/mscclpp.hpp"
#include "forestcoll/simulate.hpp"
#include "forestcoll/stopwatch.hpp"
#include "solver/alltoall/route_alltoall.hpp"

namespace forestcoll {
namespace {

// Where k is not given: parts of all pairs that are tried, and what a larger k has to gain.
constexpr std::size_t kPartsTried = std::size_t{1} << 13;
const Ratio kGain(101, 100);
// Where other paths are compared: paths at most, and operations of a simulation.
constexpr std::int64_t kMostPathsCompared = std::int64_t{1} << 15;
constexpr std::int64_t kMostEvents = 5'000'000;
// Of a plan, so that copying within a box does not hold up its links: in the model, eight A100
// need a quarter of the time that they do with as few as they have pairs of neighbours.
constexpr std::int32_t kPlanThreadblocks = 32;

Diagnostic unequal_amounts() {
  return make_error("T09", "MSCCL XML and plans cannot say that pairs have unequal amounts",
                    "write the paths with --format flows");
}

Diagnostic rate_too_large() {
  return make_error("E14", "the exact algbw of this all-to-all does not fit 64 bits",
                    "give the demand in a larger unit, or round the bandwidths to a coarser grid "
                    "with --quantize");
}

// One block for every pair, where all have as much.
std::optional<ParsedDemand> equal_blocks(const Demand& demand) {
  const auto ranks = static_cast<std::int64_t>(demand.ranks());
  const std::int64_t amount = demand(Rank(0), Rank(1));
  for (std::size_t s = 0; s < demand.ranks(); ++s) {
    for (std::size_t t = 0; t < demand.ranks(); ++t) {
      if (s != t && demand(Rank(s), Rank(t)) != amount) return std::nullopt;
    }
  }
  return ParsedDemand{Demand::uniform(demand.ranks()), ranks * ranks};
}

std::int64_t crossing_bytes(const Demand& demand) {
  std::int64_t sum = 0;
  for (std::size_t s = 0; s < demand.ranks(); ++s) {
    for (std::size_t t = 0; t < demand.ranks(); ++t) sum += demand(Rank(s), Rank(t));
  }
  return sum;
}

// What runs on GPUs, which choose the links.
bool is_program(AlltoallFormat format) {
  return format == AlltoallFormat::msccl || format == AlltoallFormat::mscclpp;
}

class AlltoallCompiler {
 public:
  AlltoallCompiler(const Fabric& fabric, const ParsedDemand& demand,
                   const AlltoallCompileOptions& options)
      : fabric_(fabric), demand_(demand), options_(options) {}

  Expected<AlltoallCompilation> run() {
    auto result = make_first();
    if (!result) return result;
    // 3. Other paths, and other rounds, that may take less time.
    if (is_ours() && options_.bytes) {
      take_fastest(*result);
    } else if (is_ours()) {
      shorten_rounds(*result);
    }
    finish(*result);
    return result;
  }

  Expected<std::vector<AlltoallCompilation>> run_all() {
    auto first = make_first();
    if (!first) return first.errors();
    std::vector<AlltoallCompilation> all = {*first};
    if (is_ours()) {
      for (AlltoallCompilation& other : others_of(*first)) all.push_back(std::move(other));
      shorten_rounds(*first);
      if (first->text != all.front().text) all.insert(all.begin(), *first);
    }
    finish(all.front());
    return all;
  }

 private:
  // Of a rate per unit of demand.
  [[nodiscard]] std::optional<Ratio> in_algbw(const Ratio& rate) const {
    const auto ranks = static_cast<std::int64_t>(demand_.demand.ranks());
    return checked_mul(rate, Ratio(demand_.total, ranks));
  }

  [[nodiscard]] bool is_ours() const { return options_.algorithm.empty(); }

  Expected<AlltoallCompilation> make_first() {
    if (by_peers() && has_relays(fabric_.topology)) return choose::relays_in_schedule();
    // 1. What is the best possible?
    if (options_.proof == nullptr) {
      auto optimum = alltoall_optimum(fabric_.network, demand_.demand, options_.solver);
      if (!optimum) return optimum.errors();
      proof_ = std::move(optimum->proof);
    } else {
      proof_ = *options_.proof;
    }
    const auto most = in_algbw(proof_.at_most);
    if (!most) return rate_too_large();
    most_ = *most;
    seconds_.optimum = watch_.restart();
    // 2. The schedule for one k, or for the best of several.
    return options_.k || !is_ours() ? make(options_.k.value_or(1)) : best_of_several();
  }

  void finish(AlltoallCompilation& result) {
    if (is_ours() && by_peers() && result.algbw < most_) {
      result.algbw_by_links = rate_by_links(result.routes.k);
    }
    if (tried_.empty()) tried_.push_back({result.routes.k, result.algbw});
    result.tried = std::move(tried_);
    result.seconds = seconds_;
    result.proof = std::move(proof_);
  }

  // What does not fit any more ends the search: larger k fit even less.
  Expected<AlltoallCompilation> best_of_several() {
    const std::size_t pairs = demand_.demand.ranks() * demand_.demand.ranks();
    auto best = make(1);
    if (!best) return best;
    tried_.push_back({1, best->algbw});
    for (std::int64_t k = 2; k <= options_.max_k; k *= 2) {
      const bool is_enough = best->algbw >= most_ || is_stopped();
      if (is_enough || pairs * static_cast<std::size_t>(k) > kPartsTried) break;
      auto next = make(k);
      if (!next) break;
      tried_.push_back({k, next->algbw});
      const auto enough = checked_mul(best->algbw, kGain);
      if (enough && next->algbw >= *enough) best = std::move(next);
    }
    return best;
  }

  [[nodiscard]] bool by_peers() const { return is_program(options_.format); }

  Expected<AlltoallCompilation> make(std::int64_t k) {
    watch_.restart();
    auto routes = is_ours() ? our_routes(k, by_peers() ? AlltoallHops::peers : AlltoallHops::links)
                            : baseline_routes(options_.algorithm, k);
    seconds_.route += watch_.restart();
    if (!routes) return routes.errors();
    return write(*std::move(routes));
  }

  // Of what stops where baselines do, what leaves more of the same rate in rounds.
  void shorten_rounds(AlltoallCompilation& best) {
    if (by_peers() || !may_compare(best.routes)) return;
    for (const BaselineInfo& info : alltoall_baselines()) {
      if (best.routes.rate_in_rounds >= best.routes.rate || is_stopped()) return;
      const std::string name(info.name);
      auto routes = with_stops_of(name, best.routes);
      if (!routes || routes->rate < best.routes.rate) continue;
      if (routes->rate_in_rounds <= best.routes.rate_in_rounds) continue;
      auto other = write(*std::move(routes));
      if (!other || !other->verdict.ok) continue;
      best = *std::move(other);
      best.stops = name;
    }
  }

  void take_fastest(AlltoallCompilation& best) {
    best.seconds_at_bytes = seconds_of(best);
    if (!best.seconds_at_bytes) return;
    for (AlltoallCompilation& other : others_of(best)) {
      other.seconds_at_bytes = seconds_of(other);
      if (!other.seconds_at_bytes || *other.seconds_at_bytes >= *best.seconds_at_bytes) continue;
      best = std::move(other);
    }
  }

  // What may take less time than the first: the same paths in few rounds, the stops of baselines,
  // and baselines themselves. No two are the same.
  std::vector<AlltoallCompilation> others_of(const AlltoallCompilation& first) {
    std::vector<AlltoallCompilation> others;
    if (!may_compare(first.routes)) return others;
    const auto add = [&](Expected<AlltoallRoutes> routes, const std::string& stops, bool combined) {
      if (!routes || is_stopped()) return;
      auto other = write(*std::move(routes));
      if (!other || !other->verdict.ok) return;
      const auto is_same = [&](const AlltoallCompilation& known) {
        return known.text == other->text;
      };
      if (is_same(first) || std::ranges::any_of(others, is_same)) return;
      other->stops = stops;
      other->combined = combined;
      others.push_back(*std::move(other));
    };
    const std::int64_t k = first.routes.k;
    if (!by_peers()) add(in_few_rounds(first.routes), first.stops, true);
    for (const BaselineInfo& info : alltoall_baselines()) {
      const std::string name(info.name);
      if (!by_peers()) add(with_stops_of(name, first.routes), name, false);
      add(baseline_routes(name, k), name, false);
      if (k > 1) add(baseline_routes(name, 1), name, false);
    }
    return others;
  }

  [[nodiscard]] static bool may_compare(const AlltoallRoutes& routes) {
    return std::ssize(routes.paths) <= kMostPathsCompared;
  }
  [[nodiscard]] bool is_stopped() const { return options_.solver.stop.stop_requested(); }

  // In rounds as short as ours, where links carry as much; nothing where they do not. What half
  // as many parts reach stays.
  [[nodiscard]] Expected<AlltoallRoutes> with_stops_of(const std::string& name,
                                                       const AlltoallRoutes& best) const {
    std::int64_t k = best.k;
    while (k % 2 == 0) k /= 2;
    auto result = with_stops_in(k, name, best.rate);
    while (k < best.k && result) {
      k *= 2;
      result =
          better_routes(in_finer_parts(*std::move(result), 2), with_stops_in(k, name, best.rate));
    }
    return result;
  }

  [[nodiscard]] Expected<AlltoallRoutes> with_stops_in(std::int64_t k, const std::string& name,
                                                       const Ratio& rate) const {
    auto routes = make_alltoall_baseline(name, fabric_.topology, fabric_.network, demand_.demand, k,
                                         kMaxAlltoallParts);
    if (!routes) return routes;
    auto combined = in_few_rounds(*routes);
    if (!combined || combined->rate < rate) return combined;
    routes->rounds = 0;  // of our own making
    return complete_routes(fabric_.network, demand_.demand, *std::move(routes));
  }

  // Every leg as soon as its data can be there, and what takes the same links together.
  [[nodiscard]] Expected<AlltoallRoutes> in_few_rounds(AlltoallRoutes routes) const {
    routes.rounds = 0;
    for (AlltoallPath& path : routes.paths) {
      const auto stops = std::ranges::count_if(
          path.nodes, [&](NodeId v) { return fabric_.network.is_compute(v); });
      path.rounds.resize(static_cast<std::size_t>(stops) - 1);
      std::iota(path.rounds.begin(), path.rounds.end(), 0);
      routes.rounds = std::max(routes.rounds, static_cast<std::int32_t>(path.rounds.size()));
    }
    return complete_routes(fabric_.network, demand_.demand, std::move(routes));
  }

  [[nodiscard]] std::optional<double> seconds_of(const AlltoallCompilation& made) const {
    const auto parameters = find_simulation_parameters(fabric_.gpu.name);
    const auto simulator = prepare_simulation(made.text, "<schedule>", fabric_.topology);
    if (!parameters || !simulator) return std::nullopt;
    SimulationOptions options;
    options.stop = options_.solver.stop;
    options.threads = 1;
    options.max_events = kMostEvents;
    const auto simulation = simulator->run({*options_.bytes}, *parameters, options);
    if (!simulation) return std::nullopt;
    return simulation->times.front().seconds;
  }

  Expected<AlltoallCompilation> write(AlltoallRoutes routes) {
    watch_.restart();
    AlltoallCompilation result;
    result.optimum = most_;
    result.routes = std::move(routes);
    const auto done = options_.format == AlltoallFormat::msccl     ? write_xml(result)
                      : options_.format == AlltoallFormat::mscclpp ? write_plan(result)
                                                                   : write_flows(result);
    if (!done) return done.errors();
    auto verdict = verify(result.text, "<schedule>", &fabric_.topology,
                          {.target = options_.xml.target, .sms = options_.sms});
    seconds_.verify += watch_.restart();
    if (!verdict) {
      result.verdict.findings = verdict.errors();
      return result;
    }
    result.verdict = *std::move(verdict);
    result.algbw = result.verdict.algbw.value_or(Ratio(0));
    return result;
  }

  [[nodiscard]] Expected<AlltoallRoutes> our_routes(std::int64_t k, AlltoallHops hops) const {
    return route_alltoall(fabric_.network, demand_.demand, proof_.at_most,
                          {.k = k, .hops = hops, .stop = options_.solver.stop});
  }

  [[nodiscard]] std::optional<Ratio> rate_by_links(std::int64_t k) const {
    const auto routes = our_routes(k, AlltoallHops::links);
    return routes ? in_algbw(routes->rate) : std::nullopt;
  }

  [[nodiscard]] Expected<AlltoallRoutes> baseline_routes(const std::string& name,
                                                         std::int64_t k) const {
    auto routes = make_alltoall_baseline(name, fabric_.topology, fabric_.network, demand_.demand, k,
                                         kMaxAlltoallParts);
    if (!routes) return routes;
    return complete_routes(fabric_.network, demand_.demand, *std::move(routes));
  }

  Expected<void> write_xml(AlltoallCompilation& result) {
    const auto schedule = lower_alltoall(result.routes, fabric_.network.rank_of, options_.lowering);
    if (!schedule) return schedule.errors();
    result.scratch = schedule->max_scratch();
    seconds_.lower += watch_.restart();
    result.text = to_alltoall_xml(*schedule, most_, fabric_.topology, options_.xml);
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

  Expected<void> write_plan(AlltoallCompilation& result) {
    PlanOptions options;
    options.in_place = options_.in_place;
    options.max_threadblocks = options_.lowering.max_threadblocks;
    options.min_bytes = options_.xml.min_bytes;
    options.max_bytes = options_.xml.max_bytes;
    const auto plan = plan_of(result.routes, options);
    if (!plan) return plan.errors();
    for (const PlanGpu& gpu : plan->gpus) {
      result.scratch = std::max(result.scratch, gpu.scratch_chunks);
    }
    seconds_.lower += watch_.restart();
    result.text = to_mscclpp_json(
        *plan, fmt::format("forestcoll-{}-alltoall-k{}", fabric_.topology.name, result.routes.k));
    seconds_.emit += watch_.restart();
    return {};
  }

  Expected<void> write_flows(AlltoallCompilation& result) {
    const auto algbw = in_algbw(result.routes.rate);
    if (!algbw) return rate_too_large();
    result.algbw_in_rounds = in_algbw(result.routes.rate_in_rounds);
    const bool is_uniform = demand_.demand.is_uniform();
    result.text =
        to_flows_json(result.routes, demand_.demand,
                      {.own_bytes = is_uniform ? 0 : demand_.total - crossing_bytes(demand_.demand),
                       .algbw = *algbw,
                       .algbw_in_rounds = result.algbw_in_rounds.value_or(Ratio(0)),
                       .optimum = most_},
                      fabric_.topology);
    seconds_.emit += watch_.restart();
    return {};
  }

  const Fabric& fabric_;
  const ParsedDemand& demand_;
  const AlltoallCompileOptions& options_;
  AlltoallProof proof_;
  Ratio most_;  // GB/s of algbw
  AlltoallSeconds seconds_;
  Stopwatch watch_;
  std::vector<AlltoallAtK> tried_;
};

// With one block for every pair, where programs ask for it.
template <class Run>
auto with_demand_for(const ParsedDemand& demand, AlltoallFormat format, const Run& run)
    -> decltype(run(demand)) {
  if (!is_program(format) || demand.demand.is_uniform()) return run(demand);
  const auto equal = equal_blocks(demand.demand);
  if (!equal) return unequal_amounts();
  return run(*equal);
}

}  // namespace

Expected<AlltoallCompilation> compile_alltoall(const Fabric& fabric, const ParsedDemand& demand,
                                               const AlltoallCompileOptions& options) {
  return with_demand_for(demand, options.format, [&](const ParsedDemand& used) {
    return AlltoallCompiler(fabric, used, options).run();
  });
}

Expected<std::vector<AlltoallCompilation>> compile_alltoalls(
    const Fabric& fabric, const ParsedDemand& demand, const AlltoallCompileOptions& options) {
  return with_demand_for(demand, options.format, [&](const ParsedDemand& used) {
    return AlltoallCompiler(fabric, used, options).run_all();
  });
}

}  // namespace forestcoll
