// What `synth -c alltoall` is asked for.
#pragma once

#include "common/synthesis/request/options.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli {

/// What only an all-to-all has, asked of another collective: S04.
[[nodiscard]] Expected<void> refuse_alltoall_options(const SynthArguments& arguments);

/// As resolved, but for what the solver is told. Errors: S02, S03, S04, B06, B09, T06, where the
/// options do not go together or cannot be read.
[[nodiscard]] Expected<AlltoallCompileOptions> resolve_alltoall(const SynthArguments& arguments);

}  // namespace forestcoll::cli
