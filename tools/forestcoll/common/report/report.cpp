#include "common/report/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "common/host.hpp"
#include "common/report/flags.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::size_t kMostWhole = 3;
constexpr std::size_t kMostPlaces = 3;

// Of warnings about a topology file, the first of each code are shown, and a line that counts the
// others and names some of their places. What an import guessed and left out is another thing each
// time, and stays.
bool is_of_a_kind(const Diagnostic& finding) {
  return finding.severity == Severity::warning && finding.code &&
         info_of(*finding.code).about == About::topology_file;
}

// What is not shown of a kind.
struct Rest {
  std::size_t met = 0, count = 0;
  std::vector<std::string> places;
};

Diagnostic line_of(const Rest& rest, const Diagnostic& like) {
  std::string places;
  if (!rest.places.empty()) {
    places = fmt::format(", at {}{}", fmt::join(rest.places, ", "),
                         rest.places.size() < rest.count ? ", …" : "");
  }
  return {.code = like.code,
          .severity = Severity::warning,
          .kind = like.kind,
          .file = like.file,
          .where = "",
          .message = fmt::format("and {} more of this kind{}", rest.count, places),
          .remedy = "--verbose lists them."};
}

Diagnostics condensed(const Diagnostics& findings) {
  std::map<std::pair<std::string, std::optional<Code>>, Rest> rests;  // by file and code
  for (const Diagnostic& finding : findings) {
    if (!is_of_a_kind(finding)) continue;
    Rest& rest = rests[{finding.file, finding.code}];
    if (++rest.met <= kMostWhole) continue;
    rest.count += std::max<std::size_t>(finding.counted, 1);
    const bool is_place = finding.counted == 0 && !finding.where.empty();
    if (is_place && rest.places.size() < kMostPlaces) rest.places.push_back(finding.where);
  }
  Diagnostics shown;
  std::map<std::pair<std::string, std::optional<Code>>, std::size_t> met;
  for (const Diagnostic& finding : findings) {
    if (!is_of_a_kind(finding)) {
      shown.push_back(finding);
      continue;
    }
    const std::pair key(finding.file, finding.code);
    const std::size_t number = ++met[key];
    if (number <= kMostWhole) shown.push_back(finding);
    if (number == kMostWhole && rests[key].count > 0) {
      shown.push_back(line_of(rests[key], finding));
    }
  }
  return shown;
}

constexpr std::string_view kRed = "\033[31m";
constexpr std::string_view kYellow = "\033[33m";
constexpr std::string_view kPlain = "\033[0m";

template <class Apply>
Diagnostics with_each(Diagnostics errors, std::span<const Remedy> remedies, Apply&& apply) {
  for (Diagnostic& error : errors) {
    const auto known = std::ranges::find(remedies, error.code, &Remedy::code);
    if (known != remedies.end()) apply(error.remedy, known->text);
  }
  return errors;
}

}  // namespace

void say(std::string_view text) {
  if (Host* host = Host::current()) {
    host->notes += text;
    return;
  }
  [[maybe_unused]] const auto written = std::fwrite(text.data(), 1, text.size(), stderr);
}

void print(const Diagnostics& of_library, const Console& console) {
  const Diagnostics findings = with_flags(of_library);
  if (console.findings != nullptr) {
    console.findings->insert(console.findings->end(), findings.begin(), findings.end());
    return;
  }
  if (console.told != nullptr) {
    std::ranges::copy_if(findings, std::back_inserter(console.told->errors),
                         [](const auto& each) { return each.severity == Severity::error; });
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

ExitCode exit_code(const Expected<ExitCode>& end, const Console& console) {
  return end ? *end : fail(end.errors(), console);
}

Expected<ExitCode> finish(const Expected<void>& last) {
  if (!last) return last.errors();
  return ExitCode::done;
}

void note(const Console& console, std::string_view line) {
  if (!console.quiet) say(fmt::format("{}\n", line));
}

std::string of_optimum(const Ratio& algbw, const Ratio& optimum) {
  if (algbw <= optimum) {
    return fmt::format("{} of the optimum {} GB/s", percent(algbw, optimum), number(optimum));
  }
  return fmt::format(
      "more than the optimum of reduce_scatter, then allgather, in equal shares, {} GB/s",
      number(optimum));
}

std::string of_optimum(const Ratio& algbw, const Ratio& optimum,
                       const std::optional<Ratio>& at_least) {
  if (!at_least) return of_optimum(algbw, optimum);
  return fmt::format(
      "{} of the upper bound {} GB/s; the optimum is at least {} GB/s (a gap of {:.2g} %)",
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

Json error_report(const Told& told, ExitCode code) {
  Json errors = Json::array();
  for (const Diagnostic& error : told.errors) errors.push_back(to_json(error));
  return {{"format", "forestcoll-error"},
          {"version", 1},
          {"exit_code", static_cast<int>(code)},
          {"errors", std::move(errors)}};
}

Json to_json(const UsableSizes& usable) {
  Json json = Json::object();
  if (usable.count_multiple) json["count_multiple"] = *usable.count_multiple;
  if (usable.bytes_multiple) json["bytes_multiple"] = *usable.bytes_multiple;
  json["min_bytes"] = usable.min_bytes;
  json["max_bytes"] = usable.max_bytes ? Json(*usable.max_bytes) : Json(nullptr);
  return json;
}

std::string to_text(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

Diagnostics with_remedies(Diagnostics errors, std::span<const Remedy> remedies) {
  return with_each(std::move(errors), remedies,
                   [](std::string& remedy, std::string_view text) { remedy = text; });
}

Diagnostics with_more_remedies(Diagnostics errors, std::span<const Remedy> remedies) {
  return with_each(std::move(errors), remedies, [](std::string& remedy, std::string_view text) {
    if (!remedy.empty()) remedy += ' ';
    remedy += text;
  });
}

}  // namespace forestcoll::cli
