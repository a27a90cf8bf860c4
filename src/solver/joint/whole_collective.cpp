#include "forestcoll/whole_collective.hpp"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace forestcoll {

JobOperation operation_of_all(const Network& network, Collective collective,
                              std::optional<Rank> root) {
  std::vector<Rank> all;
  for (std::size_t r = 0; r < network.ranks.size(); ++r) all.emplace_back(r);
  JobOperation operation{std::string(to_string(collective)), collective, {std::move(all)}};
  if (root) operation.root = root->index();
  return operation;
}

Expected<JointDemand> demand_of_all(const Network& network, const JobOperation& operation) {
  if (const auto done = refuse_without_owner(network, operation.collective); !done) {
    return done.errors();
  }
  auto demand = joint_demand(network, std::span(&operation, 1), false);
  if (!demand || !has_unequal_shares(network, operation.collective)) return demand;
  Commodity& only = demand->operations.front().front();
  only.amounts.assign(network.weight.begin(), network.weight.end());
  demand->buffers = {std::accumulate(only.amounts.begin(), only.amounts.end(), std::int64_t{0})};
  return demand;
}

Expected<JointOptimum> optimum_of_all(const Network& network, const JobOperation& operation,
                                      const JointLimits& limits) {
  const auto demand = demand_of_all(network, operation);
  if (!demand) return demand.errors();
  return joint_optimum(network, *demand, limits);
}

}  // namespace forestcoll
