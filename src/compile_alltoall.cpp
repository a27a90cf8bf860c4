#include <algorithm>
#include <limits>
#include <utility>

#include "choose/alltoall_artefact.hpp"
#include "choose/settle.hpp"
#include "fastest/alltoall_candidates.hpp"
#include "forestcoll/baseline.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/fastest.hpp"
#include "forestcoll/simulate.hpp"
#include "forestcoll/stopwatch.hpp"
#include "solver/alltoall/routes/route_alltoall.hpp"

namespace forestcoll {
namespace {

constexpr std::size_t kPartsOfAll = std::size_t{1} << 14;
// Paths at most: where ours get the stops of others, and where they are compared at all.
constexpr std::int64_t kMostPathsChanged = std::int64_t{1} << 15;
constexpr std::int64_t kMostPathsCompared = std::int64_t{1} << 19;
constexpr std::int64_t kMostEvents = 20'000'000;  // of a simulation
constexpr double kForever = std::numeric_limits<double>::infinity();

Diagnostic unequal_amounts() {
  return make_error(Code::T09, "MSCCL XML and plans cannot say that pairs have unequal amounts",
                    "write the paths with `format=flows`");
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
    if (is_ours() && by_peers() && options_.bytes) return fastest_program();
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
      for (AlltoallCompilation& other : others_of(*first, kForever)) {
        all.push_back(std::move(other));
      }
      shorten_rounds(*first);
      if (first->text != all.front().text) all.insert(all.begin(), *first);
    }
    finish(all.front());
    return all;
  }

 private:
  [[nodiscard]] bool is_ours() const { return options_.algorithm.empty(); }

