// The way of an all-to-all through the stages: optimum, paths, text, verdict.
#pragma once

#include "forestcoll/compile.hpp"

namespace forestcoll {

/// What `compile` makes of an all-to-all. REQUIRES: the options are settled. Errors: those of
/// `compile`.
[[nodiscard]] Expected<Compilation> compile_paths(const Fabric& fabric,
                                                  const CompileOptions& settled);

}  // namespace forestcoll
