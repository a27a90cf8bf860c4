// One schedule: prepared, made, verified, written, compared and told of.
#include "common/synthesis/run.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "common/bound_alltoall.hpp"
#include "common/fabric.hpp"
#include "common/files/file_set.hpp"
#include "common/files/io.hpp"
#include "common/group_rates.hpp"
#include "common/report/figures/alltoall_report.hpp"
#include "common/report/findings/warnings.hpp"
#include "common/report/latency_report.hpp"
#include "common/report/progress_bar.hpp"
#include "common/solve.hpp"
#include "common/synthesis/baseline.hpp"
#include "common/synthesis/beside/beside_rings.hpp"
#include "common/synthesis/default_schedule.hpp"
#include "common/synthesis/output/deploy.hpp"
#include "common/synthesis/output/trace.hpp"
#include "common/synthesis/prepare.hpp"
#include "common/synthesis/report/alltoall_report.hpp"
#include "common/synthesis/report/branching_report.hpp"
#include "common/synthesis/report/fastest_report.hpp"
#include "common/synthesis/report/plan_boxes.hpp"
#include "common/synthesis/report/price_times.hpp"
#include "common/synthesis/report/write_report.hpp"
#include "forestcoll/baseline.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/compile.hpp"
#include "forestcoll/fabric.hpp"
#include "forestcoll/fastest.hpp"
#include "forestcoll/plan_target.hpp"
#include "forestcoll/stopwatch.hpp"

namespace forestcoll::cli {
namespace {

// What each stage takes, one after the other.
class Laps {
 public:
  SynthSeconds seconds;

  double lap() {
    const double taken = watch_.restart();
    seconds.total += taken;
    return taken;
  }

 private:
  Stopwatch watch_;
};

// A schedule, where it came from, and what others would be.
struct MadeSchedule {
  Compilation compiled;
  std::optional<SolvedBaseline> baseline;
  std::optional<FastestChoice> choice;  // for --size, and by default
  std::optional<SizeWindow> window;
  std::optional<BesideRings> beside;
  std::optional<ThreeFigures> figures;
  std::optional<GroupRates> group;
  std::optional<Tradeoff> tradeoff;

