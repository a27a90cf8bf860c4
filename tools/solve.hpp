// From a fabric to a forest, as the command line asks for it.
#pragma once

#include <optional>
#include <string>

#include "command.hpp"
#include "fabric.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/synthesize.hpp"
#include "solver_options.hpp"
#include "solver_report.hpp"
#include "time_limit.hpp"

namespace forestcoll::cli {

/// The forest of --warm; nothing where `path` is empty. Errors: those of reading, and F01, F02.
[[nodiscard]] Expected<std::optional<CollectiveForest>> load_former(const std::string& path,
                                                                    const Topology& topology);

/// `asked` with what `request` adds, solved under a progress bar; when the time is over, what
/// stands then.
[[nodiscard]] Expected<Synthesis> solve(const Fabric& fabric, SynthesizeOptions asked,
                                        const SolverRequest& request, const TimeLimit& limit,
                                        const Console& console);

/// The rates of other k and of lower trees; when the time is over, those found by then.
[[nodiscard]] Expected<Tradeoff> find_tradeoff(const Fabric& fabric, SynthesizeOptions asked,
                                               const SolverRequest& request, const TimeLimit& limit,
                                               const Console& console);

}  // namespace forestcoll::cli
