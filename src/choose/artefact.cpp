#include "choose/artefact.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "choose/plan_shapes.hpp"
#include "choose/settle.hpp"
#include "choose/switch_plan.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::choose {
namespace {

// Where no message is larger than the model says that packets are good for.
std::optional<BranchingText> packets_instead(const BranchingText& sums, const Fabric& fabric,
                                             const PlanOptions& options) {
  if (!options.max_bytes) return std::nullopt;
  const auto packets = packet_plan(fabric, options);
  if (!packets) return std::nullopt;
  std::string text = to_mscclpp_json(packets->plan, packets->name);
  const auto mine = simulated_time(text, fabric, *options.max_bytes);
  const auto theirs = simulated_time(sums.text, fabric, *options.max_bytes);
  if (!mine || !theirs || *theirs <= *mine) return std::nullopt;
  return BranchingText{std::move(text), true};
}

Expected<BranchingText> emit_switch_plan(const BranchingForest& forest, const Fabric& fabric,
                                         const CompileOptions& options) {
  const PlanOptions asked = plan_options(options);
  const auto sums = switch_plan(forest, fabric, asked);
  if (!sums) return sums.errors();
  BranchingText emitted{to_mscclpp_json(sums->plan, sums->name)};
  auto packets = packets_instead(emitted, fabric, asked);
  return packets ? *std::move(packets) : std::move(emitted);
}

}  // namespace

void tell(const CompileOptions& options, std::string_view stage) {
  const Progress& progress = options.synthesis.packing.progress;
  if (progress) progress(stage, std::nullopt);
}

Expected<Lowered> lower_forest(const CollectiveForest& forest, std::optional<Schedule> known,
                               const Fabric& fabric, const CompileOptions& options) {
  tell(options, "making the schedule");
  if (options.format == Format::mscclpp) {
    auto plan = plan_for_large_messages(forest, fabric, options);
    if (!plan) return plan.errors();
    return Lowered(std::move(plan->plan));
  }
  if (options.format != Format::msccl) return Lowered();
  if (known) return Lowered(*std::move(known));
  auto schedule = lower(forest, options.lowering);
  if (!schedule) return schedule.errors();
  return Lowered(*std::move(schedule));
}

std::string emit_forest(const CollectiveForest& forest, const Lowered& lowered,
                        const Topology& topology, const CompileOptions& options) {
  switch (options.format) {
    case Format::msccl:
      tell(options, "writing the schedule");
      return to_msccl_xml(std::get<Schedule>(lowered), forest, topology, options.xml);
    case Format::mscclpp:
      return to_mscclpp_json(std::get<ExecutionPlan>(lowered), plan_name(topology, forest));
    case Format::forest:
      return to_forest_json(forest, topology);
    case Format::forest_xml:
      return to_forest_xml(forest, topology);
    case Format::dot:
      return to_dot(forest, topology);
    case Format::forest_symmetric:
    case Format::flows:
    case Format::none:
      break;
  }
  return to_symmetric_forest_json(forest, topology);
}

std::string plan_name(const Topology& topology, const CollectiveForest& forest,
                      std::string_view algorithm) {
  return fmt::format("{}-{}-{}-k{}", algorithm, topology.name, to_string(forest.collective),
                     forest.k);
}

void verify_text(const std::string& text, const Topology& topology, Compilation& result) {
  tell(result.options, "checking");
  auto verdict = verify(text, "<schedule>", &topology, runtime_of(result.options));
  if (verdict) {
    result.verdict = *std::move(verdict);
  } else {
    result.verdict.findings = verdict.errors();
  }
}

Expected<BranchingText> emit_branching(const BranchingForest& forest, const Fabric& fabric,
                                       const CompileOptions& options) {
  if (options.format == Format::mscclpp) return emit_switch_plan(forest, fabric, options);
  if (options.format == Format::dot) return BranchingText{to_dot(forest, fabric.topology)};
  return BranchingText{to_forest_json(forest, fabric.topology)};
}

}  // namespace forestcoll::choose
