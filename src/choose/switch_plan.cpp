#include "choose/switch_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "choose/branching.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/topology.hpp"
#include "topology/model/reach.hpp"

namespace forestcoll::choose {
namespace {

// GPUs of the same place in their boxes exchange sums.
bool has_routes_of_sums(const Network& network, const IdVector<Rank, std::int32_t>& boxes) {
  std::map<std::int32_t, std::int32_t> filled;
  std::vector<std::int32_t> place;
  for (const std::int32_t box : boxes) place.push_back(filled[box]++);
  for (std::size_t r = 0; r < place.size(); ++r) {
    const auto reached = topology::found_through_switches(network, network.ranks[r]);
    for (std::size_t other = 0; other < place.size(); ++other) {
      if (other != r && place[other] == place[r] && !reached[network.ranks[other]]) return false;
    }
  }
  return true;
}

}  // namespace

Expected<NamedPlan> switch_plan(const BranchingForest& trees, const Fabric& fabric,
                                const PlanOptions& options) {
  const auto boxes = boxes_of_ranks(fabric.topology);
  const bool several = has_several_boxes(fabric.topology);
  if (several && !has_boxes_on_able_switches(fabric)) {
    return make_error(Code::T06, "not every box has a switch that combines",
                      "write the forest with `format=forest`");
  }
  auto plan = several ? make_box_plan(boxes, options) : lower_to_switch_plan(trees, boxes, options);
  if (!plan) return plan.errors();
  if (several && !has_routes_of_sums(fabric.network, boxes)) {
    return make_error(Code::T06, "not every GPU has a route to those of its place in other boxes",
                      "write the forest with `format=forest`");
  }
  return NamedPlan{*std::move(plan),
                   fmt::format("forestcoll-{}-allreduce-switch", fabric.topology.name)};
}

Expected<NamedPlan> packet_plan(const Fabric& fabric, const PlanOptions& options) {
  auto plan = make_packet_plan(boxes_of_ranks(fabric.topology), options);
  if (!plan) return plan.errors();
  return NamedPlan{*std::move(plan),
                   fmt::format("forestcoll-{}-allreduce-packets", fabric.topology.name)};
}

}  // namespace forestcoll::choose
