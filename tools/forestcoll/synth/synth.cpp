// `forestcoll synth`: from a topology to a schedule that is proved, verified and written.
#include "synth/synth.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "command.hpp"
#include "common/bound_alltoall.hpp"
#include "common/fabric.hpp"
#include "common/files/io.hpp"
#include "common/report/progress_bar.hpp"
#include "common/report/report.hpp"
#include "common/report/warnings.hpp"
#include "common/solve.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/failures.hpp"
#include "forestcoll/fastest.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/stopwatch.hpp"
#include "forestcoll/topology.hpp"
#include "synth/alltoall.hpp"
#include "synth/baseline.hpp"
#include "synth/beside_relays.hpp"
#include "synth/beside_rings.hpp"
#include "synth/beside_switches.hpp"
#include "synth/branching_report.hpp"
#include "synth/deploy.hpp"
#include "synth/fastest_report.hpp"
#include "synth/file_set.hpp"
#include "synth/options.hpp"
#include "synth/plan_boxes.hpp"
#include "synth/refusals.hpp"
#include "synth/trace.hpp"
#include "synth/tune.hpp"
#include "synth/write_report.hpp"

namespace forestcoll::cli {
namespace {

// The one finding that what was asked for explains.
bool is_never_selected(const Verdict& verdict) {
  return !verdict.ok && verdict.faults.size() == verdict.finding_count &&
         std::ranges::all_of(verdict.faults, [](Fault fault) { return fault == Fault::unused; });
}

// Every chunk has at least one element of one byte.
Diagnostic empty_window(const Verdict& verdict, const CompileOptions& options) {
  const TargetLimits& target = *find_target(options.lowering.target);
  const XmlOptions& window = options.xml;
  const auto unit = static_cast<std::uint64_t>(
      target.selected_elements(verdict.collective, verdict.chunks, verdict.ranks));
  const auto least = static_cast<std::uint64_t>(std::max<std::int64_t>(1, window.min_bytes));
  return make_error(
      Code::S03,
      fmt::format("--min-bytes {} and --max-bytes {} leave no size at which a runtime selects the "
                  "schedule: buffers are multiples of {}",
                  window.min_bytes, window.max_bytes.value_or(target.default_max_bytes),
                  counted(unit, "byte")),
      fmt::format("the smallest multiple from --min-bytes on is {}: choose a --max-bytes above it",
                  ((least - 1) / unit + 1) * unit));
}

ExitCode report_own_bug(const Diagnostics& findings, const Console& console) {
  print(findings, console);
  say(fmt::format(
      "forestcoll: internal error: the schedule did not pass its own verification and was "
      "not written; please report it\n"));
  return ExitCode::internal;
}

void warn_of_protocol(const Compilation& compiled, const Topology& topology,
                      const Console& console) {
  const CompileOptions& options = compiled.options;
  if (options.force_simple) warn_of_simple(options.synthesis.collective, console);
  if (options.xml.protocol != "LL128") return;
  const std::string why =
      why_no_ll128(compiled.chosen.synthesis.forest, topology, options.lowering.target);
  if (!why.empty()) warn_of_ll128(why, console);
}

// The default target is a runtime of NVIDIA's GPUs.
void note_default_target(const SynthArguments& arguments, const CompileOptions& options,
                         const Fabric& fabric, const Console& console) {
  if (arguments.target_given || arguments.format != "msccl") return;
  if (!fabric.gpu.name.starts_with("mi")) return;  // AMD's: mi250, mi300x
  note(console, fmt::format("target {} by default, which does not run on {}: RCCL loads what "
                            "--target rccl-6.3 makes (see docs/commands.md for other releases)",
                            options.lowering.target, fabric.gpu.name));
}

// One schedule for all sizes of its window.
Expected<std::vector<NamedText>> deployed(const Compilation& compiled, const Fabric& fabric) {
  const CompileOptions& options = compiled.options;
  const Collective collective = options.synthesis.collective;
  const auto ranks = static_cast<std::int64_t>(fabric.topology.ranks.size());
  const TargetLimits& target = *find_target(options.lowering.target);
  const bool is_plan = options.format == Format::mscclpp;
  DeployedSchedule schedule;
  schedule.file = {fmt::format("{}-{}gpus-{}chunks.{}", to_string(collective), ranks,
                               compiled.verdict.chunks, is_plan ? "json" : "xml"),
                   compiled.text};
  schedule.first = options.xml.min_bytes;
  const std::int64_t max_bytes = options.xml.max_bytes.value_or(target.default_max_bytes);
  schedule.last = is_plan ? max_bytes : target.last_selected(max_bytes);
  schedule.unit = is_plan ? kPlanAlignment * compiled.verdict.chunks
                          : target.selected_elements(collective, compiled.verdict.chunks, ranks);
  return deployment_files(
      {fabric.topology, options, std::string(to_string(collective)), {std::move(schedule)}});
}

// The schedule alone, or with all that it takes to run it.
Expected<void> write_schedule(const Compilation& compiled, const Fabric& fabric,
                              const SynthArguments& arguments,
                              const std::optional<std::int64_t>& trace) {
  if (trace) return write_trace(compiled.text, *trace, arguments);
  if (arguments.deploy.empty()) {
    return write_output(arguments.output, compiled.text);
  }
  const auto files = deployed(compiled, fabric);
  if (!files) return files.errors();
  return write_files(arguments.deploy, *files);
}

ScheduleNotes notes_of(const Compilation& compiled, const std::optional<BesideRings>& beside,
                       const std::optional<BesideSwitches>& in_network,
                       const std::optional<Ratio>& relayed, const Topology& topology,
                       const SynthArguments& arguments) {
  const CompileOptions& options = compiled.options;
  const Collective collective = options.synthesis.collective;
  const bool is_ll_for_safety = options.format == Format::msccl && arguments.protocol.empty() &&
                                !options.force_simple && hangs_in_simple(collective, topology);
  return {.why = compiled.chosen.why,
          .boxes = options.format == Format::mscclpp ? boxes_line(topology) : "",
          .protocol = is_ll_for_safety ? why_it_hangs_in_simple(collective) : "",
          .sms = options.sms,
          .sms_are_assumed = !arguments.sms,
          .beside_rings = beside ? in_words(*beside) : "",
          .in_network =
              in_network ? switches_in_words(*in_network, compiled.chosen.synthesis.forest) : "",
          .relays = relayed ? relays_in_words(*relayed) : "",
          .branching = compiled.branching ? &*compiled.branching : nullptr,
          .branching_as = options.format != Format::mscclpp ? Branching::trees
                          : compiled.packets                ? Branching::packets
                                                            : Branching::sums,
          .kept = compiled.kept,
          .optimum_at_least = compiled.optimum_at_least};
}

// Trees that branch at switches stay trees; they are no programs.
Expected<void> keep_trees_of(const AnyForest& previous, const SynthArguments& arguments,
                             CompileOptions& options) {
  options.synthesis.previous = std::get_if<CollectiveForest>(&previous);
  options.previous_branching = std::get_if<BranchingForest>(&previous);
  if (options.previous_branching == nullptr || options.format == Format::forest ||
      options.format == Format::dot) {
    return {};
  }
  return make_error(
      Code::S04,
      fmt::format("the trees of the --warm file branch at switches, which --format {} cannot keep",
                  arguments.format),
      "write --format forest or dot, or give a forest over GPUs alone");
}

// Whose choice it was is told in `choice`.
Expected<Compilation> compile_for_size(const Fabric& fabric, const SynthRequest& request,
                                       const SynthArguments& arguments,
                                       std::optional<FastestChoice>& choice) {
  auto found = fastest_schedule(fabric, {.compile = request.compile,
                                         .sizes = {*request.size},
                                         .instances = arguments.instances,
                                         .buffer_bytes = request.buffer_bytes,
                                         .parameters = {},
                                         .baseline = {},
                                         .algorithms = {}});
  if (!found) return found.errors();
  choice = std::move(found->choice);
  return std::move(found->compilation);
}

}  // namespace

ExitCode synth(const SynthArguments& given, const Console& console, Json* summary) {
  SynthSeconds seconds;
  Stopwatch watch;
  const auto lap = [&] {
    const double taken = watch.restart();
    seconds.total += taken;
    return taken;
  };
  const auto asked_for = with_format(given);
  if (!asked_for) return fail(asked_for.errors(), console);
  const SynthArguments& arguments = *asked_for;
  if (is_alltoall(arguments.collective)) return synth_alltoall(arguments, console, summary);
  if (const auto done = refuse_alltoall_options(arguments); !done) {
    return fail(done.errors(), console);
  }
  auto request = resolve(arguments);
  if (!request) return fail(request.errors(), console);
  if (!arguments.deploy.empty()) {
    const auto done = refuse_directory(arguments.deploy, "--deploy");
    if (!done) return fail(done.errors(), console);
  }
  const auto solver = resolve(arguments.solver);
  if (!solver) return fail(solver.errors(), console);
  const TimeLimit limit(solver->seconds);

  // 1. The fabric.
  CompileOptions& options = request->compile;
  auto fabric = load_fabric(arguments.topology, arguments.reading, arguments.failures, console);
  if (!fabric) return fail(fabric.errors(), console);
  std::optional<Network> with_relays;
  if (is_schedule(options.format) && has_relays(fabric->topology)) {
    with_relays = fabric->network;
    fabric = members_alone(*std::move(fabric));
    if (!fabric) return fail(fabric.errors(), console);
  }
  report_reading(*fabric, arguments.reading, console);
  const auto root = find_root(fabric->topology, options.synthesis.collective, arguments.root);
  if (!root) return fail(root.errors(), console);
  options.synthesis.root = *root;
  if (const auto done = refuse_force_simple(arguments, options, fabric->topology); !done) {
    return fail(done.errors(), console);
  }
  note_default_target(arguments, options, *fabric, console);
  const auto previous = at_work("reading the previous forest", console, [&] {
    return load_previous(arguments.solver.warm, fabric->topology);
  });
  if (!previous) return fail(previous.errors(), console);
  if (*previous) {
    if (const auto done = keep_trees_of(**previous, arguments, options); !done) {
      return fail(done.errors(), console);
    }
  }
  seconds.parse = lap();

  // 2. The forest, its schedule, and a stranger's opinion of it.
  if (!request->tune.empty()) return tune(*fabric, *request, arguments, *solver, limit, console);
  std::optional<SolvedBaseline> baseline;
  if (arguments.baseline.chosen()) {
    auto made = at_work("making the trees", console, [&] {
      return solve_baseline(*fabric, options.synthesis.collective, *root, arguments.baseline,
                            options.format == Format::msccl);
    });
    if (!made) return fail(made.errors(), console);
    baseline = *std::move(made);
  }
  const double making = baseline ? lap() : 0;
  std::optional<FastestChoice> choice;
  const auto compiled = under_bar(options.synthesis, *solver, limit, console, [&] {
    if (request->size) return compile_for_size(*fabric, *request, arguments, choice);
    if (baseline && baseline->exchange != nullptr) {
      return compile_exchange(*fabric, *baseline->exchange, options);
    }
    return baseline ? compile_forest(*fabric, {baseline->synthesis, ""}, options)
                    : compile(*fabric, options);
  });
  if (!compiled) return fail(compiled.errors(), console);
  const Synthesis& solved = compiled->chosen.synthesis;
  const Verdict& verdict = compiled->verdict;
  seconds.add(compiled->seconds, lap());
  if (baseline) {
    seconds.rate = solved.seconds.rate;
    seconds.pack = making - seconds.rate;
  }
  if (is_never_selected(verdict)) {
    return fail({empty_window(verdict, compiled->options)}, console);
  }
  if (!verdict.ok) return report_own_bug(verdict.findings, console);

  // 3. Out.
  if (is_schedule(options.format)) {
    if (is_rooted(options.synthesis.collective) && !request->trace) {
      warn_of_root("one root", console);
    }
    if (!compiled->branching) warn_of_routes(solved.forest, verdict, console);
  }
  if (options.format == Format::msccl) {
    warn_of_protocol(*compiled, fabric->topology, console);
    if (!request->trace) warn_of_counts(verdict, *find_target(options.lowering.target), console);
  }
  if (options.format != Format::none) {
    if (const auto done = write_schedule(*compiled, *fabric, arguments, request->trace); !done) {
      return fail(done.errors(), console);
    }
  }
  seconds.write = lap();
  if (baseline) note(console, baseline_line(arguments.baseline, *baseline));
  const auto beside =
      baseline || choice ? std::nullopt : beside_rings(*fabric, *compiled, limit.token(), console);
  const bool is_done = baseline || compiled->branching || limit.token().stop_requested();
  const auto in_network = is_done ? std::nullopt : beside_switches(*fabric, solved.forest);
  const auto relayed = with_relays ? beside_relays(*with_relays, solved.forest) : std::nullopt;
  seconds.compare = lap();
  note(console,
       text_report(seconds, solved, verdict, fabric->topology,
                   notes_of(*compiled, beside, in_network, relayed, fabric->topology, arguments),
                   console.verbose));
  std::optional<Tradeoff> tradeoff;
  if (arguments.solver.tradeoff) {
    const auto found = find_tradeoff(*fabric, options.synthesis, *solver, limit, console);
    if (!found) return fail(found.errors(), console);
    tradeoff = *found;
    note(console, tradeoff_lines(*tradeoff));
  }
  const std::string next = request->trace ? trace_line(arguments)
                                          : next_line(options, arguments.output, arguments.deploy);
  if (choice && choice->buffer_bytes > 0) note(console, buffers_line(choice->buffer_bytes));
  if (!next.empty()) note(console, next);
  if (!arguments.json) return ExitCode::done;
  Json json = json_report(seconds, solved, verdict, fabric->topology);
  if (is_schedule(options.format)) {
    add_schedule_request(json, compiled->options.lowering, compiled->options.xml);
    json["chunks"] = verdict.chunks;
    json["sms"] = options.sms;
  }
  if (compiled->branching) {
    put_branching(json, *compiled->branching, solved.forest, fabric->topology);
    if (compiled->kept) json["kept"] = kept_json(*compiled->kept);
  }
  if (!compiled->chosen.why.empty()) json["chosen"] = compiled->chosen.why;
  if (options.format == Format::mscclpp) json["plan_boxes"] = names_of_boxes(fabric->topology);
  if (baseline) json["algorithm"] = baseline_json(arguments.baseline, *baseline);
  if (choice) json["fastest"] = to_json(*choice);
  if (beside) json["beside_rings"] = to_json(*beside);
  if (compiled->optimum_at_least) json["optimum_at_least"] = exact(*compiled->optimum_at_least);
  if (in_network) put_switches(json, *in_network);
  if (relayed) json["with_relays"] = exact(*relayed);
  if (tradeoff) json["tradeoff_by"] = tradeoff_json(*tradeoff);
  if (!fabric->changes.empty()) json["changes"] = fabric->changes;
  if (summary != nullptr) {
    *summary = std::move(json);
    return ExitCode::done;
  }
  return finish(write_output("-", to_text(json)), console);
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
      "  forestcoll synth fabric.json --size 64K -o small.xml\n"
      "  forestcoll synth fabric.json --tune 64K:1G -o algorithms\n"
      "  forestcoll synth fabric.json --tune 64K:1G --deploy run-allreduce\n"
      "  forestcoll synth fabric.json --format none --tradeoff\n"
      "  forestcoll synth fabric.json --algorithm nccl-ring -o rings.xml\n"
      "  forestcoll synth fabric.json -c alltoall -o alltoall.xml\n"
      "  forestcoll synth fabric.json --format goal --sizes 16M -o allreduce.goal\n"
      "  forestcoll synth fabric.json -c alltoall --demand bytes.csv --format flows -o flows.json\n"
      "  forestcoll synth fabric.json -c allgather --format forest --drop box0/nic3~ib1 \\\n"
      "    --warm forest.json -o after.json\n"
      "\n"
      "Exit codes: 0 done, 2 wrong input, 3 does not fit the target or exact arithmetic, 4 cannot\n"
      "read or write, 70 a bug of ours.");
  return {command, [arguments](const Console& console) { return synth(*arguments, console); }};
}

}  // namespace forestcoll::cli
