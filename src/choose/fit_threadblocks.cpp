#include "choose/fit_threadblocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "choose/forest_size.hpp"
#include "choose/settle.hpp"
#include "forestcoll/topology.hpp"
#include "schedule/mscclpp/plan.hpp"
#include "solver/portfolio/best_forest.hpp"
#include "solver/symmetry/fewer_peers.hpp"

namespace forestcoll::choose {
namespace {

struct Divided {
  CollectiveForest forest;
  std::size_t peers = 0, before = 0;
};

std::optional<Divided> divide(const CollectiveForest& forest, const Network& network, int levels) {
  Divided result{forest};
  for (std::optional<Forest>* phase : {&result.forest.reduce, &result.forest.broadcast}) {
    if (!*phase) continue;
    auto fewer = solver::with_fewer_peers(network, **phase, levels);
    if (!fewer) return std::nullopt;
    *phase = std::move(fewer->forest);
    result.peers = std::max(result.peers, fewer->peers);
    result.before = std::max(result.before, fewer->before);
  }
  return result;
}

// Makes the schedule of this forest, which is kept if it is XML's.
Expected<void> try_lowering(const CollectiveForest& forest, const Fabric& fabric,
                            const CompileOptions& options, std::optional<Schedule>& kept) {
  if (options.format == Format::mscclpp) {
    const auto plan = lower_to_plan(forest, boxes_of_ranks(fabric.topology), plan_options(options));
    return plan ? Expected<void>() : plan.errors();
  }
  auto schedule = lower(forest, options.lowering);
  if (!schedule) return schedule.errors();
  kept = *std::move(schedule);
  return {};
}

bool is_for_many_peers(const Diagnostics& refusal) {
  return refusal.front().kind == ErrorKind::threadblocks;
}

}  // namespace

FittedForest fit_threadblocks(Synthesis synthesis, const Fabric& fabric,
                              const CompileOptions& options) {
  FittedForest result{{std::move(synthesis), ""}, true};
  if (!is_schedule(options.format)) {
    result.fits = refuse_large_forest(result.chosen.synthesis.forest, options).has_value();
    return result;
  }
  ChosenForest& chosen = result.chosen;
  CollectiveForest& forest = chosen.synthesis.forest;
  const auto lowered = try_lowering(forest, fabric, options, chosen.schedule);
  if (lowered) return result;
  result.fits = false;
  if (!is_for_many_peers(lowered.errors())) return result;
  for (const int levels : {2, 3}) {
    auto taller = divide(forest, fabric.network, levels);
    if (!taller) continue;
    const auto attempt = try_lowering(taller->forest, fabric, options, chosen.schedule);
    if (!attempt && is_for_many_peers(attempt.errors())) continue;
    result.fits = attempt.has_value();
    chosen.why = fmt::format(
        "taller trees, of height {} instead of {}, to fit the threadblocks: a GPU sends to at most "
        "{} others, not {}",
        solver::height_of(taller->forest), solver::height_of(forest), taller->peers,
        taller->before);
    forest = std::move(taller->forest);
    break;
  }
  return result;
}

}  // namespace forestcoll::choose
