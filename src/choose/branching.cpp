#include "choose/branching.hpp"

#include <utility>

#include "forestcoll/allreduce_optimum.hpp"
#include "forestcoll/pack_branching.hpp"
#include "forestcoll/switch_roles.hpp"

namespace forestcoll::choose {
namespace {

// Numbers of trees and heights are asked for of trees over ranks alone.
bool may_branch(const CompileOptions& options) {
  const SynthesizeOptions& asked = options.synthesis;
  return (options.format == Format::forest || options.format == Format::mscclpp) &&
         asked.collective == Collective::allreduce &&
         (options.choose_trees || asked.trees_per_root.mode == TreesPerRoot::Mode::optimal) &&
         !asked.max_height && asked.previous == nullptr;
}

}  // namespace

std::optional<BranchingForest> branching_forest(const Fabric& fabric, const CompileOptions& options,
                                                const Ratio& than) {
  if (!may_branch(options)) return std::nullopt;
  const SwitchRoles roles = switch_roles(fabric.topology);
  if (roles.empty()) return std::nullopt;
  const PackOptions& packing = options.synthesis.packing;
  const auto optimum = allreduce_optimum(fabric.network, roles, {.stop = packing.stop});
  if (!optimum || !optimum->split || optimum->split->algbw <= than) return std::nullopt;
  auto forest = pack_branching(fabric.network, roles, *optimum, packing);
  if (!forest || forest->algbw <= than) return std::nullopt;
  return *std::move(forest);
}

}  // namespace forestcoll::choose
