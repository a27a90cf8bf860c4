// Options of `forestcoll synth` that say nothing to what else was asked for.
#pragma once

#include "common/synthesis/request/options.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli {

/// The first option that was given of those that shape a program of a schedule; null: none.
[[nodiscard]] const char* program_option(const SynthArguments& arguments);
/// The same of those that say how trees are looked for.
[[nodiscard]] const char* search_option(const SynthArguments& arguments);

/// S04 where options shape a schedule and `format` is a forest, or ask for what a plan of MSCCL++
/// does not have.
[[nodiscard]] Expected<void> refuse_for_format(const SynthArguments& arguments, Format format);

/// B09 an unknown algorithm; S04 options that ask it for what only the solver can do, or another
/// algorithm for what only NCCL's can.
[[nodiscard]] Expected<void> refuse_with_baseline(const SynthArguments& arguments);

/// S04 where options do not go with --tune, which makes several schedules and gives each its
/// window.
[[nodiscard]] Expected<void> refuse_with_tune(const SynthArguments& arguments, Format format);

/// S04 where --deploy, which stands in place of -o, is for what no runtime loads.
[[nodiscard]] Expected<void> refuse_with_deploy(const SynthArguments& arguments, Format format);

/// T06 for --deploy where ranks own unequal shares: calls of NCCL give all of them as much.
[[nodiscard]] Expected<void> refuse_deployed_shares(const SynthArguments& arguments,
                                                    const CompileOptions& options,
                                                    const Network& network);

/// S04 for --force-simple where Simple does not hang, or is not what is asked for.
[[nodiscard]] Expected<void> refuse_force_simple(const SynthArguments& arguments,
                                                 const CompileOptions& options,
                                                 const Topology& topology);

}  // namespace forestcoll::cli
