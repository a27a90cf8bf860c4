#include "common/synthesis/compare_baselines.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "common/group_rates.hpp"
#include "common/report/progress_bar.hpp"
#include "common/synthesis/default_schedule.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/pack.hpp"

namespace forestcoll::cli {
namespace {

// By hops alone, whatever parts trees take of the links. Of an allreduce any rank may be the only
// root.
std::int32_t least_height_over(const Network& links, const CollectiveForest& forest) {
  const Network network = forest.broadcast ? links : reversed(links);
  if (forest.root) return height_lower_bound(network, single_root(network, *forest.root));
  if (forest.collective != Collective::allreduce) {
    return height_lower_bound(network,
                              forest.weight.empty() ? uniform_weights(network) : forest.weight);
  }
  auto least = static_cast<std::int32_t>(network.ranks.size());
  for (std::size_t r = 0; r < network.ranks.size(); ++r) {
    least = std::min(least, height_lower_bound(network, single_root(network, Rank(r))));
  }
  return least;
}

// Forests are solved on what a collective has of the links: its phases alone may have other parts,
// and lower trees, too.
void tell_of_all_links(const Network& links, Synthesis& synthesis, const RateFigures& rates) {
  if (synthesis.forest.broadcast || synthesis.forest.reduce) {
    synthesis.least_height =
        std::min(synthesis.least_height, least_height_over(links, synthesis.forest));
  }
  if (!synthesis.two_phases || !rates.allreduce) return;
  const auto& two_phases = rates.allreduce->two_phases;
  const bool is_less = two_phases && rates.by_trees && *two_phases < rates.by_trees->at_most;
  synthesis.two_phases = is_less ? std::optional(*two_phases) : std::nullopt;
}

// What a schedule of that kind reaches can be reached.
void raise_to(const Expected<Ratio>& reached, Expected<RateFigure>& figure) {
  if (!reached || !figure || *reached > figure->at_most) return;
  figure->at_least = std::max(figure->at_least, *reached);
}

constexpr std::int64_t kLargestKOfTradeoff = 16;

constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
constexpr std::int64_t kSmall = kMebibyte, kMiddle = 64 * kMebibyte, kLarge = 1024 * kMebibyte;
constexpr std::int64_t kLargest = 4 * kLarge;

// Three at which a runtime would run both files: the ends of what both are for, and the size that
// both were chosen for. Where they are for any sizes, or share none, usual ones.
std::set<std::int64_t> sizes_for(const std::optional<SizeWindow>& before,
                                 const std::optional<SizeWindow>& after) {
  if (!before || !after) return {kSmall, kMiddle, kLarge};
  const std::int64_t first = std::max({before->first, after->first, kMebibyte});
  const std::int64_t last =
      std::min({before->last.value_or(kLargest), after->last.value_or(kLargest), kLargest});
  const std::int64_t whole = last / kMebibyte * kMebibyte;
  if (whole < first) return {kSmall, kMiddle, kLarge};
  const std::int64_t begin = (first + kMebibyte - 1) / kMebibyte * kMebibyte;
  return {std::min(begin, whole), std::clamp(kLarge, std::min(begin, whole), whole), whole};
}

// At a size of its window it was simulated when it was chosen.
std::optional<double> seconds_at(std::int64_t bytes, const MadeSchedule& made,
                                 const forestcoll::Fabric& fabric) {
  if (made.window) {
    for (const TimeBeside& known : made.window->times) {
      if (known.bytes == bytes) return known.seconds;
    }
  }
  return simulated_time(made.compiled.text, fabric, bytes);
}

// Times of both schedules, or none. Cost: that of `simulated_time` six times at most.
void add_times(FailurePrice& price, const MadeSchedule& made_before,
               const forestcoll::Fabric& before, const MadeSchedule& made_after,
               const forestcoll::Fabric& after) {
  std::vector<SimulatedTime> first, second;
  for (const std::int64_t bytes : sizes_for(made_before.window, made_after.window)) {
    const auto from = seconds_at(bytes, made_before, before);
    const auto to = from ? seconds_at(bytes, made_after, after) : from;
    if (!to) return;
    first.push_back({.bytes = static_cast<double>(bytes), .seconds = *from});
    second.push_back({.bytes = static_cast<double>(bytes), .seconds = *to});
  }
  price.times_before = std::move(first);
  price.times_after = std::move(second);
}

}  // namespace

void compare_baselines(MadeSchedule& made, const PreparedSynthesis& prepared,
                       const Console& console) {
  const Fabric& fabric = prepared.fabric;
  const std::stop_token stop = prepared.limit.token();
  const CollectiveForest& forest = made.solved().forest;
  made.figures = {rates_beside(made.compiled, prepared), reached_by(made.compiled)};
  RateFigures& rates = made.figures->rates;
  raise_to(made.figures->reached, rates.optimum);
  raise_to(made.figures->reached, rates.by_trees);
  if (fabric.whole) tell_of_all_links(*fabric.whole, made.compiled.chosen.synthesis, rates);
  if (made.compiled.paths) {
    made.group = at_work("finding what relays add", console, [&] {
      return group_rates(fabric, demand_of(made.compiled.options, fabric.network),
                         {.threads = prepared.solver.threads, .stop = stop}, forest.optimum);
    });
    return;
  }
  if (!made.baseline && !made.choice) {
    made.beside = beside_rings(fabric, made.compiled, stop, console);
  }
  // Trees that switches make faster are not what is compared.
  const auto& by_trees = rates.by_trees;
  const bool are_programs = is_schedule(prepared.request.compile.format);
  made.group =
      group_rates(fabric, forest, are_programs || !by_trees ? forest.optimum : by_trees->at_most);
}

Expected<std::optional<Tradeoff>> find_tradeoff(const MadeSchedule& made,
                                                const PreparedSynthesis& prepared,
                                                const Console& console) {
  if (!prepared.arguments.solver.tradeoff) return std::optional<Tradeoff>();
  const Network& network = prepared.fabric.network;
  const std::stop_token stop = prepared.limit.token();
  SynthesizeOptions asked = prepared.request.compile.synthesis;
  asked.trees_per_root = made.compiled.options.synthesis.trees_per_root;
  Tradeoff found;
  ProgressBar bar("rates by k", console);
  auto by_k = rate_by_k(network, asked.collective, asked.root, kLargestKOfTradeoff, stop);
  if (!by_k && !was_stopped(by_k.errors())) return by_k.errors();
  if (by_k) found.by_k = *std::move(by_k);
  bar.update("rates by height", std::nullopt);
  asked.packing = packing_under(bar, prepared.solver, prepared.limit);
  auto by_height = rate_by_height(network, asked);
  if (!by_height && !was_stopped(by_height.errors())) return by_height.errors();
  if (by_height) found.by_height = *std::move(by_height);
  found.stopped = stop.stop_requested();
  return std::optional(std::move(found));
}

Expected<std::optional<FailurePrice>> price_of(const MadeSchedule& after,
                                               const PreparedSynthesis& prepared,
                                               const Console& console) {
  const auto whole = prepare_before(prepared);
  if (!whole) return whole.errors();
  if (!*whole) return std::optional<FailurePrice>();
  PreparedSynthesis& before = **whole;
  Laps laps;
  const auto many = refuse_many(before.fabric);
  const auto made = many ? make_schedule(before, laps, console) : many.errors();
  FailurePrice price{
      .collective = std::string(to_string(prepared.request.compile.synthesis.collective)),
      .before = made ? rates_beside(made->compiled, before) : rates_of(before),
      .after = after.figures->rates,
      .reached_before = made ? Expected(reached_by(made->compiled)) : made.errors(),
      .reached_after = after.figures->reached};
  if (made) {
    add_times(price, *made, before.fabric, after, prepared.fabric);
  }
  return std::optional(std::move(price));
}

}  // namespace forestcoll::cli
