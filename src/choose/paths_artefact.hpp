// Routes of an all-to-all as what is asked for: lowered, emitted and verified.
#pragma once

#include <cstdint>
#include <optional>

#include "forestcoll/compile.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace forestcoll::choose {

/// In how many parts the data of a pair goes.
struct Parts {
  std::optional<std::int64_t> given;  ///< none: of some up to `most`
  std::int64_t most = 1;
  bool fastest = false;  ///< of these the fastest itself, not the fewest that are nearly as fast
};
/// REQUIRES: `options` are settled.
[[nodiscard]] Parts parts_of(const CompileOptions& options);

/// A plan of the paths; where no number of parts is given, in as many more, a power of two, as give
/// so many threadblocks something to do, if that fits. REQUIRES: `options` are settled. Errors:
/// those of `lower_paths_to_plan`.
[[nodiscard]] Expected<ExecutionPlan> paths_plan(const Fabric& fabric, const AlltoallRoutes& routes,
                                                 const CompileOptions& options,
                                                 std::int32_t threadblocks);

/// Chunks of scratch that the GPU with the most of them needs.
[[nodiscard]] std::int64_t scratch_of(const ExecutionPlan& plan);

/// GB/s of algbw at a rate per unit of demand, in GB/s. Errors: E14 (limit) it does not fit.
[[nodiscard]] Expected<Ratio> alltoall_algbw(const ParsedDemand& demand, const Ratio& rate);

/// A compilation with `routes`, `optimum` (GB/s of algbw that nothing exceeds), the text, its rates
/// and the verdict; what it takes is added to `seconds`. REQUIRES: `options` are settled. Errors:
/// E14, those of `lower_alltoall` and `lower_paths_to_plan`. What cannot be read back is a
/// verdict, not an error.
[[nodiscard]] Expected<Compilation> write_paths(const Fabric& fabric, const CompileOptions& options,
                                                const Ratio& optimum, AlltoallRoutes routes,
                                                CompileSeconds& seconds);

}  // namespace forestcoll::choose
