#include "choose/branching.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "forestcoll/allreduce_optimum.hpp"
#include "forestcoll/boxes.hpp"
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

// The GPUs that have links to and from a switch.
std::vector<NodeId> gpus_on(const Network& network, NodeId w) {
  std::vector<NodeId> gpus;
  for (const ArcId a : network.graph.in(w)) {
    const NodeId v = network.graph.tail(a);
    if (network.is_compute(v) && network.graph.find(w, v).valid()) gpus.push_back(v);
  }
  return gpus;
}

}  // namespace

bool has_boxes_on_able_switches(const Fabric& fabric) {
  const Network& network = fabric.network;
  const SwitchRoles roles = switch_roles(fabric.topology);
  const auto box_of = boxes_of_ranks(fabric.topology);
  std::map<std::int32_t, std::size_t> sizes;
  std::set<std::int32_t> served;
  for (const std::int32_t box : box_of) ++sizes[box];
  for (std::size_t w = 0; w < roles.size(); ++w) {
    if (!roles[NodeId(w)].copies || !roles[NodeId(w)].combines) continue;
    const auto gpus = gpus_on(network, NodeId(w));
    if (gpus.empty()) continue;
    const std::int32_t box = box_of[network.rank_of[gpus.front()]];
    const bool stays =
        std::ranges::all_of(gpus, [&](NodeId v) { return box_of[network.rank_of[v]] == box; });
    if (stays && gpus.size() == sizes[box]) served.insert(box);
  }
  return served.size() == sizes.size();
}

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
