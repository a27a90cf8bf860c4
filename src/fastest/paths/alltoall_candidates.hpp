// Routes of an all-to-all that may take less time than those of the highest rate.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fastest/candidates.hpp"
#include "forestcoll/alltoall.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/fabric.hpp"

namespace forestcoll::fastest {

/// Where k is not given: what a larger one has to gain.
[[nodiscard]] bool gains(const Ratio& rate, const Ratio& before);

/// The optimum with its proof: that of the options, where they have one. Errors: those of
/// `alltoall_optimum`.
[[nodiscard]] Expected<AlltoallProof> alltoall_proof(const Fabric& fabric,
                                                     const CompileOptions& options);

/// Ours, for the numbers of parts that reach more than fewer do, and baselines; of those that are
/// named in `wanted`, if any, and in few variants as `FastestOptions` says. The proof of `options`
/// is found where it is null. REQUIRES: `options` are settled. Errors: those of `alltoall_optimum`
/// and `route_alltoall`; B10 where none of those that are wanted exists here.
[[nodiscard]] Expected<std::vector<Candidate>> find_alltoall_candidates(
    const Fabric& fabric, const CompileOptions& options, const std::vector<std::string>& wanted,
    bool few_variants);

/// A baseline's own, complete. Errors: those of `make_alltoall_baseline` and `complete_routes`.
[[nodiscard]] Expected<AlltoallRoutes> alltoall_baseline_routes(const Fabric& fabric,
                                                                const Demand& demand,
                                                                std::string_view name,
                                                                std::int64_t k);

/// Routes that stop where those of a baseline do, in as many parts as `best`, in rounds as short as
/// ours where links carry as much as of `best`; in few rounds where they do not. What half as many
/// parts reach stays. Errors: likewise.
[[nodiscard]] Expected<AlltoallRoutes> with_stops_of(const Fabric& fabric, const Demand& demand,
                                                     std::string_view name,
                                                     const AlltoallRoutes& best);

/// Every leg as soon as its data can be there, and what takes the same links together: messages for
/// the same next hop are one. Errors: those of `complete_routes`.
[[nodiscard]] Expected<AlltoallRoutes> in_few_rounds(const Fabric& fabric, const Demand& demand,
                                                     AlltoallRoutes routes);

}  // namespace forestcoll::fastest
