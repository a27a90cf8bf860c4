// All-to-alls, scatters and gathers in a comparison: ours and others', as flows and as programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common/fabric.hpp"
#include "common/options/collective_option.hpp"
#include "compare/comparison.hpp"
#include "compare/rows/row_maker.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli {

/// Finds the optimum and what it follows from. Errors: those of `alltoall_optimum`, E14.
[[nodiscard]] Expected<Comparison> alltoall_optimum_of(const Fabric& fabric,
                                                       const RowsRequest& request,
                                                       const Console& console);

/// Whose row it is.
void describe_alltoall(const std::string& name, ComparedRow& row);
/// One of `alltoall_baselines`, or `kOurs`, as flows, verified; after ours, what may be faster for
/// small messages, paths of others among them. Errors: those of `compile_alltoalls`.
[[nodiscard]] Expected<std::vector<Compilation>> alltoall_flows(const Fabric& fabric,
                                                                const RowsRequest& request,
                                                                const std::string& name);
/// What runtimes load of such a collective: MSCCL XML, or plans of MSCCL++.
[[nodiscard]] inline Format program_format(Collective collective) {
  return is_for_plans_alone(collective) ? Format::mscclpp : Format::msccl;
}
/// What is asked for by name as a program of the default target, in so many parts per pair.
[[nodiscard]] Expected<Compilation> alltoall_program(const Fabric& fabric,
                                                     const RowsRequest& request,
                                                     const std::string& name, std::int64_t k);

}  // namespace forestcoll::cli
