#include "fastest/paths/compile_paths.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "choose/candidate_times.hpp"
#include "choose/paths_artefact.hpp"
#include "choose/settle.hpp"
#include "fastest/paths/alltoall_candidates.hpp"
#include "forestcoll/baseline.hpp"
#include "forestcoll/search_scale.hpp"
#include "forestcoll/stopwatch.hpp"
#include "solver/alltoall/routes/route_alltoall.hpp"

namespace forestcoll {
namespace {

constexpr double kForever = std::numeric_limits<double>::infinity();

class PathsCompiler {
 public:
  PathsCompiler(const Fabric& fabric, const CompileOptions& settled)
      : fabric_(fabric),
        options_(settled),
        demand_(demand_of(settled, fabric.network)),
        parts_(choose::parts_of(settled)) {}

  Expected<Compilation> run() {
    auto result = make_first();
    if (!result) return result;
    // 3. Other paths, and other rounds, that may take less time.
    if (is_ours() && !by_peers() && options_.bytes) {
      take_fastest(*result);
    } else if (is_ours()) {
      shorten_rounds(*result);
    }
    finish(*result);
    return result;
  }

  Expected<std::vector<Compilation>> run_all() {
    auto first = make_first();
    if (!first) return first.errors();
    std::vector<Compilation> all = {*first};
    if (is_ours()) {
      for (Compilation& other : others_of(*first, kForever)) {
        all.push_back(std::move(other));
      }
      shorten_rounds(*first);
      if (first->text != all.front().text) all.insert(all.begin(), *first);
    }
    finish(all.front());
    return all;
  }

 private:
  [[nodiscard]] static const Ratio& algbw_of(const Compilation& made) {
    return made.chosen.synthesis.forest.algbw;
  }
  [[nodiscard]] bool is_ours() const { return options_.paths_of.empty(); }

  Expected<Compilation> make_first() {
    // 1. What is the best possible?
    auto proof = fastest::alltoall_proof(fabric_, options_);
    if (!proof) return proof.errors();
    proof_ = *std::move(proof);
    const auto most = choose::alltoall_algbw(demand_, proof_.at_most);
    if (!most) return most.errors();
    most_ = *most;
    seconds_.rate = watch_.restart();
    // 2. The schedule for one k, or for the best of several.
    return parts_.given || !is_ours() ? make(parts_.given.value_or(1)) : best_of_several();
  }

  void finish(Compilation& result) {
    CompiledPaths& paths = *result.paths;
    if (is_ours() && by_peers() && algbw_of(result) < most_) {
      paths.algbw_by_links = rate_by_links(paths.routes.k);
    }
    if (tried_.empty()) tried_.push_back({paths.routes.k, algbw_of(result)});
    result.chosen.synthesis.tradeoff = std::move(tried_);
    result.seconds = seconds_;
    paths.proof = std::move(proof_);
  }

  // What does not fit any more ends the search: larger k fit even less.
  Expected<Compilation> best_of_several() {
    const std::size_t pairs = demand_.demand.ranks() * demand_.demand.ranks();
    auto best = make(1);
    if (!best) return best;
    tried_.push_back({1, algbw_of(*best)});
    for (const std::int64_t k : more_numbers(pairs)) {
      const bool is_enough = algbw_of(*best) >= most_ || is_stopped();
      if (is_enough || pairs * static_cast<std::size_t>(k) > scale::kMostParts) break;
      auto next = make(k);
      if (!next) break;
      tried_.push_back({k, algbw_of(*next)});
      const bool is_faster = parts_.fastest ? algbw_of(*best) < algbw_of(*next)
                                            : fastest::gains(algbw_of(*next), algbw_of(*best));
      if (is_faster) best = std::move(next);
    }
    return best;
  }

  // Powers of two; where the fastest is asked for, all up to so many parts together, else the
  // largest, too.
  [[nodiscard]] std::vector<std::int64_t> more_numbers(std::size_t pairs) const {
    std::vector<std::int64_t> numbers;
    const auto most = static_cast<Int128>(scale::kMostPartsOfAll / pairs);
    const bool is_every = parts_.fastest && Int128{parts_.most} * parts_.most / 2 <= most;
    for (std::int64_t k = 2; k <= parts_.most; k = is_every ? k + 1 : 2 * k) {
      numbers.push_back(k);
    }
    const bool has_last = numbers.empty() || numbers.back() == parts_.most;
    if (parts_.fastest && parts_.most > 1 && !has_last) numbers.push_back(parts_.most);
    return numbers;
  }

  [[nodiscard]] bool by_peers() const { return is_schedule(options_.format); }

  Expected<Compilation> make(std::int64_t k) {
    watch_.restart();
    auto routes = is_ours() ? our_routes(k, by_peers() ? AlltoallHops::peers : AlltoallHops::links)
                            : baseline_routes(options_.paths_of, k);
    seconds_.pack += watch_.restart();
    if (!routes) return routes.errors();
    return write(*std::move(routes));
  }

