#include "synth_plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

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

std::optional<Diagnostic> refuse_with_plan(const SynthArguments& arguments) {
  const auto refuse = [](const char* option, const char* remedy) {
    return usage_error("S04", fmt::format("{} is for MSCCL XML, not for --format mscclpp", option),
                       remedy);
  };
  if (arguments.protocol != "Simple") return refuse("--proto", "leave it out");
  if (arguments.instances != 1) return refuse("--instances", "use a larger -k");
  if (arguments.unfused) return refuse("--unfused", "leave it out");
  if (arguments.threadblocks == "per-tree" || arguments.threadblocks == "merge") {
    return refuse("--threadblocks merge or per-tree", "name a number");
  }
  if (arguments.in_place && arguments.out_of_place) {
    return usage_error("S04", "a plan of MSCCL++ is either in place or out of place",
                       "write one plan for each");
  }
  return std::nullopt;
}

Expected<std::string> plan_text(const CollectiveForest& forest, const Topology& topology,
                                const SynthArguments& arguments, const SynthRequest& request) {
  PlanOptions options;
  options.in_place = !arguments.out_of_place;
  options.max_threadblocks = request.lowering.max_threadblocks;
  options.min_bytes = request.xml.min_bytes;
  options.max_bytes = request.xml.max_bytes.value_or(options.max_bytes);
  const auto plan = lower_to_plan(forest, boxes_of(topology), options);
  if (!plan) return plan.errors();
  return to_mscclpp_json(*plan, fmt::format("forestcoll-{}-{}-k{}", topology.name,
                                            to_string(forest.collective), forest.k));
}

}  // namespace forestcoll::cli
