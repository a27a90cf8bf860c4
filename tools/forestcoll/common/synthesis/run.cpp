// One schedule: prepared, made, verified, written, compared and told of.
#include "common/synthesis/run.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <utility>

#include "common/files/file_set.hpp"
#include "common/files/io.hpp"
#include "common/host.hpp"
#include "common/report/json_version.hpp"
#include "common/synthesis/compare_baselines.hpp"
#include "common/synthesis/judgement.hpp"
#include "common/synthesis/made_schedule.hpp"
#include "common/synthesis/output/deploy.hpp"
#include "common/synthesis/prepare.hpp"
#include "common/synthesis/report/alltoall_report.hpp"
#include "common/synthesis/request/trace.hpp"
#include "common/synthesis/summary.hpp"
#include "forestcoll/compile.hpp"

namespace forestcoll::cli {
namespace {

// Thousands of lines on a terminal help nobody who did not ask for them.
bool is_held_back(const PreparedSynthesis& prepared) {
  const SynthArguments& arguments = prepared.arguments;
  const bool goes_to_stdout = !arguments.output_given && !arguments.json &&
                              arguments.deploy.empty() && arguments.output == "-" &&
                              prepared.request.compile.format != Format::none;
  return goes_to_stdout && Host::current() == nullptr && isatty(STDOUT_FILENO) == 1;
}

// The schedule alone, or with all that it takes to run it.
Expected<void> write_schedule(const Compilation& compiled, const PreparedSynthesis& prepared) {
  const SynthArguments& arguments = prepared.arguments;
  if (prepared.request.compile.format == Format::none || is_held_back(prepared)) return {};
  if (prepared.request.trace) return write_trace(compiled.text, *prepared.request.trace, arguments);
  if (arguments.deploy.empty()) return write_output(arguments.output, compiled.text);
  const Topology& topology = prepared.fabric.topology;
  const auto files =
      deployment_files({topology, compiled.options, {deployed_schedule(compiled, topology)}});
  if (!files) return files.errors();
  return write_files(arguments.deploy, *files);
}

// A name that says another format is a choice that nobody sees.
void note_odd_name(const PreparedSynthesis& prepared, const Console& console) {
  const SynthArguments& arguments = prepared.arguments;
  const Format format = prepared.request.compile.format;
  const bool is_xml = format == Format::msccl || format == Format::forest_xml;
  const bool is_other =
      format == Format::dot || format == Format::none || prepared.request.trace.has_value();
  const char* odd = is_xml ? ".json" : ".xml";
  if (is_other || !arguments.deploy.empty() || !arguments.output.ends_with(odd)) return;
  note(console, fmt::format("  {} holds {}, as --format {} is: its name says {}", arguments.output,
                            is_xml ? "XML" : "JSON", arguments.format, odd + 1));
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
  if (console.verbose) {
    if (!next.empty()) note(console, next);
  } else {
    note(console, next.empty() ? "  details: -v" : next + "; details: -v");
  }
}

// To whoever called, or else to standard output.
Expected<ExitCode> hand_over(Json json, const Console& console, Json* summary) {
  if (summary == nullptr) return finish(write_output("-", report_text(std::move(json), console)));
  *summary = std::move(json);
  return ExitCode::done;
}

// Of a schedule of somebody else.
void note_algorithm(const MadeSchedule& made, const PreparedSynthesis& prepared,
                    const Console& console) {
  const std::string& paths_of = prepared.request.compile.paths_of;
  if (made.baseline) note(console, baseline_line(prepared.arguments.baseline, *made.baseline));
  if (!paths_of.empty()) note(console, paths_line(paths_of));
}

Expected<ExitCode> run(PreparedSynthesis& prepared, Laps& laps, const Console& console,
                       Json* summary) {
  auto made = make_schedule(prepared, laps, console);
  if (!made) return made.errors();
  if (const auto done = refuse_stopped(); !done) return done.errors();
  if (const auto refused = refuse_verdict(made->compiled, console)) return *refused;

  warn_of_schedule(*made, prepared, console);
  if (const auto done = write_schedule(made->compiled, prepared); !done) return done.errors();
  laps.seconds.write = laps.lap();
  note_odd_name(prepared, console);
  const SynthArguments& arguments = prepared.arguments;
  note_algorithm(*made, prepared, console);
  compare_baselines(*made, prepared, console);
  laps.seconds.compare = laps.lap();

  note(console, report_of(*made, prepared, laps.seconds, console.verbose));
  Expected<std::optional<FailurePrice>> price = std::optional<FailurePrice>();
  if (is_priced(arguments, console, summary)) price = price_of(*made, prepared, console);
  if (!price) return price.errors();
  if (*price) note(console, in_words(**price));
  auto tradeoff = find_tradeoff(*made, prepared, console);
  if (!tradeoff) return tradeoff.errors();
  made->tradeoff = *std::move(tradeoff);
  if (made->tradeoff) note(console, tradeoff_lines(*made->tradeoff));
  note_how_to_go_on(*made, prepared, console);
  if (!arguments.json) return ExitCode::done;
  Json json = summary_of(*made, prepared, laps.seconds);
  if (*price) json["failure"] = to_json(**price);
  return hand_over(std::move(json), console, summary);
}

}  // namespace

Expected<ExitCode> run_synthesis(const SynthArguments& given, const Console& console,
                                 Json* summary) {
  Laps laps;
  const auto arguments = with_format(given);
  if (!arguments) return arguments.errors();
  const auto prepared = prepare(*arguments, console);
  if (!prepared) return prepared.errors();
  laps.seconds.parse = laps.lap();
  if (is_held_back(**prepared)) {
    say("standard output is a terminal, so the schedule is not written: use -o FILE, or -o - to "
        "print it\n");
  }
  return run(**prepared, laps, console, summary);
}

}  // namespace forestcoll::cli
