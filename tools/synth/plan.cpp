#include "synth/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>

#include "boxes.hpp"
#include "forestcoll/mscclpp.hpp"
#include "report.hpp"

namespace forestcoll::cli {
namespace {

// Ranks of the same box have the same number; those of no box have none. A fabric that names no
// boxes at all is one.
IdVector<Rank, std::int32_t> boxes_of(const Topology& topology) {
  const auto of_nodes = boxes_of_nodes(topology);
  IdVector<Rank, std::int32_t> boxes;
  for (const NodeId node : topology.ranks) boxes.push_back(of_nodes[node]);
  const bool any = std::ranges::any_of(boxes, [](std::int32_t box) { return box >= 0; });
  if (!any) boxes.assign(boxes.size(), 0);
  return boxes;
}

}  // namespace

Expected<std::string> plan_text(const CollectiveForest& forest, const Topology& topology,
                                const SynthArguments& arguments, const SynthRequest& request) {
  PlanOptions options;
  options.in_place = !arguments.out_of_place;
  options.max_threadblocks = request.lowering.max_threadblocks;
  options.min_bytes = request.xml.min_bytes;
  options.max_bytes = request.xml.max_bytes;
  const auto plan = lower_to_plan(forest, boxes_of(topology), options);
  if (!plan) return plan.errors();
  return to_mscclpp_json(*plan, fmt::format("forestcoll-{}-{}-k{}", topology.name,
                                            to_string(forest.collective), forest.k));
}

std::vector<std::string> plan_boxes(const Topology& topology) {
  std::set<std::string> boxes;
  for (const NodeId node : topology.ranks) boxes.insert(topology.nodes[node].box);
  boxes.erase("");
  return {boxes.begin(), boxes.end()};
}

std::string boxes_line(const Topology& topology) {
  constexpr std::size_t most_named = 4;
  const std::vector<std::string> boxes = plan_boxes(topology);
  if (boxes.empty()) {
    return "  taken for one box, as the topology names none: memory channels between all GPUs";
  }
  const auto alone = std::ranges::count_if(
      topology.ranks, [&](NodeId node) { return topology.nodes[node].box.empty(); });
  const std::size_t named = std::min(boxes.size(), most_named);
  std::string text =
      fmt::format("  taken for boxes: {}", fmt::join(std::span(boxes).first(named), ", "));
  if (named < boxes.size()) text += fmt::format(" and {} more", boxes.size() - named);
  text += ": memory channels within each, port channels between";
  if (alone > 0) {
    text += fmt::format("; {} of no box", counted(static_cast<std::size_t>(alone), "GPU"));
  }
  return text;
}

}  // namespace forestcoll::cli
