#include "common/limits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "common/report/alltoall_report.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/height_optimum.hpp"
#include "forestcoll/job.hpp"
#include "forestcoll/job_parts.hpp"
#include "forestcoll/joint_bound.hpp"
#include "forestcoll/text.hpp"
#include "forestcoll/whole_collective.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::size_t kMostRanksOfHeights = 64;  // of more the program takes minutes

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

// The fabric in its parts, and what is to be said of them.
struct Divided {
  Network network;
  std::string rate;                          // at which these are the parts
  std::string of_height = {};                // whose trees the parts are of
  std::optional<JointOptimum> optimum = {};  // of trees of any height, where it is known
};

/// The parts of the links in limits that a collective takes at its best rate: of trees of any
/// height, or of those that are no higher than was asked for.
class Division {
 public:
  Division(const Fabric& fabric, const WholeCollective& asked)
      : fabric_(fabric),
        asked_(asked),
        operation_(operation_of_all(fabric.network, asked.collective, asked.root)) {
    if (asked.demand != nullptr && !asked.demand->is_of_blocks()) operation_.demand = *asked.demand;
  }

  [[nodiscard]] const JobOperation& operation() const { return operation_; }

  [[nodiscard]] bool is_of_too_many_ranks() const {
    return is_low() && ranks() > kMostRanksOfHeights;
  }

  [[nodiscard]] Expected<Divided> run() const {
    const auto low = is_low() && ranks() <= kMostRanksOfHeights
                         ? optimum_of_height(fabric_.network, operation_, *asked_.max_height)
                         : std::nullopt;
    if (low && low->is_optimal) {
      auto divided = by_height(*low);
      if (divided) divided->optimum = of_any_height();
      return divided;
    }
    auto any = by_any_trees();
    if (!low) return any;  // where there are none of this height, packing says so
    if (any && !leaves_less(any->network, *low)) return any;
    auto divided = by_height(*low);
    if (divided && any) divided->optimum = std::move(any->optimum);
    return divided;
  }

 private:
  [[nodiscard]] std::size_t ranks() const { return fabric_.network.ranks.size(); }

  // A tree of n ranks is not higher than n - 1.
  [[nodiscard]] bool is_low() const {
    return asked_.max_height && !is_personalized(asked_.collective) &&
           *asked_.max_height < std::ssize(fabric_.network.ranks) - 1 &&
           refuse_without_owner(fabric_.network, asked_.collective);
  }

  // Does what trees of any height take leave less to those of this one, as a search finds them?
  [[nodiscard]] bool leaves_less(const Network& parts, const HeightOptimum& low) const {
    const auto left = optimum_of_height(parts, operation_, *asked_.max_height);
    return !left || left->reached < low.reached;
  }

  [[nodiscard]] Expected<Network> parts_of(const LinkShares& shares, const Ratio& reached) const {
    const auto part = within_limits(fabric_.topology, fabric_.network, operation_, shares,
                                    least_crossing(fabric_.network, operation_, reached));
    if (!part) return part.errors();
    return to_digraph(*part);
  }

  // What files and reports name as the optimum.
  [[nodiscard]] std::optional<JointOptimum> of_any_height() const {
    auto optimum = optimum_of_all(fabric_.network, operation_);
    if (!optimum) return std::nullopt;
    optimum->loads.clear();
    return *std::move(optimum);
  }

  [[nodiscard]] Expected<Divided> by_any_trees() const {
    auto optimum = optimum_of_all(fabric_.network, operation_, {.shares = true});
    if (!optimum) return optimum.errors();
    auto network = parts_of(optimum->shares, optimum->reached);
    if (!network) return network.errors();
    Divided divided{*std::move(network), number(optimum->reached) + " GB/s"};
    if (!optimum->is_exact()) divided.rate += ", of at most " + number(optimum->at_most);
    optimum->loads.clear();
    optimum->shares.clear();
    divided.optimum = *std::move(optimum);
    return divided;
  }

  [[nodiscard]] Expected<Divided> by_height(const HeightOptimum& low) const {
    auto network = parts_of(low.shares, low.reached);
    if (!network) return network.errors();
    const bool is_exact = low.is_optimal && low.is_exact;
    return Divided{
        .network = *std::move(network),
        .rate = (is_exact ? number(low.reached) : number(low.reached.to_double())) + " GB/s",
        .of_height = fmt::format(" by trees of height {}{}", *asked_.max_height,
                                 *asked_.max_height == 1 ? "" : " at most")};
  }

  const Fabric& fabric_;
  const WholeCollective& asked_;
  JobOperation operation_;
};

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
  const Division division(fabric, asked);
  auto divided =
      at_work("finding the best rate within limits", console, [&] { return division.run(); });
  if (!divided) return divided.errors();
  note(console,
       fmt::format("{}: of the links that share them, what {}{} at the best rate takes of each is "
                   "used: {}",
                   counted(fabric.topology.limits.size(), "limit"), division.operation().name,
                   divided->of_height, divided->rate));
  if (division.is_of_too_many_ranks()) {
    note(console, fmt::format("of more than {} GPUs these are the parts of trees of any height, "
                              "which may leave less to those of height {}",
                              kMostRanksOfHeights, *asked.max_height));
  }
  fabric.optimum = std::move(divided->optimum);
  if (fabric.optimum) fabric.reached_on_whole = fabric.optimum->reached;
  fabric.whole = std::exchange(fabric.network, std::move(divided->network));
  fabric.beside.reset();
  return {};
}

}  // namespace forestcoll::cli
