// Runs a plan over symbolic data.
#pragma once

#include <optional>

#include "audit/common/fabric_load.hpp"
#include "audit/common/findings.hpp"
#include "audit/common/group_load.hpp"
#include "audit/common/memory_map.hpp"
#include "audit/common/program.hpp"
#include "audit/common/symbolic_memory.hpp"
#include "audit/plan/file.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::audit {

struct PlanRun {
  Results results;
  Transfers transfers;           ///< chunks from rank to rank
  GroupAccesses group_accesses;  ///< through switch channels
};

/// Checks that the plan ends, that nothing races, and that every rank ends with what the collective
/// promises. Nothing where it cannot be run to its end.
/// REQUIRES: check_plan_structure found nothing that blocks, and filled `program`.
[[nodiscard]] std::optional<PlanRun> check_plan(const PlanFile& plan, const Program& program,
                                                const MemoryMap& memory, Findings& findings);

/// Says in `verdict`, in words and numbers, for which buffers the executor takes the plan. Adds a
/// finding where for none.
void put_usable(const PlanFile& plan, Findings& findings, Verdict& verdict);

}  // namespace forestcoll::audit
