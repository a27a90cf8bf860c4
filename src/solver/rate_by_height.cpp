#include <algorithm>
#include <functional>
#include <utility>

#include "forestcoll/max_height.hpp"
#include "forestcoll/synthesize.hpp"
#include "solver/pack/problem.hpp"
#include "solver/pack_phases.hpp"
#include "solver/rate/choose_scale.hpp"

namespace forestcoll {
namespace {

using solver::algbw_of;
using solver::common_k;
using solver::is_faster;
using solver::other_scalings;
using solver::Phase;
using solver::Problem;
using solver::ScaleAndK;

// The fastest of the rows that are no higher; nothing where all are.
const HeightAtRate* best_within(const std::vector<HeightAtRate>& rows, std::int32_t height) {
  const HeightAtRate* best = nullptr;
  for (const HeightAtRate& row : rows) {
    if (row.height > height) continue;
    if (best == nullptr || is_faster({row.scale, row.k}, {best->scale, best->k})) {
      best = &row;
    }
  }
  return best;
}

}  // namespace

Expected<std::vector<RateAtHeight>> rate_by_height(const Network& network,
                                                   const SynthesizeOptions& options) {
  const Problem problem(network, options.collective, options.root, options.packing.stop);
  if (auto errors = solver::refuse_open_rate(problem)) return *std::move(errors);
  auto planned = solver::plan(problem.phases, options.trees_per_root, options.packing.stop);
  if (!planned) return planned.errors();
  std::vector<std::vector<HeightAtRate>> of_phase;
  std::vector<std::int32_t> heights;
  for (std::size_t i = 0; i < planned->scalings.size(); ++i) {
    const Phase& phase = problem.phases[i];
    auto rows =
        rate_against_height(phase.network, phase.weights, planned->scalings[i], options.packing,
                            other_scalings(phase, planned->scalings[i], options));
    if (!rows) return rows.errors();
    for (const HeightAtRate& row : *rows) heights.push_back(row.height);
    of_phase.push_back(*std::move(rows));
  }
  std::sort(heights.begin(), heights.end(), std::greater<>());
  heights.erase(std::unique(heights.begin(), heights.end()), heights.end());

  std::vector<RateAtHeight> result;
  for (const std::int32_t height : heights) {
    std::vector<const HeightAtRate*> best;
    for (const auto& rows : of_phase) best.push_back(best_within(rows, height));
    if (std::find(best.begin(), best.end(), nullptr) != best.end()) continue;
    auto k = common_k(best.front()->k, best.back()->k);
    if (!k) return k.errors();
    std::vector<ScaleAndK> reached;
    for (const HeightAtRate* row : best) reached.push_back({row->scale, row->k});
    auto algbw = algbw_of(problem.phases, reached);
    if (!algbw) return algbw.errors();
    const double mean = (best.front()->mean_height + best.back()->mean_height) / 2;
    result.push_back({height, mean, *k, *algbw});
  }
  return result;
}

}  // namespace forestcoll