  // Of what stops where baselines do, what leaves more of the same rate in rounds.
  void shorten_rounds(Compilation& best) {
    if (by_peers() || !may_change(best.paths->routes)) return;
    for (const BaselineInfo& info : alltoall_baselines()) {
      if (best.paths->routes.rate_in_rounds >= best.paths->routes.rate || is_stopped()) return;
      const std::string name(info.name);
      auto routes = fastest::with_stops_of(fabric_, demand_.demand, name, best.paths->routes);
      if (!routes || routes->rate < best.paths->routes.rate) continue;
      if (routes->rate_in_rounds <= best.paths->routes.rate_in_rounds) continue;
      auto other = write(*std::move(routes));
      if (!other || !other->verdict.ok) continue;
      best = *std::move(other);
      best.paths->stops = name;
    }
  }

  void take_fastest(Compilation& best) {
    best.paths->seconds_at_bytes = seconds_of(best, kForever);
    if (!best.paths->seconds_at_bytes) return;
    for (Compilation& other : others_of(best, *best.paths->seconds_at_bytes)) {
      other.paths->seconds_at_bytes = seconds_of(other, *best.paths->seconds_at_bytes);
      if (!other.paths->seconds_at_bytes ||
          *other.paths->seconds_at_bytes >= *best.paths->seconds_at_bytes)
        continue;
      best = std::move(other);
    }
  }

  // What may take less time than the first, and less than `most` seconds: the same paths in few
  // rounds, the stops of baselines, and baselines themselves. No two are the same.
  std::vector<Compilation> others_of(const Compilation& first, double most) {
    std::vector<Compilation> others;
    if (std::ssize(first.paths->routes.paths) > scale::kMostPathsCompared) return others;
    const auto add = [&](Expected<AlltoallRoutes> routes, const std::string& stops, bool combined) {
      if (!routes || is_stopped() || seconds_on_links(*routes) > most) return;
      auto other = write(*std::move(routes));
      if (!other || !other->verdict.ok) return;
      const auto is_same = [&](const Compilation& known) { return known.text == other->text; };
      if (is_same(first) || std::ranges::any_of(others, is_same)) return;
      other->paths->stops = stops;
      other->paths->combined = combined;
      others.push_back(*std::move(other));
    };
    const std::int64_t k = first.paths->routes.k;
    if (!by_peers())
      add(fastest::in_few_rounds(fabric_, demand_.demand, first.paths->routes), first.paths->stops,
          true);
    for (const BaselineInfo& info : alltoall_baselines()) {
      const std::string name(info.name);
      if (!by_peers() && may_change(first.paths->routes)) {
        add(fastest::with_stops_of(fabric_, demand_.demand, name, first.paths->routes), name,
            false);
      }
      add(baseline_routes(name, k), name, false);
      if (k > 1) add(baseline_routes(name, 1), name, false);
    }
    return others;
  }

  [[nodiscard]] static bool may_change(const AlltoallRoutes& routes) {
    return std::ssize(routes.paths) <= scale::kMostPathsChanged;
  }
  [[nodiscard]] bool is_stopped() const { return options_.synthesis.packing.stop.stop_requested(); }

  // What the bytes take on the busiest link, a lower bound on any time. 0: at no size in
  // particular.
  [[nodiscard]] double seconds_on_links(const AlltoallRoutes& routes) const {
    const auto algbw = choose::alltoall_algbw(demand_, routes.rate);
    if (!options_.bytes || !algbw) return 0;
    return static_cast<double>(*options_.bytes) / algbw->to_double() / 1e9;
  }

  // Infinite above `most`.
  [[nodiscard]] std::optional<double> seconds_of(const Compilation& made, double most) const {
    return choose::seconds_within(made.text, fabric_, *options_.bytes,
                                  {.stop = options_.synthesis.packing.stop,
                                   .most_seconds = most,
                                   .max_events = scale::kMostEvents});
  }

  Expected<Compilation> write(AlltoallRoutes routes) {
    return choose::write_paths(fabric_, options_, most_, std::move(routes), seconds_);
  }

  [[nodiscard]] Expected<AlltoallRoutes> our_routes(std::int64_t k, AlltoallHops hops) const {
    return route_alltoall(fabric_.network, demand_.demand, proof_.at_most,
                          {.k = k, .hops = hops, .stop = options_.synthesis.packing.stop});
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
  const CompileOptions& options_;
  const ParsedDemand demand_;
  const choose::Parts parts_;
  AlltoallProof proof_;
  Ratio most_;  // GB/s of algbw
  CompileSeconds seconds_;
  Stopwatch watch_;
  std::vector<RateAtK> tried_;
};

}  // namespace

Expected<Compilation> compile_paths(const Fabric& fabric, const CompileOptions& settled) {
  return PathsCompiler(fabric, settled).run();
}

Expected<std::vector<Compilation>> compile_alltoalls(const Fabric& fabric,
                                                     const CompileOptions& options) {
  const auto settled = choose::settle(fabric, options);
  if (!settled) return settled.errors();
  return PathsCompiler(fabric, *settled).run_all();
}

}  // namespace forestcoll
