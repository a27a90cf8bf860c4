#include "common/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/job.hpp"
#include "forestcoll/job_parts.hpp"
#include "forestcoll/joint_bound.hpp"
#include "forestcoll/text.hpp"

namespace forestcoll::cli {
namespace {

Expected<JointOptimum> optimum_with_shares(const Fabric& fabric, const JobOperation& operation) {
  const auto demand = joint_demand(fabric.network, std::vector{operation}, false);
  if (!demand) return demand.errors();
  return joint_optimum(fabric.network, *demand, {.shares = true});
}

JobOperation operation_of_all(const Fabric& fabric, const WholeCollective& asked) {
  std::vector<Rank> all;
  for (std::size_t r = 0; r < fabric.network.ranks.size(); ++r) all.emplace_back(r);
  JobOperation operation{
      std::string(to_string(asked.collective)), asked.collective, {std::move(all)}};
  if (asked.root) operation.root = asked.root->index();
  if (asked.demand != nullptr && asked.collective == Collective::alltoall) {
    operation.demand = *asked.demand;
  }
  return operation;
}

// The shares are of trees that branch at GPUs alone.
bool take_roles(Topology& topology) {
  bool had_any = false;
  for (TopologyNode& node : topology.nodes) {
    had_any |= std::exchange(node.multicast, false);
    had_any |= std::exchange(node.reduce, false);
  }
  return had_any;
}

}  // namespace

Expected<void> refuse_limits(const Topology& topology, std::string_view what) {
  if (topology.limits.empty()) return {};
  return make_error(
      Code::E18,
      fmt::format("{} does not know capacities that links share, and the topology has "
                  "{}",
                  what, counted(topology.limits.size(), "limit")),
      "leave it out, or take \"limits\" out of the file");
}

BindingLimit limit_as_written(const Fabric& fabric, std::size_t number) {
  const ArcLimit& limit = fabric.network.limits[number];
  const auto& [arc, weight] = limit.uses.front();
  const auto with_whole_weights = checked_mul(Ratio(limit.capacity), fabric.network.unit);
  BindingLimit written{limit.name, with_whole_weights.value_or(Ratio(0)), limit.uses.size()};
  const NodeId src = fabric.network.graph.tail(arc), dst = fabric.network.graph.head(arc);
  for (const SharedLimit& of_file : fabric.topology.limits) {
    const auto use = std::ranges::find_if(of_file.uses, [&](const SharedLimit::Use& one) {
      return one.src == src && one.dst == dst;
    });
    if (of_file.name != limit.name || use == of_file.uses.end()) continue;
    const auto times = checked_div(Ratio(weight), use->weight);
    const auto bandwidth = times ? checked_div(written.bandwidth, *times) : std::nullopt;
    if (bandwidth != of_file.bandwidth) continue;
    written.bandwidth = *bandwidth;
    break;
  }
  return written;
}

std::vector<BindingLimit> binding_limits(const Fabric& fabric,
                                         const std::vector<std::int64_t>& lengths) {
  std::vector<BindingLimit> binding;
  for (std::size_t l = 0; l < lengths.size(); ++l) {
    if (lengths[l] > 0) binding.push_back(limit_as_written(fabric, l));
  }
  return binding;
}

std::string in_words(const BindingLimit& limit) {
  return fmt::format("limit{}{} of {} GB/s, shared by {}", limit.name.empty() ? "" : " ",
                     limit.name, number(limit.bandwidth), counted(limit.directions, "direction"));
}

Expected<void> divide_limits(Fabric& fabric, const WholeCollective& asked, const Console& console) {
  if (fabric.network.limits.empty()) return {};
  if (has_unequal_shares(fabric.network, asked.collective)) {
    return refuse_limits(fabric.topology, "a collective of unequal shares");
  }
  if (has_relays(fabric.topology)) {
    return refuse_limits(fabric.topology, "--relays");
  }
  const JobOperation operation = operation_of_all(fabric, asked);
  const auto optimum = at_work("finding the best rate within limits", console,
                               [&] { return optimum_with_shares(fabric, operation); });
  if (!optimum) return optimum.errors();
  const auto part = within_limits(fabric.topology, fabric.network, operation, optimum->shares);
  if (!part) return part.errors();
  auto network = to_digraph(*part);
  if (!network) return network.errors();
  const bool had_roles = take_roles(fabric.topology);
  note(console,
       fmt::format("{}: of the links that share them, what {} at the best rate takes of each is "
                   "used: {} GB/s{}",
                   counted(fabric.topology.limits.size(), "limit"), operation.name,
                   number(optimum->reached),
                   optimum->is_exact() ? "" : ", of at most " + number(optimum->at_most)));
  if (had_roles) note(console, "with limits, in-network multicast and reduction are not used");
  fabric.binding_limits = binding_limits(fabric, optimum->limit_lengths);
  fabric.whole = std::exchange(fabric.network, *std::move(network));
  fabric.beside.reset();
  return {};
}

}  // namespace forestcoll::cli
