#include "forestcoll/synthesize.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <tuple>
#include <utility>

#include "base/check.hpp"
#include "forestcoll/max_height.hpp"
#include "solver/pack/problem.hpp"
#include "solver/portfolio/best_forest.hpp"
#include "solver/portfolio/numbers_of_trees.hpp"
#include "solver/rate/choose_scale.hpp"

namespace forestcoll {
namespace {

using solver::algbw_of;
using solver::common_k;
using solver::Phase;
using solver::Problem;
using solver::ScaleAndK;

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

Diagnostic previous_misfit(std::string message) {
  return {.code = "R02",
          .message = std::move(message),
          .remedy =
              "give a forest of the same collective, root and fabric, made before the "
              "failure, or leave it out and pack from scratch"};
}

// Trees can be kept only of the same collective among ranks that were all there.
std::optional<Diagnostic> refuse_previous(const CollectiveForest& previous, const Network& network,
                                          const SynthesizeOptions& options) {
  if (previous.collective != options.collective) {
    return previous_misfit("the former forest is for " +
                           std::string(to_string(previous.collective)) + ", not for " +
                           std::string(to_string(options.collective)));
  }
  const auto ranks = (previous.broadcast ? previous.broadcast : previous.reduce)->ranks();
  for (std::size_t r = 0; r < network.ranks.size(); ++r) {
    if (std::find(ranks.begin(), ranks.end(), network.ranks[r]) != ranks.end()) continue;
    return previous_misfit("rank " + std::to_string(r) + " is not in the former forest");
  }
  if (options.root && ranks[previous.root->index()] != network.ranks[options.root->index()]) {
    return previous_misfit("the former forest has another root");
  }
  return std::nullopt;
}

}  // namespace

Expected<Bound> bound(const Network& network, Collective collective, std::optional<Rank> root) {
  const Problem problem(network, collective, root);
  Bound result;
  result.broadcast_rate = problem.broadcast_rate();
  result.reduce_rate = problem.reduce_rate();
  auto k = k_of_optimum(problem);
  if (!k) return k.errors();
  result.k = *k;
  auto algbw = optimum_of(problem);
  if (!algbw) return algbw.errors();
  result.algbw = *algbw;
  return result;
}

Expected<Synthesis> synthesize(const Network& network, const SynthesizeOptions& options) {
  FORESTCOLL_CHECK(options.previous == nullptr || !options.max_height, "one of the two");
  Synthesis begun;
  CollectiveForest& forest = begun.forest;
  forest.collective = options.collective;
  forest.root = options.root;
  if (!options.root) forest.weight = network.weight;
  if (options.previous != nullptr) {
    if (auto error = refuse_previous(*options.previous, network, options)) return *std::move(error);
  }

  // 1. What is the best possible? The cuts are the proof.
  if (options.packing.progress) options.packing.progress("finding the rate", std::nullopt);
  auto start = std::chrono::steady_clock::now();
  const Problem problem(network, options.collective, options.root, options.packing.stop);
  if (auto errors = refuse_open_rate(problem)) return *std::move(errors);
  begun.broadcast_rate = problem.broadcast_rate();
  begun.reduce_rate = problem.reduce_rate();
  auto optimum = optimum_of(problem);
  if (!optimum) return optimum.errors();
  forest.optimum = *optimum;

  // 2. Make capacities integral; that fixes the number of trees per root.
  auto planned = solver::plan(problem.phases, options.trees_per_root, options.packing.stop);
  if (!planned) return planned.errors();
  begun.stopped = planned->stopped;
  begun.tradeoff = planned->rows;
  begun.seconds.rate = seconds_since(start);

  // 3. Pack the trees straight into the fabric, and put the phases together.
  if (options.packing.progress) options.packing.progress("packing", std::nullopt);
  start = std::chrono::steady_clock::now();
  auto result = solver::pack_best(problem, options, *planned, begun);
  if (result) result->seconds.pack = seconds_since(start);
  return result;
}

Expected<std::vector<RateAtK>> rate_by_k(const Network& network, Collective collective,
                                         std::optional<Rank> root, std::int64_t most,
                                         const std::stop_token& stop) {
  const Problem problem(network, collective, root, stop);
  if (auto errors = refuse_open_rate(problem)) return *std::move(errors);
  auto planned = solver::plan(problem.phases, {TreesPerRoot::Mode::power_of_two, most}, stop);
  if (!planned) return planned.errors();
  auto k = k_of_optimum(problem);
  if (!k) return k.errors();
  auto optimum = optimum_of(problem);
  if (!optimum) return optimum.errors();
  std::vector<RateAtK> rows = std::move(planned->rows);
  const bool listed =
      std::any_of(rows.begin(), rows.end(), [&](const RateAtK& row) { return row.k == *k; });
  if (!listed) rows.push_back({*k, *optimum});
  return rows;
}

namespace {

// The fastest of the rows that are no higher; nothing where all are.
const HeightAtRate* best_within(const std::vector<HeightAtRate>& rows, std::int32_t height) {
  const HeightAtRate* best = nullptr;
  for (const HeightAtRate& row : rows) {
    if (row.height > height) continue;
    if (best == nullptr || solver::is_faster({row.scale, row.k}, {best->scale, best->k})) {
      best = &row;
    }
  }
  return best;
}

// What all phases reach together, at each height that one of them has.
Expected<std::vector<RateAtHeight>> together(const Problem& problem,
                                             const std::vector<std::vector<HeightAtRate>>& phases) {
  std::vector<RateAtHeight> result;
  for (const auto& own : phases) {
    for (const HeightAtRate& row : own) {
      std::vector<const HeightAtRate*> best;
      for (const auto& rows : phases) best.push_back(best_within(rows, row.height));
      if (std::find(best.begin(), best.end(), nullptr) != best.end()) continue;
      auto k = common_k(best.front()->k, best.back()->k);
      if (!k) return k.errors();
      std::vector<ScaleAndK> reached;
      for (const HeightAtRate* each : best) reached.push_back({each->scale, each->k});
      auto algbw = algbw_of(problem.phases, reached);
      if (!algbw) return algbw.errors();
      const double mean = (best.front()->mean_height + best.back()->mean_height) / 2;
      result.push_back({row.height, mean, *k, *algbw});
    }
  }
  return result;
}

// At the number of trees that was planned.
Expected<std::vector<RateAtHeight>> rows_at(const Problem& problem, const solver::Plan& planned,
                                            const SynthesizeOptions& options) {
  std::vector<std::vector<HeightAtRate>> of_phase;
  for (std::size_t i = 0; i < planned.scalings.size(); ++i) {
    const Phase& phase = problem.phases[i];
    auto rows =
        rate_against_height(phase.network, phase.weights, planned.scalings[i], options.packing,
                            solver::open_scalings(problem, options, planned, i));
    if (!rows) return rows.errors();
    of_phase.push_back(*std::move(rows));
  }
  return together(problem, of_phase);
}

// The highest first, and none that is neither lower nor faster than another.
std::vector<RateAtHeight> best_of(std::vector<RateAtHeight> rows) {
  std::stable_sort(rows.begin(), rows.end(), [](const RateAtHeight& a, const RateAtHeight& b) {
    return std::tie(a.height, b.algbw) < std::tie(b.height, a.algbw);
  });
  std::vector<RateAtHeight> result;
  for (const RateAtHeight& row : rows) {
    if (result.empty() || result.back().algbw < row.algbw) result.push_back(row);
  }
  std::reverse(result.begin(), result.end());
  return result;
}

}  // namespace

Expected<std::vector<RateAtHeight>> rate_by_height(const Network& network,
                                                   const SynthesizeOptions& options) {
  const std::stop_token& stop = options.packing.stop;
  const Problem problem(network, options.collective, options.root, stop);
  if (auto errors = refuse_open_rate(problem)) return *std::move(errors);
  auto planned = solver::plan(problem.phases, options.trees_per_root, stop);
  if (!planned) return planned.errors();
  auto rows = rows_at(problem, *planned, options);
  if (!rows) return rows.errors();
  std::vector<RateAtHeight> best = best_of(*std::move(rows));
  if (solver::is_searched_by_phase(problem, options)) return best;
  for (const RateAtK& other : solver::other_numbers(problem, options, *planned, true)) {
    // The lowest row is the slowest.
    if (stop.stop_requested() || (!best.empty() && other.algbw <= best.back().algbw)) break;
    auto again = solver::plan(problem.phases, {TreesPerRoot::Mode::fixed, other.k}, stop);
    if (!again || again->stopped) break;
    auto more = rows_at(problem, *again, options);
    if (!more) break;
    best.insert(best.end(), more->begin(), more->end());
    best = best_of(std::move(best));
  }
  return best;
}

}  // namespace forestcoll
