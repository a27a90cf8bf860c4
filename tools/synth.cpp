// `forestcoll synth`: from a topology to a schedule that is proved, verified and written.
#include "synth.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "bottleneck.hpp"
#include "boxes.hpp"
#include "command.hpp"
#include "fabric.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/verify.hpp"
#include "io.hpp"
#include "progress_bar.hpp"
#include "report.hpp"
#include "solve.hpp"
#include "stopwatch.hpp"
#include "synth/baseline.hpp"
#include "synth/beside_rings.hpp"
#include "synth/forest_size.hpp"
#include "synth/k.hpp"
#include "synth/options.hpp"
#include "synth/plan.hpp"
#include "synth/protocol.hpp"
#include "synth/tune.hpp"
#include "synth/write_report.hpp"
#include "warnings.hpp"

namespace forestcoll::cli {
namespace {

std::string emit_forest(const CollectiveForest& forest, const Topology& topology, Format format) {
  if (format == Format::forest_xml) return to_forest_xml(forest, topology);
  if (format == Format::dot) return to_dot(forest, topology);
  if (format == Format::forest) return to_forest_json(forest, topology);
  return to_symmetric_forest_json(forest, topology);
}

struct WrittenSchedule {
  std::string text;
  double seconds_to_lower = 0;  ///< trees to programs; 0 for forests, which stay trees
};

Expected<WrittenSchedule> write_schedule(const CollectiveForest& forest, const Topology& topology,
                                         const SynthArguments& arguments,
                                         const SynthRequest& request, const Console& console) {
  ProgressBar bar("making the schedule", console);
  Stopwatch watch;
  if (request.format == Format::msccl) {
    const auto schedule = lower(forest, request.lowering);
    if (!schedule) return schedule.errors();
    const double seconds = watch.restart();
    bar.update("writing the schedule", std::nullopt);
    return WrittenSchedule{to_msccl_xml(*schedule, forest, topology, request.xml), seconds};
  }
  if (request.format == Format::mscclpp) {
    auto plan = plan_text(forest, topology, arguments, request);
    if (!plan) return plan.errors();
    return WrittenSchedule{*std::move(plan), watch.restart()};
  }
  bar.update("writing the forest", std::nullopt);
  return WrittenSchedule{emit_forest(forest, topology, request.format), 0};
}

// Nothing is written that the checker, which shares no code with the solver, does not accept.
Expected<Verdict> check(const std::string& text, const Topology* topology,
                        const SynthRequest& request, const Console& console) {
  const ProgressBar bar("checking", console);
  return verify(text, "<schedule>", topology, {.target = request.xml.target, .sms = request.sms});
}

// The one finding that what was asked for explains.
bool is_never_selected(const Verdict& verdict) {
  return !verdict.ok && verdict.findings.size() == verdict.finding_count &&
         std::ranges::all_of(verdict.findings,
                             [](const Diagnostic& finding) { return finding.code == "V19"; });
}

// Every chunk has at least one element of one byte.
Diagnostic empty_window(const Verdict& verdict, const XmlOptions& window) {
  const TargetLimits& target = *find_target(window.target);
  const auto unit = static_cast<std::uint64_t>(
      target.selected_elements(verdict.collective, verdict.chunks, verdict.ranks));
  const auto least = static_cast<std::uint64_t>(std::max<std::int64_t>(1, window.min_bytes));
  return usage_error(
      "S03",
      fmt::format("--min-bytes {} and --max-bytes {} leave no size at which a runtime selects the "
                  "schedule: buffers are multiples of {}",
                  window.min_bytes, window.max_bytes.value_or(target.default_max_bytes),
                  counted(unit, "byte")),
      fmt::format("the smallest multiple from --min-bytes on is {}: choose a --max-bytes above it",
                  ((least - 1) / unit + 1) * unit));
}

ExitCode report_own_bug(const Diagnostics& findings, const Console& console) {
  print(findings, console);
  fmt::print(stderr,
             "forestcoll: internal error: the schedule did not pass its own verification and was "
             "not written; please report it\n");
  return ExitCode::internal;
}

void warn_of_protocol(const CollectiveForest& forest, const Topology& topology,
                      const SynthArguments& arguments, const SynthRequest& request,
                      const Console& console) {
  if (arguments.force_simple) warn_of_simple(request.collective, console);
  if (request.xml.protocol != "LL128") return;
  const std::string why = why_no_ll128(forest, topology, request.xml.target);
  if (!why.empty()) warn_of_ll128(why, console);
}

// What a runtime loads.
bool is_schedule(Format format) {
  return format == Format::msccl || format == Format::mscclpp;
}

}  // namespace

ExitCode synth(const SynthArguments& given, const Console& console, Json* summary) {
  SynthSeconds seconds;
  Stopwatch total, stage;
  const auto asked_for = with_format(given);
  if (!asked_for) return fail(asked_for.errors(), console);
  const SynthArguments& arguments = *asked_for;
  auto request = understand(arguments);
  if (!request) return fail(request.errors(), console);
  const auto solver = understand(arguments.solver);
  if (!solver) return fail(solver.errors(), console);
  const TimeLimit limit(solver->seconds);

  // 1. The fabric.
  const auto fabric =
      load_fabric(arguments.topology, arguments.reading, arguments.failures, console);
  if (!fabric) return fail(fabric.errors(), console);
  report_reading(*fabric, arguments.reading, console);
  const auto root = find_root(fabric->topology, request->collective, arguments.root);
  if (!root) return fail(root.errors(), console);
  request->lowering.boxes = boxes_of_nodes(fabric->topology);
  if (auto error = settle_protocol(arguments, fabric->topology, *request)) {
    return fail({*std::move(error)}, console);
  }
  if (!request->tune.empty()) {
    return tune(*fabric, arguments, *request, *solver, *root, console);
  }
  if (auto error = refuse_large_fabric(fabric->network, *request)) {
    return fail({*std::move(error)}, console);
  }
  const auto former = at_work("reading the former forest", console,
                              [&] { return load_former(arguments.solver.warm, fabric->topology); });
  if (!former) return fail(former.errors(), console);
  seconds.parse = stage.restart();

  // 2. The best possible rate, and a forest that reaches what k trees per root can.
  const SynthesizeOptions asked{.collective = request->collective,
                                .root = *root,
                                .trees_per_root = request->trees,
                                .former = *former ? &**former : nullptr};
  std::optional<SolvedBaseline> baseline;
  if (arguments.baseline.chosen()) {
    auto made = at_work("making the trees", console, [&] {
      return solve_baseline(*fabric, request->collective, *root, arguments.baseline);
    });
    if (!made) return fail(made.errors(), console);
    baseline = *std::move(made);
  }
  const auto chosen = baseline ? Expected<ChosenForest>(ChosenForest{baseline->synthesis, ""})
                               : solve_with_k(*fabric, asked, *request, *solver, limit, console);
  if (!chosen) return fail(chosen.errors(), console);
  const Synthesis* solved = &chosen->synthesis;
  const double solving = stage.restart();
  seconds.rate = solved->seconds.rate;
  seconds.pack = baseline ? solving - seconds.rate : solved->seconds.pack;
  seconds.choose = std::max(0.0, solving - seconds.rate - seconds.pack);

  if (auto error = refuse_large_forest(solved->forest, *request)) {
    return fail({*std::move(error)}, console);
  }

  // 3. The programs of the ranks, and their text.
  const auto written =
      write_schedule(solved->forest, fabric->topology, arguments, *request, console);
  if (!written) return fail(written.errors(), console);
  const std::string& text = written->text;
  if (auto error = refuse_large_text(text.size(), *request)) {
    return fail({*std::move(error)}, console);
  }
  seconds.lower = written->seconds_to_lower;
  seconds.emit = stage.restart() - seconds.lower;

  // 4. A stranger's opinion: of what is written, or of the forest where that is a drawing.
  const bool drawing = request->format == Format::forest_xml || request->format == Format::dot;
  const auto verdict =
      check(drawing ? to_symmetric_forest_json(solved->forest, fabric->topology) : text,
            &fabric->topology, *request, console);
  if (!verdict) return report_own_bug(verdict.errors(), console);
  if (is_never_selected(*verdict)) return fail({empty_window(*verdict, request->xml)}, console);
  if (!verdict->ok) return report_own_bug(verdict->findings, console);
  seconds.verify = stage.restart();

  // 5. Out.
  if (is_schedule(request->format)) {
    if (is_rooted(request->collective)) warn_of_root("one root", console);
    warn_of_routes(solved->forest, *verdict, console);
  }
  if (request->format == Format::msccl) {
    warn_of_protocol(solved->forest, fabric->topology, arguments, *request, console);
    warn_of_counts(*verdict, *find_target(request->xml.target), console);
  }
  if (request->format != Format::none) {
    if (auto error = write_output(arguments.output, text)) {
      return fail({*std::move(error)}, console);
    }
  }
  seconds.write = stage.restart();
  if (baseline) note(console, baseline_line(arguments.baseline, *baseline));
  ScheduleNotes notes{
      .why = chosen->why,
      .boxes = request->format == Format::mscclpp ? boxes_line(fabric->topology) : "",
      .protocol = request->simple_hangs && arguments.protocol.empty()
                      ? why_not_simple(request->collective)
                      : "",
      .sms = request->sms,
      .sms_are_assumed = !arguments.sms,
      .beside_rings = {}};
  const auto beside =
      baseline ? std::nullopt
               : beside_rings(*fabric, *request, solved->forest, *verdict, text, console);
  if (beside) notes.beside_rings = in_words(*beside);
  seconds.compare = stage.restart();
  seconds.total = total.restart();
  note(console, text_report(seconds, *solved, *verdict, fabric->topology, notes, console.verbose));
  std::optional<Tradeoff> tradeoff;
  if (arguments.solver.tradeoff) {
    const auto found = find_tradeoff(*fabric, asked, *solver, limit, console);
    if (!found) return fail(found.errors(), console);
    tradeoff = *found;
    note(console, tradeoff_lines(*tradeoff));
  }
  if (!arguments.json) return ExitCode::done;
  Json json = json_report(seconds, *solved, *verdict, fabric->topology);
  if (is_schedule(request->format)) {
    add_schedule_request(json, request->lowering, request->xml);
    json["chunks"] = verdict->chunks;
    json["sms"] = request->sms;
  }
  if (!chosen->why.empty()) json["chosen"] = chosen->why;
  if (request->format == Format::mscclpp) json["plan_boxes"] = plan_boxes(fabric->topology);
  if (baseline) json["algorithm"] = baseline_json(arguments.baseline, *baseline);
  if (beside) json["beside_rings"] = to_json(*beside);
  if (tradeoff) json["tradeoff_by"] = tradeoff_json(*tradeoff);
  if (!fabric->changes.empty()) json["changes"] = fabric->changes;
  if (summary != nullptr) {
    *summary = std::move(json);
    return ExitCode::done;
  }
  if (auto error = write_output("-", to_text(json))) return fail({*std::move(error)}, console);
  return ExitCode::done;
}

Command add_synth(CLI::App& program) {
  auto arguments = std::make_shared<SynthArguments>();
  CLI::App* command = program.add_subcommand(
      "synth", "Synthesise a schedule at the highest rate that a fabric allows");
  add_synth_arguments(*command, *arguments);
  command->footer(
      "What is written has passed the checker of `forestcoll verify`. A file is written whole or\n"
      "not at all. The summary goes to standard error.\n"
      "\n"
      "A runtime selects an XML schedule only for element counts that its chunks divide: k for an\n"
      "allgather or reduce_scatter (counts per rank) and for broadcast and reduce, k times the\n"
      "number of ranks for an allreduce, and before RCCL 6.3 for all but broadcast and reduce. "
      "Hence the power of two by default; for an allreduce over "
      "a\n"
      "number of ranks that is none, the roots sum unequal numbers of chunks, a power of two in "
      "all.\n"
      "`-k optimal` reaches the optimum for counts that are multiples of its chunks. The summary\n"
      "says which counts a file is for.\n"
      "\n"
      "algbw is the size of the data of all ranks together divided by the time. Ranks own what "
      "the\n"
      "`weight` of their nodes says: 0 only relays and receives. MSCCL XML has equal shares only,\n"
      "but for allreduce, where nobody owns anything; broadcast and reduce have one root, which "
      "owns\n"
      "everything.\n"
      "\n"
      "The time limit counts from the start and stops the solver. What is written then comes from "
      "a\n"
      "quick forest, checked like any other; the exit code is 0, or 3 where that cannot be "
      "written\n"
      "either, or where not even the optimum was known: then the message has the bound that is\n"
      "proved so far. Interrupted or terminated (130, 143), nothing is left half-written.\n"
      "\n"
      "Examples:\n"
      "  forestcoll synth topologies/dgx-a100-x2.json -o allreduce.xml\n"
      "  forestcoll synth fabric.json -c allgather -k optimal --format forest -o forest.json\n"
      "  forestcoll synth fabric.json -c broadcast --root box0/gpu3 --format dot | dot -Tsvg\n"
      "  forestcoll synth fabric.json -k max:32 --format none\n"
      "  forestcoll synth fabric.json --inplace --outofplace --target rccl-6.3 -o allreduce.xml\n"
      "  forestcoll synth fabric.json --tune 64K:1G -o algorithms\n"
      "  forestcoll synth fabric.json --format none --tradeoff\n"
      "  forestcoll synth fabric.json --algorithm nccl-ring -o rings.xml\n"
      "  forestcoll synth fabric.json -c allgather --format forest --drop box0/nic3~ib1 \\\n"
      "    --warm forest.json -o after.json\n"
      "\n"
      "Exit codes: 0 done, 2 wrong input, 3 does not fit the target or exact arithmetic, 4 cannot\n"
      "read or write, 70 a bug of ours.");
  return {command, [arguments](const Console& console) { return synth(*arguments, console); }};
}

}  // namespace forestcoll::cli
