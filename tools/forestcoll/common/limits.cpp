#include "common/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "common/report/alltoall_report.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/job.hpp"
#include "forestcoll/job_parts.hpp"
#include "forestcoll/joint_bound.hpp"
#include "forestcoll/text.hpp"
#include "forestcoll/whole_collective.hpp"

namespace forestcoll::cli {
namespace {

// What the shares are of; of an allreduce stars of unequal shares may be faster.
const char* stars_in_words(Collective collective) {
  return collective == Collective::allreduce ? " by stars of equal shares"
                                             : " by trees of height 1";
}

constexpr std::size_t kMostRanksOfStars = 32;  // of more the program takes minutes

// Whether its links can carry more together.
bool can_bind(const ArcLimit& limit, const Network& network) {
  Int128 most = 0;
  for (const auto& [arc, weight] : limit.uses) most += Int128{network.capacity[arc]} * weight;
  return most > limit.capacity;
}

// What a cut has to carry at least, of a collective at this rate: what one has for another.
Ratio least_crossing(const Network& network, const JobOperation& operation, const Ratio& rate) {
  const auto demand = demand_of_all(network, operation);
  std::int64_t least = demand->whole();
  for (const std::int64_t amount : demand->operations.front().front().amounts) {
    if (amount > 0) least = std::min(least, amount);
  }
  return checked_mul(rate, Ratio(least, demand->whole())).value_or(rate);
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

RateFigures rates_within_limits(const Network& network, const SwitchRoles& roles,
                                Collective collective, std::optional<Rank> root,
                                const std::optional<JointOptimum>& known,
                                const std::stop_token& stop) {
  const auto by_trees = [&](Collective one) {
    if (known && one == collective) return Expected<JointOptimum>(*known);
    return optimum_of_all(network, operation_of_all(network, one, root), {.stop = stop});
  };
  return figures_within_limits(network, roles, collective, root, by_trees, stop);
}

Expected<AlltoallProof> proof_within_limits(const JointOptimum& optimum, const Demand& demand) {
  const std::size_t ranks = demand.ranks();
  // Of a buffer, in what a pair has: 1 / ranks of it.
  const std::int64_t moved = demand.is_of_blocks() ? 1 : demand.total();
  const Ratio buffers(static_cast<std::int64_t>(ranks), moved);
  // A buffer of blocks has one for each rank, and one of a demand what a rank sends on average.
  const auto scaled = [&](const Ratio& rate) {
    return demand.is_of_blocks() ? checked_div(rate, buffers) : checked_mul(rate, buffers);
  };
  const auto reached = scaled(optimum.reached), at_most = scaled(optimum.at_most);
  if (reached && at_most) return AlltoallProof{*reached, *at_most, {}, optimum.lengths};
  return inexact("the exact rate of a pair does not fit 64 bits");
}

RateFigures paths_figures(const JointOptimum& optimum, const ParsedDemand& demand) {
  const auto proof = proof_within_limits(optimum, demand.demand);
  return proof ? paths_figures(*proof, demand) : RateFigures{proof.errors(), proof.errors()};
}

Expected<void> divide_limits(Fabric& fabric, const WholeCollective& asked, const Console& console) {
  if (std::ranges::none_of(fabric.network.limits, [&](const ArcLimit& limit) {
        return can_bind(limit, fabric.network);
      })) {
    fabric.network.limits.clear();
  }
  if (fabric.network.limits.empty()) return {};
  JobOperation operation = operation_of_all(fabric.network, asked.collective, asked.root);
  if (asked.demand != nullptr && !asked.demand->is_of_blocks()) operation.demand = *asked.demand;
  bool are_stars = asked.max_height == 1 && !is_personalized(asked.collective) &&
                   fabric.network.ranks.size() <= kMostRanksOfStars;
  auto optimum = at_work("finding the best rate within limits", console, [&] {
    if (are_stars) {
      auto stars = optimum_of_stars(fabric.network, operation, {.shares = true});
      // Packing says that there are none of this height.
      are_stars = stars || stars.errors().front().code != Code::O08;
      if (are_stars) return stars;
    }
    return optimum_of_all(fabric.network, operation, {.shares = true});
  });
  if (!optimum) return optimum.errors();
  const auto part = within_limits(fabric.topology, fabric.network, operation, optimum->shares,
                                  least_crossing(fabric.network, operation, optimum->reached));
  if (!part) return part.errors();
  auto network = to_digraph(*part);
  if (!network) return network.errors();
  note(console,
       fmt::format("{}: of the links that share them, what {}{} at the best rate takes of each is "
                   "used: {} GB/s{}",
                   counted(fabric.topology.limits.size(), "limit"), operation.name,
                   are_stars ? stars_in_words(asked.collective) : "", number(optimum->reached),
                   optimum->is_exact() ? "" : ", of at most " + number(optimum->at_most)));
  if (asked.max_height == 1 && !is_personalized(asked.collective) &&
      fabric.network.ranks.size() > kMostRanksOfStars) {
    note(console, fmt::format("of more than {} GPUs these are the parts of trees of any height, "
                              "which may leave less to those of height 1",
                              kMostRanksOfStars));
  }
  if (!are_stars) {
    fabric.optimum = *std::move(optimum);
    fabric.optimum->loads.clear();
    fabric.optimum->shares.clear();
  }
  fabric.whole = std::exchange(fabric.network, *std::move(network));
  fabric.beside.reset();
  return {};
}

}  // namespace forestcoll::cli
