#include "forestcoll/compile_alltoall.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "choose/settle.hpp"
#include "emit/alltoall.hpp"
#include "forestcoll/alltoall_baseline.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/failures.hpp"
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

Diagnostic unequal_amounts() {
  return make_error("T09", "MSCCL XML cannot say that pairs have unequal amounts",
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

class AlltoallCompiler {
 public:
  AlltoallCompiler(const Fabric& fabric, const ParsedDemand& demand,
                   const AlltoallCompileOptions& options)
      : fabric_(fabric), demand_(demand), options_(options) {}

  Expected<AlltoallCompilation> run() {
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
    const bool is_ours = options_.algorithm.empty();
    auto result = options_.k || !is_ours ? make(options_.k.value_or(1)) : best_of_several();
    if (!result) return result.errors();
    // 3. Other paths, and other rounds, that may take less time.
    if (is_ours) consider_others(*result);
    if (is_ours && by_peers() && result->algbw < most_) {
      result->algbw_by_links = rate_by_links(result->routes.k);
    }
    if (tried_.empty()) tried_.push_back({result->routes.k, result->algbw});
    result->tried = std::move(tried_);
    result->seconds = seconds_;
    result->proof = std::move(proof_);
    return result;
  }

 private:
  // Of a rate per unit of demand.
  [[nodiscard]] std::optional<Ratio> in_algbw(const Ratio& rate) const {
    const auto ranks = static_cast<std::int64_t>(demand_.demand.ranks());
    return checked_mul(rate, Ratio(demand_.total, ranks));
  }

  // What does not fit any more ends the search: larger k fit even less.
  Expected<AlltoallCompilation> best_of_several() {
    const std::size_t pairs = demand_.demand.ranks() * demand_.demand.ranks();
    auto best = make(1);
    if (!best) return best;
    tried_.push_back({1, best->algbw});
    for (std::int64_t k = 2; k <= options_.max_k; k *= 2) {
      const bool is_enough = best->algbw >= most_ || options_.solver.stop.stop_requested();
      if (is_enough || pairs * static_cast<std::size_t>(k) > kPartsTried) break;
      auto next = make(k);
      if (!next) break;
      tried_.push_back({k, next->algbw});
      const auto enough = checked_mul(best->algbw, kGain);
      if (enough && next->algbw >= *enough) best = std::move(next);
    }
    return best;
  }

  [[nodiscard]] bool by_peers() const { return options_.format == AlltoallFormat::msccl; }

  Expected<AlltoallCompilation> make(std::int64_t k) {
    watch_.restart();
    auto routes = options_.algorithm.empty()
                      ? our_routes(k, by_peers() ? AlltoallHops::peers : AlltoallHops::links)
                      : baseline_routes(options_.algorithm, k);
    seconds_.route += watch_.restart();
    if (!routes) return routes.errors();
    return write(*std::move(routes));
  }

  void consider_others(AlltoallCompilation& best) {
    if (options_.bytes) best.seconds_at_bytes = seconds_of(best);
    const bool is_perfect = best.routes.rate_in_rounds >= best.routes.rate;
    if (!options_.bytes && (by_peers() || is_perfect)) return;
    if (std::ssize(best.routes.paths) > kMostPathsCompared) return;
    if (options_.bytes && !by_peers()) {
      replace_if_better(best, in_few_rounds(best.routes), {.combined = true});
    }
    const std::int64_t k = best.routes.k;
    for (const BaselineInfo& info : alltoall_baselines()) {
      if (options_.solver.stop.stop_requested()) return;
      const Origin origin{.stops = std::string(info.name)};
      if (!by_peers()) replace_if_better(best, with_stops_of(origin.stops, best), origin);
      if (!options_.bytes) continue;
      replace_if_better(best, baseline_routes(origin.stops, k), origin);
      if (k > 1) replace_if_better(best, baseline_routes(origin.stops, 1), origin);
    }
  }

  // What is said of a replacement.
  struct Origin {
    std::string stops = {};
    bool combined = false;
  };

  // In time, or else by what rounds leave of an equal rate.
  void replace_if_better(AlltoallCompilation& best, Expected<AlltoallRoutes> routes,
                         const Origin& origin) {
    if (!routes) return;
    const bool is_less =
        routes->rate < best.routes.rate || routes->rate_in_rounds <= best.routes.rate_in_rounds;
    if (!options_.bytes && is_less) return;
    auto other = write(*std::move(routes));
    if (!other || !other->verdict.ok) return;
    if (options_.bytes) {
      other->seconds_at_bytes = seconds_of(*other);
      if (!other->seconds_at_bytes || !best.seconds_at_bytes) return;
      if (*other->seconds_at_bytes >= *best.seconds_at_bytes) return;
    }
    best = *std::move(other);
    best.stops = origin.stops;
    best.combined = origin.combined;
  }

  // In rounds as short as ours, where links carry as much; nothing where they do not.
  [[nodiscard]] Expected<AlltoallRoutes> with_stops_of(const std::string& name,
                                                       const AlltoallCompilation& best) const {
    auto routes = make_alltoall_baseline(name, fabric_.topology, fabric_.network, demand_.demand,
                                         best.routes.k, kMaxAlltoallParts);
    if (!routes) return routes;
    const auto rate = in_few_rounds(*routes);
    if (!rate || rate->rate < best.routes.rate) return rate;
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
    const auto done = by_peers() ? write_xml(result) : write_flows(result);
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

}  // namespace

Expected<AlltoallCompilation> compile_alltoall(const Fabric& fabric, const ParsedDemand& demand,
                                               const AlltoallCompileOptions& options) {
  const bool is_xml = options.format == AlltoallFormat::msccl;
  if (!is_xml || demand.demand.is_uniform()) return AlltoallCompiler(fabric, demand, options).run();
  const auto equal = equal_blocks(demand.demand);
  if (!equal) return unequal_amounts();
  return AlltoallCompiler(fabric, *equal, options).run();
}

}  // namespace forestcoll
