// One plan of MSCCL++ for process groups that run a collective at the same time.
#pragma once

#include <optional>
#include <span>

#include "forestcoll/compile.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

/// A group's forest in its part of a fabric.
struct PartForest {
  const Topology* part = nullptr;  ///< of `job_parts`; its nodes are named as those of the fabric
  const CollectiveForest* forest = nullptr;  ///< on this part, or on one of the same shape
};

struct JointPlan {
  Compilation made;
  /// For a gibibyte of each group, simulated; none where that takes too long.
  std::optional<double> seconds = {};
};

/// T06 a collective that no such plan is of: one whose groups the checker does not follow.
[[nodiscard]] Expected<void> check_joint_plan(Collective collective);

/// One plan over all ranks of the fabric, which carries out all forests at once: GPUs that relay in
/// a part are ranks that pass data on through scratch. The whole buffers of all groups are of one
/// size. Of the result, the chosen forest is empty; what the groups reach together is the verdict's
/// algbw, of each group's whole buffer. REQUIRES: groups share no member, all forests are of the
/// options' collective, and all members of a group own the same. Errors: those of
/// `check_joint_plan`; T06 a GPU that relays and is no rank of the fabric; those of
/// `lower_to_plan`.
[[nodiscard]] Expected<JointPlan> compile_joint_plan(const Fabric& fabric,
                                                     std::span<const PartForest> groups,
                                                     const CompileOptions& options);

}  // namespace forestcoll
