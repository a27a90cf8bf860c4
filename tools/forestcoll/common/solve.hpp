// From a fabric to a forest, as the command line asks for it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "command.hpp"
#include "common/fabric.hpp"
#include "common/options/solver_options.hpp"
#include "common/options/time_limit.hpp"
#include "common/report/figures/solver_report.hpp"
#include "common/report/progress_bar.hpp"
#include "forestcoll/branching_forest.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/synthesize.hpp"

namespace forestcoll::cli {

/// The forest of --warm; nothing where `path` is empty. Errors: those of reading, and F01, F02.
[[nodiscard]] Expected<std::optional<AnyForest>> load_previous(const std::string& path,
                                                               const Topology& topology);

/// What `work` returns, done under a progress bar that `options` report to, with what `request`
/// says of effort, threads and height; when the time is over, what stands then.
template <class Work>
[[nodiscard]] auto under_bar(SynthesizeOptions& options, const SolverRequest& request,
                             const TimeLimit& limit, const Console& console, Work&& work) {
  ProgressBar bar("solving", console);
  options.packing = {.progress = [&bar](std::string_view stage,
                                        std::optional<double> done) { bar.update(stage, done); },
                     .stop = limit.token(),
                     .effort = request.effort,
                     .threads = request.threads};
  options.max_height = request.max_height;
  options.answer_when_stopped = true;
  auto result = work();
  options.packing.progress = {};
  return result;
}

/// The rates of other k and of lower trees; when the time is over, those found by then.
[[nodiscard]] Expected<Tradeoff> find_tradeoff(const Fabric& fabric, SynthesizeOptions asked,
                                               const SolverRequest& request, const TimeLimit& limit,
                                               const Console& console);

}  // namespace forestcoll::cli
