// An allreduce that is better with both phases at once has trees that differ more, and their XML or
// plan can be the slower one for all its rate. So the model is asked.
#include <fmt/format.h>
#include <tbb/parallel_invoke.h>

#include <optional>
#include <utility>
#include <vector>

#include "choose/candidate_times.hpp"
#include "choose/settle.hpp"
#include "choose/trees.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/fabric.hpp"

namespace forestcoll {
namespace {

// For a large message by the model; none where it does not fit the target (`compile` then takes one
// phase after the other), or is too large.
std::optional<double> seconds_of(ChosenForest& chosen, const Fabric& fabric,
                                 const CompileOptions& options) {
  if (options.format == Format::msccl && !chosen.schedule) {
    auto schedule = lower(chosen.synthesis.forest, options.lowering);
    if (!schedule) return std::nullopt;
    chosen.schedule = *std::move(schedule);
  }
  return choose::candidate_time(chosen, fabric, options);
}

bool has_choice(const CompileOptions& options, const ChosenForest& chosen) {
  return is_schedule(options.format) && options.tree_count == TreeCount::chosen &&
         chosen.synthesis.two_phases.has_value() && !chosen.synthesis.stopped;
}

}  // namespace

Expected<std::vector<ChosenForest>> choose::choose_both_ways(const Fabric& fabric,
                                                             const CompileOptions& options) {
  auto best = choose_trees(fabric, options);
  if (!best) return best.errors();
  std::vector<ChosenForest> found;
  found.push_back(*std::move(best));
  if (!has_choice(options, found.front())) return found;
  CompileOptions apart = options;
  apart.synthesis.at_once = false;
  auto in_turn = choose_trees(fabric, apart);
  if (!in_turn || in_turn->synthesis.stopped) return found;
  const Synthesis& at_once = found.front().synthesis;
  in_turn->synthesis.two_phases = at_once.two_phases;
  in_turn->synthesis.forest.optimum = at_once.forest.optimum;
  in_turn->synthesis.optimum_at_least = at_once.optimum_at_least;
  found.push_back(*std::move(in_turn));
  return found;
}

Expected<ChosenForest> choose_forest(const Fabric& fabric, const CompileOptions& given) {
  const auto options = choose::settle(fabric, given);
  if (!options) return options.errors();
  auto both = choose::choose_both_ways(fabric, *options);
  if (!both) return both.errors();
  ChosenForest& best = both->front();
  if (both->size() == 1) return std::move(best);
  ChosenForest& in_turn = both->back();
  std::optional<double> at_once_time, in_turn_time;
  tbb::parallel_invoke([&] { at_once_time = seconds_of(best, fabric, *options); },
                       [&] { in_turn_time = seconds_of(in_turn, fabric, *options); });
  if (!at_once_time || !in_turn_time || *at_once_time <= *in_turn_time) return std::move(best);
  in_turn.why = fmt::format(
      "one phase after the other is faster for 1 GiB (model, not "
      "measurement): {:.2f} ms, both at once {:.2f} ms",
      *in_turn_time * 1e3, *at_once_time * 1e3);
  return std::move(in_turn);
}

}  // namespace forestcoll
