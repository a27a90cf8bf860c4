#include <algorithm>
#include <utility>

#include "forestcoll/synthesize.hpp"
#include "solver/pack/problem.hpp"
#include "solver/rate/choose_scale.hpp"

namespace forestcoll {

Expected<std::vector<RateAtK>> rate_by_k(const Network& network, Collective collective,
                                         std::optional<Rank> root, std::int64_t most,
                                         const std::stop_token& stop) {
  const solver::Problem problem(network, collective, root, stop);
  if (const auto done = solver::refuse_open_rate(problem); !done) return done.errors();
  auto chosen =
      solver::choose_scale(problem.phases, {TreesPerRoot::Mode::power_of_two, most}, stop);
  if (!chosen) return chosen.errors();
  auto k = solver::k_of_optimum(problem);
  if (!k) return k.errors();
  auto optimum = solver::optimum_of(problem);
  if (!optimum) return optimum.errors();
  std::vector<RateAtK> rows = std::move(chosen->rows);
  const bool listed =
      std::any_of(rows.begin(), rows.end(), [&](const RateAtK& row) { return row.k == *k; });
  if (!listed) rows.push_back({*k, *optimum});
  return rows;
}

}  // namespace forestcoll
