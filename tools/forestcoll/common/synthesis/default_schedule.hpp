// What `synth` reaches where nothing but the collective is asked for.
#pragma once

#include <optional>
#include <string>

#include "command.hpp"
#include "common/fabric.hpp"
#include "common/synthesis/request/options.hpp"
#include "forestcoll/collective.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/demand.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/fastest.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::cli {

/// N10 where a fabric has more than 64 GPUs: a schedule takes a while, where it is not what was
/// asked for.
[[nodiscard]] Expected<void> refuse_many(const Fabric& fabric);

/// A schedule, and by whose choice.
struct ChosenSchedule {
  Compilation compiled;
  std::optional<FastestChoice> choice = {};  ///< for a size; none: by rate
  std::optional<SizeWindow> window = {};  ///< the sizes that its file is for, where it chose them
  std::string left_out = {};  ///< in words, what was not compared, and how to; empty: nothing
};

/// How a schedule is looked for: see `FastestOptions`.
struct SizeSearch {
  bool few_variants = false;
  ServedCounts counts = ServedCounts::of_size;
};

/// The fastest for `request.size`. Errors and cost: those of `fastest_schedule`.
[[nodiscard]] Expected<ChosenSchedule> compile_for_size(const Fabric& fabric,
                                                        const SynthRequest& request,
                                                        const SynthArguments& arguments,
                                                        SizeSearch search = {});
/// Whether of plans few variants are compared, unless one size is asked for: each is in several
/// shapes, and takes a while to be simulated.
[[nodiscard]] bool are_few_plans(const Fabric& fabric, const CompileOptions& options);
/// The fastest for large messages; where that is not known, the best by rate and bounds.
[[nodiscard]] Expected<ChosenSchedule> compile_by_default(const Fabric& fabric,
                                                          const SynthRequest& request,
                                                          const SynthArguments& arguments);

/// GB/s: the third figure beside the two of `rate_figures`, for a target of `synth`. Errors: N10
/// where the fabric has more than 64 GPUs; those of `synth`. Cost: that of `synth`.
[[nodiscard]] Expected<Ratio> reached_by_default(const Fabric& fabric, Collective collective,
                                                 std::optional<Rank> root,
                                                 const std::string& target, const Console& console,
                                                 std::optional<ParsedDemand> demand = {});
/// Why nothing is known of a schedule where no target is named, N10.
[[nodiscard]] Diagnostic no_target(const char* remedy);

}  // namespace forestcoll::cli
