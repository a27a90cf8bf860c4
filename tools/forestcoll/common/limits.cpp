#include "common/limits.hpp"

#include <fmt/format.h>

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
      "take \"limits\" out of the file, or ask `bound`, `synth`, `verify` or "
      "`simulate`");
}

Expected<void> divide_limits(Fabric& fabric, const WholeCollective& asked, const Console& console) {
  if (fabric.network.limits.empty()) return {};
  if (has_unequal_shares(fabric.network, asked.collective)) {
    return refuse_limits(fabric.topology, "a collective of unequal shares");
  }
  if (has_relays(fabric.topology)) {
    return refuse_limits(fabric.topology, "a process group with relays");
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
  fabric.whole = std::exchange(fabric.network, *std::move(network));
  fabric.beside.reset();
  return {};
}

}  // namespace forestcoll::cli
