#include "common/synthesis/judgement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>

#include "common/report/report.hpp"
#include "common/report/warnings.hpp"
#include "forestcoll/codes.hpp"

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
  const std::string why = why_no_ll128(compiled, topology);
  if (!why.empty()) warn_of_ll128(why, console);
}

}  // namespace

std::string why_no_ll128(const Compilation& compiled, const Topology& topology) {
  const std::string& target = compiled.options.lowering.target;
  const CollectiveForest& forest = compiled.chosen.synthesis.forest;
  const bool has_trees = !compiled.paths && (forest.reduce || forest.broadcast);
  return has_trees ? forestcoll::why_no_ll128(forest, topology, target)
                   : forestcoll::why_no_ll128(topology, target);
}

std::optional<ExitCode> refuse_verdict(const Compilation& compiled, const Console& console) {
  if (is_never_selected(compiled.verdict)) {
    return fail({empty_window(compiled.verdict, compiled.options)}, console);
  }
  if (!compiled.verdict.ok) return report_own_bug(compiled.verdict.findings, console);
  return std::nullopt;
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

}  // namespace forestcoll::cli
