#include "forestcoll/joint_plan.hpp"

#include <fmt/format.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "choose/artefact.hpp"
#include "choose/plan_shapes.hpp"
#include "choose/settle.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/failures.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace forestcoll {
namespace {

using RankOfId = std::map<std::string, Rank>;

RankOfId ranks_by_id(const Topology& topology) {
  RankOfId ranks;
  for (std::size_t r = 0; r < topology.ranks.size(); ++r) {
    ranks.emplace(topology.nodes[topology.ranks[r]].id, Rank(r));
  }
  return ranks;
}

// The forest with the ranks of the whole fabric.
Expected<GroupForest> among_ranks(const PartForest& group, const RankOfId& ranks) {
  const Topology& part = *group.part;
  GroupForest result{group.forest, {}};
  for (const NodeId member : part.ranks) result.members.push_back(ranks.at(part.nodes[member].id));
  if (!has_relays(part)) return result;
  result.relays = IdVector<NodeId, Rank>(part.nodes.size());
  for (std::size_t v = 0; v < part.nodes.size(); ++v) {
    const TopologyNode& node = part.nodes[NodeId(v)];
    if (node.type != NodeType::relay) continue;
    const auto rank = ranks.find(node.id);
    if (rank == ranks.end()) {
      return make_error(
          Code::T06,
          fmt::format("{} is to pass data on, and is no rank that could run a plan", node.id),
          "leave the relays of the topology out, or make them compute nodes");
    }
    result.relays[NodeId(v)] = rank->second;
  }
  return result;
}

}  // namespace

Expected<void> check_joint_plan(Collective collective) {
  if (collective == Collective::allgather || collective == Collective::reduce_scatter ||
      collective == Collective::allreduce) {
    return {};
  }
  return make_error(Code::T06,
                    fmt::format("one plan for several groups is of an allgather, a reduce_scatter "
                                "or an allreduce alone, which {} is not",
                                to_string(collective)),
                    "write a schedule for each group");
}

Expected<JointPlan> compile_joint_plan(const Fabric& fabric, std::span<const PartForest> groups,
                                       const CompileOptions& options) {
  const Collective collective = options.synthesis.collective;
  if (const auto done = check_joint_plan(collective); !done) return done.errors();
  auto settled = choose::settle(fabric, options);
  if (!settled) return settled.errors();
  Compilation result{.options = *std::move(settled)};
  const RankOfId ranks = ranks_by_id(fabric.topology);
  std::vector<GroupForest> forests;
  for (const PartForest& group : groups) {
    auto forest = among_ranks(group, ranks);
    if (!forest) return forest.errors();
    forests.push_back(*std::move(forest));
  }
  choose::tell(result.options, "making the schedule");
  const auto plan = choose::plan_for_large_messages(forests, fabric, result.options);
  if (!plan) return plan.errors();
  result.text =
      to_mscclpp_json(plan->plan, fmt::format("forestcoll-{}-{}-{}groups", fabric.topology.name,
                                              to_string(collective), groups.size()));
  choose::tell(result.options, "checking");
  auto verdict =
      verify(result.text, "<schedule>", &fabric.topology, choose::runtime_of(result.options));
  if (!verdict) return verdict.errors();
  result.verdict = *std::move(verdict);
  return JointPlan{std::move(result), plan->seconds};
}

}  // namespace forestcoll
