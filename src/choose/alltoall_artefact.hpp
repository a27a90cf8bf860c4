// Routes of an all-to-all as what is asked for: lowered, emitted and verified.
#pragma once

#include "forestcoll/compile.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace forestcoll::choose {

/// What an all-to-all has in common with other collectives: that of an allgather, whose calls count
/// alike.
[[nodiscard]] CompileOptions as_allgather(const AlltoallCompileOptions& options);

/// A plan of the paths; where `finer`, in as many more parts as give enough threadblocks something
/// to do, if that fits. Errors: those of `lower_alltoall_to_plan`.
[[nodiscard]] Expected<ExecutionPlan> alltoall_plan(const Fabric& fabric,
                                                    const AlltoallRoutes& routes, bool finer,
                                                    const PlanOptions& options);

/// GB/s of algbw at a rate per unit of demand, in GB/s. Errors: E14 (limit) it does not fit.
[[nodiscard]] Expected<Ratio> alltoall_algbw(const ParsedDemand& demand, const Ratio& rate);

/// A compilation with `routes`, `optimum` (GB/s of algbw that nothing exceeds), the text, its rates
/// and the verdict; what it takes is added to `seconds`. Errors: E14, those of `lower_alltoall` and
/// `lower_alltoall_to_plan`. What cannot be read back is a verdict, not an error.
[[nodiscard]] Expected<AlltoallCompilation> write_alltoall(
    const Fabric& fabric, const ParsedDemand& demand, const AlltoallCompileOptions& options,
    const Ratio& optimum, AlltoallRoutes routes, AlltoallSeconds& seconds);

}  // namespace forestcoll::choose
