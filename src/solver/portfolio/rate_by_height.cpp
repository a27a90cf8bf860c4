#include <algorithm>
#include <tuple>
#include <utility>

#include "forestcoll/synthesize.hpp"
#include "solver/pack/problem.hpp"
#include "solver/pack/search/max_height.hpp"
#include "solver/portfolio/numbers_of_trees.hpp"
#include "solver/rate/choose_scale.hpp"

namespace forestcoll {
namespace {

using solver::algbw_of;
using solver::common_k;
using solver::PhaseProblem;
using solver::Problem;
using solver::ScaleAndK;

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

// At the number of trees that was chosen.
Expected<std::vector<RateAtHeight>> rows_at(const Problem& problem,
                                            const solver::ChosenScale& chosen,
                                            const SynthesizeOptions& options) {
  std::vector<std::vector<HeightAtRate>> of_phase;
  for (std::size_t i = 0; i < chosen.scalings.size(); ++i) {
    const PhaseProblem& phase = problem.phases[i];
    const auto others = solver::open_scalings(problem, options, chosen, i);
    auto rows = rate_against_height(phase.network, phase.weights, chosen.scalings[i],
                                    options.packing, {others, solver::is_any_number_open(options)});
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
  if (const auto done = solver::refuse_open_rate(problem); !done) return done.errors();
  auto chosen = solver::choose_scale(problem.phases, options.trees_per_root, stop);
  if (!chosen) return chosen.errors();
  auto rows = rows_at(problem, *chosen, options);
  if (!rows) return rows.errors();
  std::vector<RateAtHeight> best = best_of(*std::move(rows));
  if (solver::is_searched_by_phase(problem, options)) return best;
  for (const RateAtK& other : solver::other_numbers(problem, options, *chosen, true)) {
    // The lowest row is the slowest.
    if (stop.stop_requested() || (!best.empty() && other.algbw <= best.back().algbw)) break;
    auto again = solver::choose_scale(problem.phases, {TreesPerRoot::Mode::fixed, other.k}, stop);
    if (!again || again->stopped) break;
    auto more = rows_at(problem, *again, options);
    if (!more) break;
    best.insert(best.end(), more->begin(), more->end());
    best = best_of(std::move(best));
  }
  return best;
}

}  // namespace forestcoll