  Expected<AlltoallCompilation> fastest_program() const {
    auto found = fastest_alltoall(fabric_, {.alltoall = options_,
                                            .compile = {},
                                            .sizes = {*options_.bytes},
                                            .instances = options_.lowering.instances,
                                            .buffer_bytes = options_.xml.buffer_bytes,
                                            .any_count = true,
                                            .parameters = {}});
    if (!found) return found.errors();
    return std::move(found->compilation);
  }

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
    const auto most = choose::alltoall_algbw(demand_, proof_.at_most);
    if (!most) return most.errors();
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
    for (const std::int64_t k : more_numbers(pairs)) {
      const bool is_enough = best->algbw >= most_ || is_stopped();
      if (is_enough || pairs * static_cast<std::size_t>(k) > fastest::kPartsTried) break;
      auto next = make(k);
      if (!next) break;
      tried_.push_back({k, next->algbw});
      const bool is_faster =
          options_.fastest_k ? best->algbw < next->algbw : fastest::gains(next->algbw, best->algbw);
      if (is_faster) best = std::move(next);
    }
    return best;
  }

  // Powers of two; where the fastest is asked for, all up to so many parts together, else the
  // largest, too.
  [[nodiscard]] std::vector<std::int64_t> more_numbers(std::size_t pairs) const {
    std::vector<std::int64_t> numbers;
    const auto most = static_cast<Int128>(kPartsOfAll / pairs);
    const bool is_every = options_.fastest_k && Int128{options_.max_k} * options_.max_k / 2 <= most;
    for (std::int64_t k = 2; k <= options_.max_k; k = is_every ? k + 1 : 2 * k) {
      numbers.push_back(k);
    }
    const bool has_last = numbers.empty() || numbers.back() == options_.max_k;
    if (options_.fastest_k && options_.max_k > 1 && !has_last) numbers.push_back(options_.max_k);
    return numbers;
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
    if (by_peers() || !may_change(best.routes)) return;
    for (const BaselineInfo& info : alltoall_baselines()) {
      if (best.routes.rate_in_rounds >= best.routes.rate || is_stopped()) return;
      const std::string name(info.name);
      auto routes = fastest::with_stops_of(fabric_, demand_.demand, name, best.routes);
      if (!routes || routes->rate < best.routes.rate) continue;
      if (routes->rate_in_rounds <= best.routes.rate_in_rounds) continue;
      auto other = write(*std::move(routes));
      if (!other || !other->verdict.ok) continue;
      best = *std::move(other);
      best.stops = name;
    }
  }

  void take_fastest(AlltoallCompilation& best) {
    best.seconds_at_bytes = seconds_of(best, kForever);
    if (!best.seconds_at_bytes) return;
    for (AlltoallCompilation& other : others_of(best, *best.seconds_at_bytes)) {
      other.seconds_at_bytes = seconds_of(other, *best.seconds_at_bytes);
      if (!other.seconds_at_bytes || *other.seconds_at_bytes >= *best.seconds_at_bytes) continue;
      best = std::move(other);
    }
  }

  // What may take less time than the first, and less than `most` seconds: the same paths in few
  // rounds, the stops of baselines, and baselines themselves. No two are the same.
  std::vector<AlltoallCompilation> others_of(const AlltoallCompilation& first, double most) {
    std::vector<AlltoallCompilation> others;
    if (std::ssize(first.routes.paths) > kMostPathsCompared) return others;
    const auto add = [&](Expected<AlltoallRoutes> routes, const std::string& stops, bool combined) {
      if (!routes || is_stopped() || seconds_on_links(*routes) > most) return;
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
    if (!by_peers())
      add(fastest::in_few_rounds(fabric_, demand_.demand, first.routes), first.stops, true);
    for (const BaselineInfo& info : alltoall_baselines()) {
      const std::string name(info.name);
      if (!by_peers() && may_change(first.routes)) {
        add(fastest::with_stops_of(fabric_, demand_.demand, name, first.routes), name, false);
      }
      add(baseline_routes(name, k), name, false);
      if (k > 1) add(baseline_routes(name, 1), name, false);
    }
    return others;
  }

  [[nodiscard]] static bool may_change(const AlltoallRoutes& routes) {
    return std::ssize(routes.paths) <= kMostPathsChanged;
  }
  [[nodiscard]] bool is_stopped() const { return options_.solver.stop.stop_requested(); }

  // What the bytes take on the busiest link, a lower bound on any time. 0: at no size in
  // particular.
  [[nodiscard]] double seconds_on_links(const AlltoallRoutes& routes) const {
    const auto algbw = choose::alltoall_algbw(demand_, routes.rate);
    if (!options_.bytes || !algbw) return 0;
    return static_cast<double>(*options_.bytes) / algbw->to_double() / 1e9;
  }

  // Infinite above `most`.
  [[nodiscard]] std::optional<double> seconds_of(const AlltoallCompilation& made,
                                                 double most) const {
    const auto parameters = find_simulation_parameters(fabric_.gpu.name);
    const auto simulator = prepare_simulation(made.text, "<schedule>", fabric_.topology);
    if (!parameters || !simulator) return std::nullopt;
    SimulationOptions options;
    options.stop = options_.solver.stop;
    options.threads = 1;
    options.max_events = kMostEvents;
    options.most_seconds = most;
    const auto simulation = simulator->run({*options_.bytes}, *parameters, options);
    if (!simulation) return std::nullopt;
    return simulation->times.front().seconds;
  }

  Expected<AlltoallCompilation> write(AlltoallRoutes routes) {
    return choose::write_alltoall(fabric_, demand_, options_, most_, std::move(routes), seconds_);
  }

  [[nodiscard]] Expected<AlltoallRoutes> our_routes(std::int64_t k, AlltoallHops hops) const {
    return route_alltoall(fabric_.network, demand_.demand, proof_.at_most,
                          {.k = k, .hops = hops, .stop = options_.solver.stop});
  }

  [[nodiscard]] std::optional<Ratio> rate_by_links(std::int64_t k) const {
    const auto routes = our_routes(k, AlltoallHops::links);
    if (!routes) return std::nullopt;
    const auto algbw = choose::alltoall_algbw(demand_, routes->rate);
    return algbw ? std::optional(*algbw) : std::nullopt;
  }

  [[nodiscard]] Expected<AlltoallRoutes> baseline_routes(const std::string& name,
                                                         std::int64_t k) const {
    return fastest::alltoall_baseline_routes(fabric_, demand_.demand, name, k);
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

// By what options leave open; with one block for every pair, where programs ask for it.
template <class Run>
auto with_compiler(const Fabric& fabric, const ParsedDemand& demand, AlltoallCompileOptions options,
                   const Run& run) -> decltype(run(std::declval<AlltoallCompiler>())) {
  choose::settle_threadblocks(options.sms, options.lowering.target,
                              options.lowering.max_threadblocks);
  if (options.xml.protocol.empty()) options.xml.protocol = "Simple";
  if (!is_program(options.format) || demand.demand.is_uniform()) {
    return run(AlltoallCompiler(fabric, demand, options));
  }
  const auto equal = equal_blocks(demand.demand);
  if (!equal) return unequal_amounts();
  return run(AlltoallCompiler(fabric, *equal, options));
}

}  // namespace

Expected<AlltoallCompilation> compile_alltoall(const Fabric& fabric, const ParsedDemand& demand,
                                               const AlltoallCompileOptions& options) {
  return with_compiler(fabric, demand, options,
                       [](AlltoallCompiler compiler) { return compiler.run(); });
}

Expected<std::vector<AlltoallCompilation>> compile_alltoalls(
    const Fabric& fabric, const ParsedDemand& demand, const AlltoallCompileOptions& options) {
  return with_compiler(fabric, demand, options,
                       [](AlltoallCompiler compiler) { return compiler.run_all(); });
}

}  // namespace forestcoll
