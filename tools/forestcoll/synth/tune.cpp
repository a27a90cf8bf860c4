#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/files/file_set.hpp"
#include "common/files/io.hpp"
#include "common/report/json_version.hpp"
#include "common/report/rate_report.hpp"
#include "common/report/report.hpp"
#include "common/report/solver_report.hpp"
#include "common/report/time_report.hpp"
#include "common/report/warnings.hpp"
#include "common/synthesis/default_schedule.hpp"
#include "common/synthesis/made_schedule.hpp"
#include "common/synthesis/output/deploy.hpp"
#include "common/synthesis/output/runtime_settings.hpp"
#include "common/synthesis/prepare.hpp"
#include "common/synthesis/size_of_calls.hpp"
#include "forestcoll/fastest.hpp"
#include "forestcoll/figures.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/text.hpp"
#include "synth/ways.hpp"

namespace forestcoll::cli {
namespace {

std::string trees_of(const TunedFile& file, const CollectiveForest& trees) {
  if (file.algorithm != "forestcoll") return file.algorithm;
  if (file.switches == SwitchUse::sums) return "switches";
  if (file.switches == SwitchUse::packets) return "packets";
  return trees.weight.empty() ? fmt::format("k {}", trees.k)
                              : fmt::format("{} chunks", chunks_of(trees));
}

// Plans have neither protocols nor instances.
std::string program_of(const TunedFile& file, const CompileOptions& options) {
  if (is_plan(options)) return "plan";
  return fmt::format("{:<7} {} instance{}", file.protocol, file.instances,
                     file.instances == 1 ? " " : "s");
}

// "  64 KiB  1 MiB  bfb  12.3 us at 64 KiB  45.6 us at 256 KiB  1.96x  1.25x": a line of the table.
std::string row_of(const TunedFile& file, const CollectiveForest& trees) {
  std::string times, ratios;
  for (const TimeBeside& time : file.times) {
    times += fmt::format("{:>10} at {:<8}", time_in_words(time.seconds), size_in_words(time.bytes));
    ratios += time.runtime_algorithm.empty()
                  ? fmt::format("{:>8}", "-")
                  : fmt::format("{:>7.2f}x", time.runtime_seconds / time.seconds);
  }
  return fmt::format("  {:>11} {:>11}  {:<20} {:<44} {}", size_in_words(file.first),
                     size_in_words(file.last), trees_of(file, trees), times, ratios);
}

constexpr const char* kHead =
    "         from          to  algorithm             time at sizes that were simulated            "
    "  "
    "the runtime's own time / this";

constexpr const char* kLegend =
    "  above 1x a file is faster than the runtime's own choice; k N: forestcoll's trees, N per "
    "root; other algorithms: docs/comparisons.md";

std::string text_of(const TunedFile& file, const CollectiveForest& trees,
                    const CompileOptions& options) {
  std::string text = fmt::format(
      "  {:>11} to {:>11}  {:<10} {}  {} threadblocks, {} channels  "
      "{:.1f} us, {:.1f} GB/s at the first\n"
      "      {}\n      the time is {}\n      {} on the links; usable: {}",
      size_in_words(file.first), size_in_words(file.last), trees_of(file, trees),
      program_of(file, options), file.threadblocks, file.channels, file.seconds * 1e6,
      static_cast<double>(file.first) / file.seconds * 1e-9, file.why, in_words(file.costs),
      of_optimum(file.verdict.algbw.value_or(file.algbw), file.optimum),
      file.verdict.usable_counts);
  for (const std::string& condition : file.verdict.conditions) {
    text += fmt::format("\n      only if {}", condition);
  }
  return text;
}

Json json_of(const TunedFile& file, const CollectiveForest& trees) {
  Json json = {{"file", file.name},
               {"min_bytes", file.first},
               {"max_bytes", file.last},
               {"algorithm", file.algorithm},
               {"chunks", file.chunks},
               {"usable_counts", file.verdict.usable_counts},
               {"algbw", exact(file.algbw)},
               {"optimum", exact(file.optimum)},
               {"reached", to_json(Expected(file.verdict.algbw.value_or(file.algbw)))},
               {"protocol", file.protocol},
               {"instances", file.instances},
               {"threadblocks", file.threadblocks},
               {"channels", file.channels},
               {"simulated_seconds", file.seconds},
               {"costs_seconds", to_json(file.costs)},
               {"considered", to_json(file.considered)},
               {"times", to_json(file.times)}};
  if (file.switches == SwitchUse::none) {
    json["k"] = trees.k;
    json["trees_per_root"] = trees_per_root(trees);
  } else {
    json["switch_use"] = to_string(file.switches);
  }
  put_least(json, file.least);
  if (file.verdict.usable) json["usable"] = to_json(*file.verdict.usable);
  if (!file.verdict.conditions.empty()) json["conditions"] = file.verdict.conditions;
  return json;
}

void warn(const Tuning& tuning, const CompileOptions& options, const Console& console) {
  const Collective collective = options.synthesis.collective;
  if (is_rooted(collective)) warn_of_root("one root", console);
  for (const TunedFile& file : tuning.files) {
    if (file.switches != SwitchUse::none) continue;
    warn_of_routes(tuning.forests[file.forest], file.verdict, console);
  }
  if (options.force_simple) warn_of_simple(collective, console);
  const auto doubted = std::ranges::find_if(
      tuning.files, [](const TunedFile& file) { return !file.no_ll128.empty(); });
  if (doubted != tuning.files.end()) warn_of_ll128(doubted->no_ll128, console);
}

void report(const Tuning& tuning, const RateFigures& rates, const Fabric& fabric,
            const CompileOptions& options, const Console& console) {
  note(console,
       fmt::format(
           "{}: {} over {}, {} by size; simulated (model, not measurement), {} assumed per GPU",
           fabric.topology.name, to_string(options.synthesis.collective),
           counted(fabric.topology.ranks.size(), "GPU"), counted(tuning.files.size(), "file"),
           counted(static_cast<std::size_t>(options.sms), "SM")));
  note(console,
       fmt::format(
           "  optimum {} GB/s{}", in_words(rates.optimum),
           differ(rates) ? fmt::format(", by trees {} GB/s", in_words(rates.by_trees)) : ""));
  note(console, kHead);
  for (const TunedFile& file : tuning.files) {
    const CollectiveForest& trees = tuning.forests[file.forest];
    note(console, row_of(file, trees));
    if (console.verbose) note(console, text_of(file, trees, options));
  }
  note(console, kLegend);
  std::set<std::string> conditions;
  for (const TunedFile& file : tuning.files) {
    conditions.insert(file.verdict.conditions.begin(), file.verdict.conditions.end());
  }
  for (const std::string& each : conditions) note(console, fmt::format("  only if {}", each));
  for (const auto& [protocol, why] : tuning.left_out) {
    note(console, fmt::format("  {} is not used: {}", protocol, why));
  }
  if (tuning.not_served.empty()) return;
  std::vector<std::string> sizes;
  for (const std::int64_t size : tuning.not_served) sizes.push_back(size_in_words(size));
  note(console, fmt::format("  not served, as {} would not select a file: {}",
                            options.lowering.target, fmt::join(sizes, ", ")));
}

Json json_of(const Tuning& tuning, const RateFigures& rates, const Fabric& fabric,
             const CompileOptions& options) {
  Json json = {{"format", "forestcoll-tune"},
               {"version", 2},
               {"topology", fabric.topology.name},
               {"collective", to_string(options.synthesis.collective)},
               {"compute_nodes", fabric.topology.ranks.size()},
               {"target", options.lowering.target},
               {"sms", options.sms},
               {"buffer_bytes", tuning.buffer_bytes},
               {"estimate", "model, not measurement"},
               {"latencies", latencies_json(fabric.topology)},
               {"not_served", tuning.not_served},
               {"optimum", to_json(rates.optimum)},
               {"optimum_by_trees", to_json(rates.by_trees)}};
  json["left_out"] = Json::array();
  for (const auto& [protocol, why] : tuning.left_out) {
    json["left_out"].push_back({{"protocol", protocol}, {"reason", why}});
  }
  json["files"] = Json::array();
  for (const TunedFile& file : tuning.files) {
    json["files"].push_back(json_of(file, tuning.forests[file.forest]));
  }
  return json;
}

Expected<std::vector<NamedText>> texts(const Tuning& tuning, const Fabric& fabric,
                                       const CompileOptions& options, bool deploys) {
  std::vector<DeployedSchedule> schedules;
  const TargetLimits& target = *find_target(options.lowering.target);
  const auto ranks = static_cast<std::int64_t>(fabric.topology.ranks.size());
  for (const TunedFile& file : tuning.files) {
    const std::int64_t unit =
        is_plan(options)
            ? kPlanAlignment * file.chunks
            : target.selected_elements(options.synthesis.collective, file.chunks, ranks);
    schedules.push_back({{file.name, file.text}, file.first, file.last, unit});
  }
  if (deploys) {
    return deployment_files({fabric.topology, options, std::move(schedules)});
  }
  std::vector<NamedText> files;
  for (DeployedSchedule& schedule : schedules) files.push_back(std::move(schedule.file));
  return files;
}

std::vector<std::int64_t> sizes_of(const PreparedSynthesis& prepared, bool are_default) {
  std::vector<std::int64_t> sizes = prepared.request.tune;
  if (!are_default) return sizes;
  for (std::int64_t& size : sizes) {
    size = size_of_calls(size, prepared.fabric, prepared.request.compile);
  }
  return sizes;
}

Expected<ExitCode> tune_prepared(const PreparedSynthesis& prepared, bool are_default_sizes,
                                 const Console& console) {
  const SynthArguments& arguments = prepared.arguments;
  const SynthRequest& request = prepared.request;
  const Fabric& fabric = prepared.fabric;
  const bool deploys = !arguments.deploy.empty();
  const std::string& directory = deploys ? arguments.deploy : arguments.output;
  if (const auto done = refuse_directory(directory, deploys ? "--deploy" : "-o"); !done) {
    return done.errors();
  }
  FastestOptions options{.compile = request.compile,
                         .sizes = sizes_of(prepared, are_default_sizes),
                         .instances = arguments.instances,
                         .buffer_bytes = request.buffer_bytes,
                         .few_variants = are_few_plans(fabric, request.compile)};
  auto tuning = under_bar(options.compile.synthesis, prepared.solver, prepared.limit, console,
                          [&] { return forestcoll::tune(fabric, options); });
  if (!tuning) return tuning.errors();
  warn(*tuning, request.compile, console);
  CompileOptions common = request.compile;
  common.xml.buffer_bytes = tuning->buffer_bytes;
  const auto files = texts(*tuning, fabric, common, deploys);
  if (!files) return files.errors();
  if (const auto done = write_files(directory, *files); !done) return done.errors();
  const RateFigures rates = rates_of(prepared);
  if (fabric.whole && rates.by_trees) {  // not of what this collective has of the links
    for (TunedFile& file : tuning->files) file.optimum = rates.by_trees->at_most;
  }
  report(*tuning, rates, fabric, request.compile, console);
  if (tuning->buffer_bytes > 0) note(console, buffers_line(tuning->buffer_bytes));
  note(console, next_line(request.compile, fabric.network, arguments.output, arguments.deploy));
  if (!arguments.json) return ExitCode::done;
  const std::string text = report_text(json_of(*tuning, rates, fabric, request.compile), console);
  return finish(write_output("-", text));
}

}  // namespace

Expected<ExitCode> tune(const SynthArguments& given, bool are_default_sizes,
                        const Console& console) {
  const auto arguments = with_format(given);
  if (!arguments) return arguments.errors();
  const auto prepared = prepare(*arguments, console);
  if (!prepared) return prepared.errors();
  return tune_prepared(**prepared, are_default_sizes, console);
}

}  // namespace forestcoll::cli
