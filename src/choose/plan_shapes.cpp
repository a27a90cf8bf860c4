#include "choose/plan_shapes.hpp"

#include <tbb/parallel_for.h>
#include <tbb/parallel_invoke.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "choose/candidate_times.hpp"
#include "choose/settle.hpp"
#include "forestcoll/search_scale.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::choose {
namespace {

// By simulation each is the fastest somewhere.
constexpr std::int64_t kSmallUnit = std::int64_t{1} << 17;
constexpr std::array<PlanShape, 7> kOfTrees = {{
    {kMostThreadblocks, 8, 4, kSmallUnit},    // large sizes: rounds overlap
    {kMostThreadblocks, 4, 8, kSmallUnit},    // deeper pipelines, for higher trees
    {kMostThreadblocks, 2, 8, kSmallUnit},    // the same with fewer operations
    {kMostThreadblocks, 1, 8, kSmallUnit},    // and with the fewest: trees as wide as they come
    {kEnoughThreadblocks, 1, 1, kSmallUnit},  // all levels in one threadblock, as of one phase
    {kEnoughThreadblocks, 8, 1, kSmallUnit},  // smaller sizes
    {kEnoughThreadblocks},                    // few rounds
}};
// They are in parts already.
constexpr std::array<PlanShape, 3> kOfPaths = {{
    {1},                                         // as the paths come
    {kEnoughThreadblocks},                       // parts for as many as are enough
    {std::numeric_limits<std::int32_t>::max()},  // parts for all that are allowed
}};
// They have one of their own.
constexpr std::array<PlanShape, 1> kOfSwitches = {};

}  // namespace

std::span<const PlanShape> plan_shapes(PlanOf what) {
  switch (what) {
    case PlanOf::trees:
      break;
    case PlanOf::paths:
      return kOfPaths;
    case PlanOf::switches:
      return kOfSwitches;
  }
  return kOfTrees;
}

Expected<TimedPlan> plan_for_large_messages(std::span<const GroupForest> groups,
                                            const Fabric& fabric, const CompileOptions& options) {
  const auto boxes = boxes_of_ranks(fabric.topology);
  const auto planned = [&](const PlanShape& shape) {
    PlanOptions asked = plan_options(options);
    asked.shape = shape;
    return lower_to_plan(groups, boxes, asked);
  };
  const auto usual = planned(kOfTrees.front());
  if (!usual) return usual.errors();
  std::size_t edges = 0;
  for (const GroupForest& group : groups) edges += edge_count(*group.forest);
  if (boxes.size() > scale::kMostRanksOfShapes || edges > scale::kMostEdgesOfShapes) {
    return TimedPlan{*usual};
  }
  const std::int64_t bytes = std::min(kLargeMessage, usual->max_bytes);
  std::vector<std::optional<TimedPlan>> plans(kOfTrees.size());
  const auto time = [&](std::size_t s, double most_seconds) {
    auto plan = s == 0 ? usual : planned(kOfTrees[s]);
    if (!plan) return;
    const auto seconds =
        plan_seconds(*plan, fabric, bytes, options.synthesis.packing.stop, most_seconds);
    plans[s] = TimedPlan{*std::move(plan), seconds};
  };
  const auto seconds_of = [](const std::optional<TimedPlan>& each) {
    return each && each->seconds ? *each->seconds : std::numeric_limits<double>::infinity();
  };
  // What the first ones take ends the others early; how early does not depend on who ends first.
  tbb::parallel_invoke([&] { time(0, std::numeric_limits<double>::infinity()); },
                       [&] { time(1, std::numeric_limits<double>::infinity()); });
  const double most = std::min(seconds_of(plans[0]), seconds_of(plans[1]));
  tbb::parallel_for(std::size_t{2}, kOfTrees.size(), [&](std::size_t s) { time(s, most); });
  TimedPlan best = *std::move(*std::ranges::min_element(plans, {}, seconds_of));
  if (bytes < kLargeMessage) best.seconds.reset();
  return best;
}

Expected<TimedPlan> plan_for_large_messages(const CollectiveForest& forest, const Fabric& fabric,
                                            const CompileOptions& options) {
  const GroupForest all = group_of_all(forest, fabric.topology.ranks.size());
  return plan_for_large_messages({&all, 1}, fabric, options);
}

}  // namespace forestcoll::choose
