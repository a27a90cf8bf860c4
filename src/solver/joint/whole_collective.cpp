#include "forestcoll/whole_collective.hpp"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace forestcoll {
namespace {

// What stars move, pair by pair: both ranks have data for one another, or the root has all. Groups
// of one operation have no rank in common, so that each pair is an operation.
std::vector<JobOperation> pairs_of(const JobOperation& operation) {
  std::vector<JobOperation> pairs;
  const auto add = [&](Rank first, Rank second) {
    pairs.push_back(operation);
    pairs.back().groups = {{first, second}};
    if (operation.root) pairs.back().root = 0;
    if (operation.collective == Collective::allreduce) {
      pairs.back().collective = Collective::allgather;
    }
  };
  const auto& all = operation.groups.front();
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (operation.root) {
      if (i != *operation.root) add(all[*operation.root], all[i]);
      continue;
    }
    for (std::size_t j = i + 1; j < all.size(); ++j) add(all[i], all[j]);
  }
  return pairs;
}

// With amounts and a buffer of which the rates are told.
void set_amounts(JointDemand& demand, const Network& network, const JobOperation& operation) {
  if (operation.root) return;
  const bool is_unequal = has_unequal_shares(network, operation.collective);
  const std::int64_t phases = operation.collective == Collective::allreduce ? 2 : 1;
  std::int64_t buffer = 0;
  for (std::size_t r = 0; r < network.ranks.size(); ++r) {
    buffer += is_unequal ? network.weight[Rank(r)] : 1;
  }
  demand.buffers.assign(demand.operations.size(), buffer);
  for (auto& commodities : demand.operations) {
    Commodity& pair = commodities.front();
    for (std::size_t i = 0; i < pair.members.size(); ++i) {
      const Rank rank = network.rank_of[pair.members[i]];
      pair.amounts[i] = is_unequal ? network.weight[rank] : phases;
    }
  }
}

// Parts of the arcs as of one commodity; rounded down where sums do not fit.
LinkShares added_up(const LinkShares& shares, std::size_t arcs) {
  constexpr std::int64_t kRoundedParts = std::int64_t{1} << 30;
  IdVector<ArcId, Ratio> sums(arcs, Ratio(0));
  const auto rounded = [](const Ratio& part) {
    const Int128 whole = static_cast<Int128>(part.num()) * kRoundedParts / part.den();
    return Ratio(static_cast<std::int64_t>(whole), kRoundedParts);
  };
  for (const auto& of_operation : shares) {
    for (const auto& [arc, part] : of_operation.front()) {
      const auto exact = checked_add(sums[arc], part);
      sums[arc] = exact ? *exact : rounded(sums[arc]) + rounded(part);
    }
  }
  std::vector<LinkShare> one;
  for (std::size_t a = 0; a < arcs; ++a) {
    if (sums[ArcId(a)] > Ratio(0)) one.push_back({ArcId(a), sums[ArcId(a)]});
  }
  return {{std::move(one)}};
}

}  // namespace

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

Expected<JointOptimum> optimum_of_stars(const Network& network, const JobOperation& operation,
                                        const JointLimits& limits) {
  auto demand = joint_demand(network, pairs_of(operation), false);
  if (!demand) return demand.errors();
  set_amounts(*demand, network, operation);
  auto optimum = joint_optimum(network, *demand, limits);
  if (optimum && limits.shares) {
    optimum->shares = added_up(optimum->shares, network.graph.arc_count());
  }
  return optimum;
}

}  // namespace forestcoll
