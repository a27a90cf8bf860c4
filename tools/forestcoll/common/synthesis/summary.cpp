#include "common/synthesis/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "common/group_rates.hpp"
#include "common/report/time_report.hpp"
#include "common/synthesis/judgement.hpp"
#include "common/synthesis/report/alltoall_report.hpp"
#include "common/synthesis/report/branching_report.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/plan_target.hpp"
#include "forestcoll/text.hpp"

namespace forestcoll::cli {
namespace {

Branching written_as(const Compilation& compiled) {
  const PlanTarget* release = find_plan_target(compiled.options.lowering.target);
  if (compiled.options.format != Format::mscclpp || release == nullptr) return Branching::trees;
  if (!compiled.packets) return Branching::sums;
  return release->switch_stores ? Branching::packets : Branching::packets_apart;
}

// What a plan of MSCCL++ takes for boxes.
std::string boxes_line(const Topology& topology) {
  constexpr std::size_t kMostNamed = 4;
  const std::vector<std::string> boxes = names_of_boxes(topology);
  if (boxes.empty()) {
    return "  taken for one box, as the topology names none: memory channels between all GPUs";
  }
  const auto alone = std::ranges::count_if(
      topology.ranks, [&](NodeId node) { return topology.nodes[node].box.empty(); });
  const std::size_t named = std::min(boxes.size(), kMostNamed);
  std::string text =
      fmt::format("  taken for boxes: {}", fmt::join(std::span(boxes).first(named), ", "));
  if (named < boxes.size()) text += fmt::format(" and {} more", boxes.size() - named);
  text += ": memory channels within each, port channels between";
  if (alone > 0) {
    text += fmt::format("; {} of no box", counted(static_cast<std::size_t>(alone), "GPU"));
  }
  return text;
}

// A runtime takes such a file in place of its own choice at sizes where that is faster, too.
std::string all_sizes_line(const MadeSchedule& made, const SynthArguments& arguments) {
  const bool is_limited =
      !arguments.sizes.empty() || !arguments.min_bytes.empty() || !arguments.max_bytes.empty();
  if (made.window || is_limited || !is_schedule(made.compiled.options.format)) return "";
  const char* why = !arguments.trees.empty()      ? ": leave -k out"
                    : arguments.baseline.chosen() ? ": leave --algorithm out"
                                                  : nullptr;
  if (why == nullptr) return "";
  return fmt::format(
      "  it is for all sizes, though no sizes were compared{}, or write a file for each range of "
      "sizes (-o DIR/), or limit this one (--sizes MIN:MAX)",
      why);
}

ScheduleNotes notes_of(const MadeSchedule& made, const PreparedSynthesis& prepared) {
  const Compilation& compiled = made.compiled;
  const CompileOptions& options = compiled.options;
  const Topology& topology = prepared.fabric.topology;
  const SynthArguments& arguments = prepared.arguments;
  const Collective collective = options.synthesis.collective;
  const bool is_ll_for_safety = options.format == Format::msccl && arguments.protocol.empty() &&
                                !options.force_simple && hangs_in_simple(collective, topology);
  const bool is_free_of_protocols =
      made.choice && options.format == Format::msccl && arguments.protocol.empty();
  return {
      .why = compiled.chosen.why,
      .is_warm = prepared.previous.has_value(),
      .boxes = options.format == Format::mscclpp ? boxes_line(topology) : "",
      .protocol = is_ll_for_safety ? why_it_hangs_in_simple(collective) : "",
      .no_ll128 = is_free_of_protocols ? why_no_ll128(compiled, topology) : "",
      .sms = options.sms,
      .sms_are_assumed = !arguments.sms,
      .beside_rings = made.beside ? in_words(*made.beside) : "",
      .relays = made.group ? summary_line(*made.group, compiled.paths ? "flows" : "forests") : "",
      .window = made.window ? window_lines(*made.window, made.choice) : "",
      .window_in_short = made.window ? window_line(*made.window, made.choice) : "",
      .all_sizes = all_sizes_line(made, arguments),
      .left_out = made.left_out,
      .branching = compiled.branching ? &*compiled.branching : nullptr,
      .branching_as = written_as(compiled),
      .kept = compiled.kept};
}

// What is known of an optimum that is not exact, and of what switches add to trees over GPUs.
void put_bounds(Json& json, const RateFigures& rates, bool branches) {
  if (!rates.optimum) return;
  const RateFigure& optimum = *rates.optimum;
  if (!optimum.is_exact()) json["optimum_at_least"] = exact(optimum.at_least);
  if (branches || !rates.by_trees || optimum.at_most <= rates.by_trees->at_most) return;
  if (rates.by_trees->at_most < optimum.at_least) json["in_network"] = exact(optimum.at_least);
  if (!optimum.is_exact()) json["in_network_at_most"] = exact(optimum.at_most);
}

}  // namespace

std::string report_of(const MadeSchedule& made, const PreparedSynthesis& prepared,
                      const SynthSeconds& seconds, bool verbose) {
  const ScheduleNotes notes = notes_of(made, prepared);
  if (made.compiled.paths) {
    return alltoall_summary(made.compiled, made.figures->rates, prepared.fabric, notes, seconds,
                            verbose);
  }
  return text_report(seconds, made.solved(), *made.figures, made.verdict(),
                     prepared.fabric.topology, notes, verbose);
}

Json summary_of(const MadeSchedule& made, const PreparedSynthesis& prepared,
                const SynthSeconds& seconds) {
  const CompileOptions& options = prepared.request.compile;
  const Compilation& compiled = made.compiled;
  const Topology& topology = prepared.fabric.topology;
  Json json = compiled.paths
                  ? alltoall_json(compiled, *made.figures, prepared.fabric, seconds)
                  : json_report(seconds, made.solved(), *made.figures, made.verdict(), topology);
  if (is_schedule(options.format)) {
    add_schedule_request(json, compiled.options.lowering, compiled.options.xml);
    json["chunks"] = made.verdict().chunks;
    json["sms"] = options.sms;
  }
  if (compiled.branching) {
    put_branching(json, *compiled.branching, made.solved().forest, topology);
    if (compiled.kept) json["kept"] = kept_json(*compiled.kept);
  }
  if (!compiled.chosen.why.empty()) json["chosen"] = compiled.chosen.why;
  if (options.format == Format::mscclpp) json["plan_boxes"] = names_of_boxes(topology);
  if (made.baseline) {
    json["made_by"] = baseline_json(prepared.arguments.baseline, *made.baseline);
  } else if (!options.paths_of.empty()) {
    json["made_by"] = paths_json(options.paths_of, made.solved().forest.optimum);
  }
  if (made.choice) {
    json["latencies"] = latencies_json(topology);
    json["fastest"] = to_json(*made.choice);
  }
  if (made.window) json["window"] = to_json(*made.window);
  if (made.beside) json["beside_rings"] = to_json(*made.beside);
  if (!compiled.paths) put_bounds(json, made.figures->rates, compiled.branching.has_value());
  if (made.group) put_group_rate(json, *made.group);
  if (made.tradeoff) json["tradeoff_by"] = tradeoff_json(*made.tradeoff);
  if (!prepared.fabric.changes.empty()) json["changes"] = prepared.fabric.changes;
  return json;
}

}  // namespace forestcoll::cli
