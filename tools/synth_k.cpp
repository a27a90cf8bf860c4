// Runtimes take a file only for element counts that its chunks divide, so k is a power of two. On
// many fabrics the optimum needs uneven trees, say three per root; cut into 32 chunks, they are 11,
// 11 and 10 chunks wide, and lose less than any forest of 16 equal ones. There is no better way to
// spread 2^m chunks over trees than to solve at k = 2^m: the solver finds the least scale at which
// the links carry that many trees, and what any rounding of another forest's widths reaches is such
// a scale as well.
#include "synth_k.hpp"

#include <utility>

#include "forestcoll/schedule.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::int64_t finest = 128;
constexpr std::int64_t first_fine = 32;

// At least half a percent more.
bool is_worth(const Ratio& rate, const Ratio& than) {
  const auto needed = checked_mul(than, Ratio(201, 200));
  return needed && rate >= *needed;
}

bool fits(const CollectiveForest& forest, const SynthRequest& request) {
  return request.format != Format::msccl || lower(forest, request.lowering).has_value();
}

}  // namespace

Expected<Synthesis> solve_with_k(const Fabric& fabric, const SynthesizeOptions& asked,
                                 const SynthRequest& request, const SolverRequest& solver,
                                 const TimeLimit& limit, const Console& console) {
  auto best = solve(fabric, asked, solver, limit, console);
  if (!best || !request.automatic_k || best->stopped || asked.former != nullptr) {
    return best;
  }
  for (std::int64_t k = first_fine; k <= finest; k *= 2) {
    if (!is_worth(best->forest.optimum, best->forest.algbw)) break;
    SynthesizeOptions finer = asked;
    finer.trees_per_root = {TreesPerRoot::Mode::fixed, k};
    auto found = solve(fabric, finer, solver, limit, console);
    if (!found || found->stopped) break;
    auto rows = best->tradeoff;
    rows.push_back({k, found->forest.algbw});
    if (is_worth(found->forest.algbw, best->forest.algbw) && fits(found->forest, request)) {
      found->seconds.rate += best->seconds.rate;
      found->seconds.pack += best->seconds.pack;
      best = std::move(found);
    }
    best->tradeoff = std::move(rows);
  }
  return best;
}

}  // namespace forestcoll::cli
