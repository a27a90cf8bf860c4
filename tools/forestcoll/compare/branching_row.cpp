#include "compare/branching_row.hpp"

#include "common/report/report.hpp"
#include "forestcoll/allreduce_optimum.hpp"
#include "forestcoll/pack_branching.hpp"
#include "forestcoll/switch_roles.hpp"

namespace forestcoll::cli {

std::optional<BranchingForest> faster_branching(const Fabric& fabric, Collective collective,
                                                const Ratio& than) {
  const SwitchRoles roles = switch_roles(fabric.topology);
  if (collective != Collective::allreduce || roles.empty()) return std::nullopt;
  const auto optimum = allreduce_optimum(fabric.network, roles);
  if (!optimum || !optimum->split || optimum->split->algbw <= than) return std::nullopt;
  auto forest = pack_branching(fabric.network, roles, *optimum);
  if (!forest || forest->algbw <= than) return std::nullopt;
  return *std::move(forest);
}

Diagnostic no_copies_in_xml() {
  return usage_error("T06", "MSCCL XML cannot say that switches copy and combine",
                     "synth --format mscclpp writes a plan that can, where its executor has it");
}

}  // namespace forestcoll::cli