  [[nodiscard]] const Synthesis& solved() const { return compiled.chosen.synthesis; }
  [[nodiscard]] const Verdict& verdict() const { return compiled.verdict; }
};

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

// What ends the command where the checker is not content.
std::optional<ExitCode> refuse_verdict(const Compilation& compiled, const Console& console) {
  if (is_never_selected(compiled.verdict)) {
    return fail({empty_window(compiled.verdict, compiled.options)}, console);
  }
  if (!compiled.verdict.ok) return report_own_bug(compiled.verdict.findings, console);
  return std::nullopt;
}

void warn_of_protocol(const Compilation& compiled, const Topology& topology,
                      const Console& console) {
  const CompileOptions& options = compiled.options;
  if (options.force_simple) warn_of_simple(options.synthesis.collective, console);
  if (options.xml.protocol != "LL128") return;
  const std::string& target = options.lowering.target;
  const std::string why = compiled.paths
                              ? why_no_ll128(topology, target)
                              : why_no_ll128(compiled.chosen.synthesis.forest, topology, target);
  if (!why.empty()) warn_of_ll128(why, console);
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
  return deployment_files({fabric.topology, options, {std::move(schedule)}});
}

// The schedule alone, or with all that it takes to run it.
Expected<void> write_schedule(const Compilation& compiled, const PreparedSynthesis& prepared) {
  const SynthArguments& arguments = prepared.arguments;
  if (prepared.request.compile.format == Format::none) return {};
  if (prepared.request.trace) {
    return write_trace(compiled.text, *prepared.request.trace, arguments);
  }
  if (arguments.deploy.empty()) return write_output(arguments.output, compiled.text);
  const auto files = deployed(compiled, prepared.fabric);
  if (!files) return files.errors();
  return write_files(arguments.deploy, *files);
}

// The schedule of another algorithm, where --algorithm asks for one.
Expected<std::optional<SolvedBaseline>> find_chosen_baseline(const PreparedSynthesis& prepared,
                                                             const Console& console) {
  const CompileOptions& options = prepared.request.compile;
  const bool has_paths = is_personalized(options.synthesis.collective);  // `compile` finds them
  if (has_paths || !prepared.arguments.baseline.chosen()) return std::optional<SolvedBaseline>();
  auto made = at_work("making the trees", console, [&] {
    return solve_baseline(prepared.fabric, options.synthesis.collective, options.synthesis.root,
                          prepared.arguments.baseline, options.format == Format::msccl);
  });
  if (!made) return made.errors();
  return std::optional(*std::move(made));
}

// Which sizes it is for, and whose choice it was, is told in `made`.
Expected<Compilation> take_choice(Expected<ChosenSchedule> chosen, MadeSchedule& made) {
  if (!chosen) return chosen.errors();
  made.choice = std::move(chosen->choice);
  made.window = std::move(chosen->window);
  return std::move(chosen->compiled);
}

Expected<void> compile_into(MadeSchedule& made, PreparedSynthesis& prepared,
                            const Console& console) {
  CompileOptions& options = prepared.request.compile;
  const Fabric& fabric = prepared.fabric;
  const auto& baseline = made.baseline;
  auto compiled = under_bar(options.synthesis, prepared.solver, prepared.limit, console, [&] {
    if (prepared.request.size) {
      return take_choice(prepared.request.size_is_default
                             ? compile_by_default(fabric, prepared.request, prepared.arguments)
                             : compile_for_size(fabric, prepared.request, prepared.arguments),
                         made);
    }
    if (baseline && baseline->exchange != nullptr) {
      return compile_exchange(fabric, *baseline->exchange, options);
    }
    return baseline ? compile_forest(fabric, {baseline->synthesis, ""}, options)
                    : compile(fabric, options);
  });
  if (!compiled) return compiled.errors();
  made.compiled = *std::move(compiled);
  return {};
}

// The forest, its schedule, and a stranger's opinion of it.
Expected<MadeSchedule> make_schedule(PreparedSynthesis& prepared, Laps& laps,
                                     const Console& console) {
  MadeSchedule made;
  auto baseline = find_chosen_baseline(prepared, console);
  if (!baseline) return baseline.errors();
  made.baseline = *std::move(baseline);
  const double making = made.baseline ? laps.lap() : 0;
  if (const auto done = compile_into(made, prepared, console); !done) return done.errors();
  laps.seconds.add(made.compiled.seconds, laps.lap());
  laps.seconds.of_paths = made.compiled.paths.has_value();
  if (made.baseline) {
    laps.seconds.rate = made.solved().seconds.rate;
    laps.seconds.pack = making - laps.seconds.rate;
  }
  return made;
}

void warn_of_schedule(const MadeSchedule& made, const PreparedSynthesis& prepared,
                      const Console& console) {
  const CompileOptions& options = prepared.request.compile;
  const bool is_trace = prepared.request.trace.has_value();
  if (is_schedule(options.format)) {
    if (is_rooted(options.synthesis.collective) && !is_trace) warn_of_root("one root", console);
    if (made.compiled.paths) {
      warn_of_peers(made.compiled, console);
    } else if (!made.compiled.branching) {
      warn_of_routes(made.solved().forest, made.verdict(), console);
    }
  }
  if (options.format != Format::msccl) return;
  warn_of_protocol(made.compiled, prepared.fabric.topology, console);
  if (!is_trace) warn_of_counts(made.verdict(), *find_target(options.lowering.target), console);
}

// Of an all-to-all by the proof that it was made with.
RateFigures rates_beside(const Compilation& made, const PreparedSynthesis& prepared) {
  if (!made.paths) return rates_of(prepared);
  return paths_figures(made.paths->proof, demand_of(made.options, prepared.fabric.network));
}

ThreeFigures figures_of(const MadeSchedule& made, const PreparedSynthesis& prepared) {
  return {rates_beside(made.compiled, prepared), reached_by(made.compiled)};
}

// What else this fabric could do.
void look_beside(MadeSchedule& made, const PreparedSynthesis& prepared, const Console& console) {
  const Fabric& fabric = prepared.fabric;
  const std::stop_token stop = prepared.limit.token();
  const CollectiveForest& forest = made.solved().forest;
  made.figures = figures_of(made, prepared);
  if (made.compiled.paths) {
    made.group = at_work("finding what relays add", console, [&] {
      return group_rates(fabric, demand_of(made.compiled.options, fabric.network),
                         {.threads = prepared.solver.threads, .stop = stop}, forest.optimum);
    });
    return;
  }
  if (!made.baseline && !made.choice) {
    made.beside = beside_rings(fabric, made.compiled, stop, console);
  }
  // Trees that switches make faster are not what is compared.
  const auto& by_trees = made.figures->rates.by_trees;
  const bool are_programs = is_schedule(prepared.request.compile.format);
  made.group =
      group_rates(fabric, forest, are_programs || !by_trees ? forest.optimum : by_trees->at_most);
}

Branching written_as(const Compilation& compiled) {
  const PlanTarget* release = find_plan_target(compiled.options.lowering.target);
  if (compiled.options.format != Format::mscclpp || release == nullptr) return Branching::trees;
  if (!compiled.packets) return Branching::sums;
  return release->switch_stores ? Branching::packets : Branching::packets_apart;
}

ScheduleNotes notes_of(const MadeSchedule& made, const PreparedSynthesis& prepared) {
  const Compilation& compiled = made.compiled;
  const CompileOptions& options = compiled.options;
  const Topology& topology = prepared.fabric.topology;
  const SynthArguments& arguments = prepared.arguments;
  const Collective collective = options.synthesis.collective;
  const bool is_ll_for_safety = options.format == Format::msccl && arguments.protocol.empty() &&
                                !options.force_simple && hangs_in_simple(collective, topology);
  return {
      .why = compiled.chosen.why,
      .boxes = options.format == Format::mscclpp ? boxes_line(topology) : "",
      .protocol = is_ll_for_safety ? why_it_hangs_in_simple(collective) : "",
      .sms = options.sms,
      .sms_are_assumed = !arguments.sms,
      .beside_rings = made.beside ? in_words(*made.beside) : "",
      .relays = made.group ? summary_line(*made.group, compiled.paths ? "flows" : "forests") : "",
      .window = made.window ? window_lines(*made.window, made.choice) : "",
      .branching = compiled.branching ? &*compiled.branching : nullptr,
      .branching_as = written_as(compiled),
      .kept = compiled.kept};
}

Expected<void> note_tradeoff(MadeSchedule& made, const PreparedSynthesis& prepared,
                             const Console& console) {
  if (!prepared.arguments.solver.tradeoff) return {};
  SynthesizeOptions asked = prepared.request.compile.synthesis;
  asked.trees_per_root = made.compiled.options.synthesis.trees_per_root;
  auto found = find_tradeoff(prepared.fabric, asked, prepared.solver, prepared.limit, console);
  if (!found) return found.errors();
  made.tradeoff = *std::move(found);
  note(console, tradeoff_lines(*made.tradeoff));
  return {};
}

void note_how_to_go_on(const MadeSchedule& made, const PreparedSynthesis& prepared,
                       const Console& console) {
  const SynthArguments& arguments = prepared.arguments;
  const std::string next = prepared.request.trace
                               ? trace_line(arguments)
                               : next_line(prepared.request.compile, prepared.fabric.network,
                                           arguments.output, arguments.deploy);
  if (made.choice && made.choice->buffer_bytes > 0) {
    note(console, buffers_line(made.choice->buffer_bytes));
  }
  if (!next.empty()) note(console, next);
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
    json["algorithm"] = baseline_json(prepared.arguments.baseline, *made.baseline);
  } else if (!options.paths_of.empty()) {
    json["algorithm"] = paths_json(options.paths_of, made.solved().forest.optimum);
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

// To whoever called, or else to standard output.
ExitCode hand_over(Json json, const Console& console, Json* summary) {
  if (summary == nullptr) return finish(write_output("-", to_text(json)), console);
  *summary = std::move(json);
  return ExitCode::done;
}

// What --drop and --derate cost: the same is made for the fabric before, up to 64 GPUs.
Expected<std::optional<FailurePrice>> price_of(const MadeSchedule& after,
                                               const PreparedSynthesis& prepared,
                                               const Console& console) {
  const auto whole = prepare_before(prepared);
  if (!whole) return whole.errors();
  if (!*whole) return std::optional<FailurePrice>();
  PreparedSynthesis& before = **whole;
  Laps laps;
  const auto many = refuse_many(before.fabric);
  const auto made = many ? make_schedule(before, laps, console) : many.errors();
  FailurePrice price{
      .collective = std::string(to_string(prepared.request.compile.synthesis.collective)),
      .before = made ? rates_beside(made->compiled, before) : rates_of(before),
      .after = after.figures->rates,
      .reached_before = made ? Expected(reached_by(made->compiled)) : made.errors(),
      .reached_after = after.figures->reached};
  if (made) {
    add_times(price, made->compiled.text, before.fabric, after.compiled.text, prepared.fabric);
  }
  return std::optional(std::move(price));
}

// Of a schedule of somebody else.
void note_algorithm(const MadeSchedule& made, const PreparedSynthesis& prepared,
                    const Console& console) {
  const std::string& paths_of = prepared.request.compile.paths_of;
  if (made.baseline) note(console, baseline_line(prepared.arguments.baseline, *made.baseline));
  if (!paths_of.empty()) note(console, paths_line(paths_of));
}

std::string report_of(const MadeSchedule& made, const PreparedSynthesis& prepared,
                      const SynthSeconds& seconds, bool verbose) {
  const ScheduleNotes notes = notes_of(made, prepared);
  if (made.compiled.paths) return alltoall_summary(made.compiled, prepared.fabric, notes, seconds);
  return text_report(seconds, made.solved(), *made.figures, made.verdict(),
                     prepared.fabric.topology, notes, verbose);
}

ExitCode run(PreparedSynthesis& prepared, Laps& laps, const Console& console, Json* summary) {
  auto made = make_schedule(prepared, laps, console);
  if (!made) return fail(made.errors(), console);
  if (const auto refused = refuse_verdict(made->compiled, console)) return *refused;

  warn_of_schedule(*made, prepared, console);
  if (const auto done = write_schedule(made->compiled, prepared); !done) {
    return fail(done.errors(), console);
  }
  laps.seconds.write = laps.lap();
  const SynthArguments& arguments = prepared.arguments;
  note_algorithm(*made, prepared, console);
  look_beside(*made, prepared, console);
  laps.seconds.compare = laps.lap();

  note(console, report_of(*made, prepared, laps.seconds, console.verbose));
  Expected<std::optional<FailurePrice>> price = std::optional<FailurePrice>();
  if (is_priced(arguments, console, summary)) price = price_of(*made, prepared, console);
  if (!price) return fail(price.errors(), console);
  if (*price) note(console, in_words(**price));
  if (const auto done = note_tradeoff(*made, prepared, console); !done) {
    return fail(done.errors(), console);
  }
  note_how_to_go_on(*made, prepared, console);
  if (!arguments.json) return ExitCode::done;
  Json json = summary_of(*made, prepared, laps.seconds);
  if (*price) json["failure"] = to_json(**price);
  return hand_over(std::move(json), console, summary);
}

}  // namespace

ExitCode run_synthesis(const SynthArguments& given, const Console& console, Json* summary) {
  Laps laps;
  const auto arguments = with_format(given);
  if (!arguments) return fail(arguments.errors(), console);
  const auto prepared = prepare(*arguments, console);
  if (!prepared) return fail(prepared.errors(), console);
  laps.seconds.parse = laps.lap();
  return run(**prepared, laps, console, summary);
}

}  // namespace forestcoll::cli
