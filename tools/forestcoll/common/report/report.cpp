#include "common/report/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "common/report/condensed.hpp"
#include "common/report/flags.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::string_view kRed = "\033[31m";
constexpr std::string_view kYellow = "\033[33m";
constexpr std::string_view kPlain = "\033[0m";

}  // namespace

void say(std::string_view text) {
  [[maybe_unused]] const auto written = std::fwrite(text.data(), 1, text.size(), stderr);
}

void print(const Diagnostics& of_library, const Console& console) {
  const Diagnostics findings = with_flags(of_library);
  if (console.findings != nullptr) {
    console.findings->insert(console.findings->end(), findings.begin(), findings.end());
    return;
  }
  const Diagnostics shown = console.verbose ? findings : condensed(findings);
  for (const Diagnostic& finding : shown) {
    const bool warning = finding.severity == Severity::warning;
    if (warning && console.quiet) continue;
    if (console.color) {
      say(fmt::format("{}{}{}\n", warning ? kYellow : kRed, to_string(finding), kPlain));
    } else {
      say(fmt::format("{}\n", to_string(finding)));
    }
  }
}

ExitCode exit_code(const Diagnostics& findings) {
  const auto error = std::ranges::find(findings, Severity::error, &Diagnostic::severity);
  if (error == findings.end()) return ExitCode::internal;
  switch (error->kind) {
    case ErrorKind::input:
      return ExitCode::bad_input;
    case ErrorKind::limit:
    case ErrorKind::threadblocks:
    case ErrorKind::stopped:
      return ExitCode::does_not_fit;
    case ErrorKind::io:
      return ExitCode::io;
  }
  return ExitCode::internal;
}

ExitCode fail(const Diagnostics& errors, const Console& console) {
  print(errors, console);
  return exit_code(errors);
}

ExitCode finish(const Expected<void>& last, const Console& console) {
  return last ? ExitCode::done : fail(last.errors(), console);
}

void note(const Console& console, std::string_view line) {
  if (!console.quiet) say(fmt::format("{}\n", line));
}

std::string of_optimum(const Ratio& algbw, const Ratio& optimum) {
  if (algbw <= optimum) {
    return fmt::format("{} of the optimum {} GB/s", percent(algbw, optimum), number(optimum));
  }
  return fmt::format(
      "above the {} GB/s that are the optimum of reduce_scatter, then allgather, in equal shares",
      number(optimum));
}

std::string of_optimum(const Ratio& algbw, const Ratio& optimum,
                       const std::optional<Ratio>& at_least) {
  if (!at_least) return of_optimum(algbw, optimum);
  return fmt::format(
      "{} of {} GB/s, which nothing exceeds; the optimum is at least {} GB/s (a gap of {:.2g} %)",
      percent(algbw, optimum), number(optimum), number(*at_least),
      100 * share_lost(*at_least, optimum));
}

std::string deadlock_line() {
  return "  not free of deadlock with one operation in flight on a connection: it relies on the "
         "runtime's FIFO, which holds 2 in Simple, 8 in LL and LL128\n";
}

std::string cable_bandwidth(const Ratio& bandwidth, std::int64_t cables) {
  const auto single = checked_div(bandwidth, Ratio(cables));
  return single ? number(*single) : number(bandwidth.to_double() / static_cast<double>(cables));
}

std::string bandwidth_in_words(const Ratio& bandwidth, std::int64_t cables) {
  std::string text = number(bandwidth) + " GB/s";
  if (cables == 1) return text;
  return fmt::format("{} = {} x {}", text, cables, cable_bandwidth(bandwidth, cables));
}

Json exact(const Ratio& value) {
  return {{"exact", value.to_string()}, {"value", value.to_double()}};
}

Json to_json(const Diagnostic& of_library) {
  const Diagnostic finding = with_flags(of_library);
  return {{"code", name_of(finding.code)},
          {"severity", finding.severity == Severity::error ? "error" : "warning"},
          {"file", finding.file},
          {"where", finding.where},
          {"message", finding.message},
          {"remedy", finding.remedy}};
}

std::string to_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace forestcoll::cli
