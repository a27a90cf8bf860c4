// What a synthesis begins with: what is asked for, and the fabric that it is for.
#pragma once

#include <memory>
#include <optional>

#include "command.hpp"
#include "common/fabric.hpp"
#include "common/options/solver_options.hpp"
#include "common/report/report.hpp"
#include "common/synthesis/request/options.hpp"
#include "forestcoll/branching_forest.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/figures.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll::cli {

/// All that is known before the first tree. It stays where it is: the request points to `previous`.
struct PreparedSynthesis {
  PreparedSynthesis(const SynthArguments& given, SynthRequest resolved, SolverRequest how);
  PreparedSynthesis(const PreparedSynthesis&) = delete;
  PreparedSynthesis& operator=(const PreparedSynthesis&) = delete;

  const SynthArguments arguments;
  SynthRequest request;  ///< with the root, the demand and the previous forest
  const SolverRequest solver;
  const TimeLimit limit;
  Fabric fabric;
  /// The whole fabric where `fabric` is without its relays, as programs find it.
  std::optional<Network> with_relays;
  std::optional<AnyForest> previous;  ///< of --warm
};

/// The time limit runs from here. What is to be said of the topology is printed. REQUIRES:
/// arguments that `with_format` returned. Errors: those of `resolve`, S02, and those of reading the
/// files.
[[nodiscard]] Expected<std::unique_ptr<PreparedSynthesis>> prepare(const SynthArguments& arguments,
                                                                   const Console& console);

/// The same on a fabric that is known; nothing is printed of it.
[[nodiscard]] Expected<std::unique_ptr<PreparedSynthesis>> prepare_on(
    forestcoll::Fabric fabric, const SynthArguments& arguments, const Console& console);

/// The two figures of the collective that no format changes: of the whole fabric, as relays, which
/// programs do without, are part of what it can do. Cost: that of `rate_figures`, or of
/// `alltoall_optimum`.
[[nodiscard]] RateFigures rates_of(const PreparedSynthesis& prepared);

/// Whether somebody reads what a failure costs: not in a batch, whose reports have no place for it.
[[nodiscard]] inline bool is_priced(const SynthArguments& arguments, const Console& console,
                                    const Json* summary) {
  return summary == nullptr && (arguments.json || !console.quiet);
}

/// The same request on the fabric before --drop and --derate, from scratch; null where they were
/// not given, or pairs have unequal amounts, which are of the fabric after. Errors: those of
/// `find_root`, E14.
[[nodiscard]] Expected<std::unique_ptr<PreparedSynthesis>> prepare_before(
    const PreparedSynthesis& after);

}  // namespace forestcoll::cli
