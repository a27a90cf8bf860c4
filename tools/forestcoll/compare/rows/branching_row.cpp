#include "compare/rows/branching_row.hpp"

#include <fmt/format.h>

#include "common/report/figures/tree_shape.hpp"
#include "common/report/report.hpp"
#include "forestcoll/allreduce.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {

std::optional<BranchingForest> better_branching(const Fabric& fabric,
                                                const CollectiveForest& without) {
  const Network& network = fabric.network;
  const SwitchRoles roles = switch_roles(fabric.topology);
  if (roles.empty()) return std::nullopt;
  if (without.root) {
    if (!has_able_switches(roles, without.collective)) return std::nullopt;
    const auto optimum = rooted_optimum(network, roles, without.collective, *without.root);
    if (!optimum) return std::nullopt;
    auto forest = branching_from_root(network, roles, without.collective, *without.root, *optimum);
    const bool is_better =
        forest &&
        (without.algbw < forest->algbw ||
         (forest->algbw == without.algbw && messages_in_turn(*forest) < shape_of(without).highest));
    return is_better ? std::move(forest) : std::nullopt;
  }
  if (without.collective != Collective::allreduce) return std::nullopt;
  const auto optimum = allreduce_optimum(network, roles);
  if (!optimum || !optimum->split || optimum->split->algbw <= without.algbw) return std::nullopt;
  auto forest = pack_branching(network, roles, *optimum);
  if (!forest || forest->algbw <= without.algbw) return std::nullopt;
  return *std::move(forest);
}

std::string without_switches(const CollectiveForest& without) {
  if (without.root) {
    return fmt::format("branches at switches; over GPUs alone {} messages one after the other",
                       shape_of(without).highest);
  }
  return fmt::format("branches at switches; over GPUs alone {} GB/s", number(without.algbw));
}

Diagnostic no_copies_in_xml() {
  return make_error(Code::T06, "MSCCL XML cannot say that switches copy and combine",
                    "synth --format mscclpp writes a plan that can, where its executor has it");
}

}  // namespace forestcoll::cli
