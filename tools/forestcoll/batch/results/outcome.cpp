#include "batch/results/outcome.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <iterator>
#include <utility>

#include "batch/items/discovery.hpp"
#include "batch/items/item.hpp"
#include "common/files/io.hpp"
#include "common/options/json_version_option.hpp"
#include "common/options/shared_options.hpp"
#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::cli::batch {
namespace {

// "-6.7 %" or "+7.1 %".
std::string change_in_words(const Ratio& is, const Ratio& was) {
  constexpr double kLeastShown = 0.05;
  const double percent = 100 * (is.to_double() / was.to_double() - 1);
  return std::abs(percent) < kLeastShown ? "by less than 0.1 %" : fmt::format("{:+.1f} %", percent);
}

bool is_made(const ItemResult& item) {
  return item.status == Status::ok || item.status == Status::cached;
}

const ItemResult* find(const Results& results, const ItemResult& item) {
  const auto found = std::ranges::lower_bound(results.items, item, is_before);
  return found != results.items.end() && is_same(*found, item) ? &*found : nullptr;
}

// What the files reach, where both reports say so and it differs; else that of their trees.
std::pair<Ratio, Ratio> comparable_rates(const Figures& was, const Figures& is) {
  const bool are_known = was.named.contains("reached") && is.named.contains("reached");
  const std::pair of_files(reached_by(was), reached_by(is));
  return are_known && of_files.first != of_files.second ? of_files : std::pair(was.algbw, is.algbw);
}

// "171.43 -> 160.00", with more decimals where two do not tell them apart.
std::string rates_in_words(const Ratio& was, const Ratio& is) {
  constexpr int kFewestDecimals = 2, kMostDecimals = 15;
  for (int decimals = kFewestDecimals;; ++decimals) {
    const std::string before = fmt::format("{:.{}f}", was.to_double(), decimals);
    const std::string now = fmt::format("{:.{}f}", is.to_double(), decimals);
    if (before != now || decimals == kMostDecimals) {
      return fmt::format("{} -> {} GB/s ({})", before, now, change_in_words(is, was));
    }
  }
}

std::uint64_t bytes_of(const ItemResult& item) {
  std::uint64_t bytes = 0;
  for (const OutputFile& file : item.outputs) bytes += file.bytes;
  return bytes;
}

std::string files_in_words(const ItemResult& before, const ItemResult& now) {
  const std::uint64_t was = bytes_of(before), is = bytes_of(now);
  return was == is ? fmt::format("{}: other content, {} bytes as before", output_path(now), is)
                   : fmt::format("{}: {} -> {} bytes", output_path(now), was, is);
}

std::string hash_of(const ItemResult& item) {
  std::string text;
  for (const OutputFile& file : item.outputs) text += (text.empty() ? "" : " ") + file.hash;
  return text;
}

// A rate is worse where it is below what the tolerance leaves of the one before.
Grade grade_of(const Ratio& is, const Ratio& was, const Ratio& tolerance) {
  if (is > was) return Grade::better;
  const auto left = checked_mul(was, Ratio(1) - tolerance);
  return left && is >= *left ? Grade::changed : Grade::worse;
}

std::vector<Difference> compare(const ItemResult& before, const ItemResult& now,
                                const Ratio& tolerance) {
  std::vector<Difference> found;
  const auto add = [&](Grade grade, const char* what, std::string change, std::string was,
                       std::string is) {
    found.push_back({now, grade, what, std::move(change), std::move(was), std::move(is)});
  };
  if (!is_made(before)) return found;
  if (now.status == Status::failed) {
    const std::string code(now.error ? name_of(now.error->code) : "failed");
    add(Grade::worse, "failed", fmt::format("now, and did not before: {}", code), "made", code);
  }
  if (!is_made(now)) return found;
  if (before.figures && now.figures) {
    const Figures &was = *before.figures, &is = *now.figures;
    const auto [then, here] = comparable_rates(was, is);
    if (here != then) {
      add(grade_of(here, then, tolerance), "rate", rates_in_words(then, here), then.to_string(),
          here.to_string());
      found.back().numbers = {then, here};
    }
    if (is.height && was.height && *is.height != *was.height) {
      const std::string old = std::to_string(*was.height), height = std::to_string(*is.height);
      add(*is.height > *was.height ? Grade::worse : Grade::better, "height",
          fmt::format("{} -> {}", old, height), old, height);
      found.back().numbers = {Ratio(*was.height), Ratio(*is.height)};
    }
  }
  if (before.outputs != now.outputs) {
    add(Grade::changed, "file", files_in_words(before, now), hash_of(before), hash_of(now));
  }
  return found;
}

bool is_allowed(const Difference& difference, const std::vector<Allowance>& allowed) {
  return std::ranges::any_of(allowed, [&](const Allowance& allowance) {
    return allowance.what == difference.what &&
           (allowance.pattern.empty() || matches(allowance.pattern, difference.item.input));
  });
}

// Of patterns that no input has: a misspelt one would let a difference fail that was to be allowed.
void tell_of_idle(const std::vector<Allowance>& allowed, const Results& before, const Results& now,
                  const Console& console) {
  for (const Allowance& each : allowed) {
    const auto has = [&](const Results& results) {
      return std::ranges::any_of(
          results.items, [&](const ItemResult& item) { return matches(each.pattern, item.input); });
    };
    if (each.pattern.empty() || has(before) || has(now)) continue;
    note(console, fmt::format("--allow {}:{} allows nothing: no input of this run or of the "
                              "baseline matches the pattern",
                              each.what, each.pattern));
  }
}

Expected<std::set<Grade>> parse_grades(const std::vector<std::string>& names) {
  std::set<Grade> grades;
  for (const std::string& name : names) {
    bool is_known = name == "none";
    for (const Grade grade : {Grade::worse, Grade::missing, Grade::changed, Grade::better}) {
      if (name != to_string(grade)) continue;
      grades.insert(grade);
      is_known = true;
    }
    if (is_known) continue;
    return make_error(
        Code::S03,
        fmt::format("--fail-on: expected worse, missing, changed, better or none, found \"{}\"",
                    name),
        "write --fail-on worse,missing, which is the default");
  }
  return grades;
}

// "2%", "0.5 %", "1/50" or "0.02".
Expected<Ratio> parse_tolerance(const std::string& text) {
  constexpr std::int64_t kPercent = 100;
  std::string number = text;
  const bool is_percent = number.ends_with('%');
  if (is_percent) number.pop_back();
  while (number.ends_with(' ')) number.pop_back();
  std::optional<Ratio> tolerance = parse_ratio(number);
  if (tolerance && is_percent) tolerance = checked_mul(*tolerance, Ratio(1, kPercent));
  if (tolerance && *tolerance >= Ratio(0) && *tolerance < Ratio(1)) return *tolerance;
  return make_error(
      Code::S03,
      fmt::format("--tolerance: expected a part of a rate below 100 %, found \"{}\"", text),
      "write --tolerance 2% or --tolerance 0.02");
}

Expected<void> write_reports(const Results& results, const OutcomeRequest& request,
                             const std::string& directory, const std::string& name,
                             const std::string& inputs, const Console& console) {
  Diagnostics errors;
  const auto write = [&errors](const std::string& path, const std::string& text) {
    if (const auto done = write_output(path, text); !done) errors.push_back(done.errors().front());
  };
  const std::string json = to_report_json(results, console.json_version);
  write(path_in(directory, name + ".json"), json);
  write(path_in(directory, name + ".md"), to_markdown(results));
  write(path_in(directory, name + ".csv"), to_csv(results));
  if (!request.junit.empty()) write(request.junit, to_junit(results));
  if (console.told != nullptr) console.told->has_report = true;
  if (request.json) write("-", json);
  if (request.annotate) write("-", to_annotations(results, inputs));
  return errors;
}

}  // namespace

Expected<Allowance> parse_allowance(const std::string& text) {
  const std::size_t colon = text.find(':');
  Allowance allowance{text.substr(0, colon),
                      colon == std::string::npos ? "" : text.substr(colon + 1)};
  for (const char* what : {"rate", "height", "file", "item"}) {
    if (allowance.what == what) return allowance;
  }
  return make_error(
      Code::S03,
      fmt::format("--allow: expected rate, height, file or item, found \"{}\"", allowance.what),
      "write --allow file, or --allow file:PATTERN for some inputs");
}

std::vector<Difference> differences_since(const Results& before, const Results& now,
                                          const Strictness& strictness, bool is_whole) {
  std::vector<Difference> differences;
  for (const ItemResult& item : now.items) {
    const ItemResult* previous = find(before, item);
    if (previous == nullptr) continue;
    std::ranges::move(compare(*previous, item, strictness.tolerance),
                      std::back_inserter(differences));
  }
  for (const ItemResult& item : before.items) {
    if (!is_whole || find(now, item) != nullptr) continue;
    differences.push_back(
        {item, Grade::missing, "item", "is in the baseline and not in this run", "there", ""});
  }
  for (const ItemResult& item : now.items) {
    if (item.status == Status::skipped || find(before, item) != nullptr) continue;
    differences.push_back({item, Grade::added, "item", "is not in the baseline", "", "there"});
  }
  for (Difference& each : differences) {
    each.fails = strictness.fail_on.contains(each.grade);
    each.is_allowed = each.fails && is_allowed(each, strictness.allowed);
    if (each.is_allowed) each.fails = false;
  }
  return differences;
}

void add_outcome_options(CLI::App& command, OutcomeArguments& arguments) {
  const OptionGroup group(command, "Report");
  group.flag("--json", arguments.json, "Also print the report on standard output");
  add_json_version_option(command, true);
  group.option("--junit", arguments.junit, "FILE", "JUnit XML file to write, for CI systems")
      ->check(file_name());
  group.flag("--annotate", arguments.annotate, "Print failures as GitHub's workflow commands");
  group
      .option("--baseline", arguments.baseline, "FILE",
              "report.json of an earlier run to compare with; items are worse (a lower rate,\n"
              "higher trees, a failure), missing, changed (other bytes), better or new.\n"
              "--fail-on decides the exit code")
      ->check(file_name());
  group.option("--tolerance", arguments.tolerance, "PART",
               "Relative loss of rate that still counts as equal: 2% or 0.02");
  group
      .list("--fail-on", arguments.fail_on, "GRADE,...",
            "Differences that fail the run: worse, missing, changed, better or none; default\n"
            "worse,missing")
      ->delimiter(',');
  group.list("--allow", arguments.allow, "KIND[:PATTERN]",
             "Differences to accept: rate, height, file or item, for all inputs or with\n"
             ":PATTERN for some; several times");
}

Expected<OutcomeRequest> resolve(const OutcomeArguments& arguments) {
  OutcomeRequest request;
  request.junit = arguments.junit;
  request.json = arguments.json;
  request.annotate = arguments.annotate;
  std::vector<const char*> on_standard_output;
  if (arguments.json) on_standard_output.push_back("--json");
  if (arguments.annotate) on_standard_output.push_back("--annotate");
  if (arguments.junit == "-") on_standard_output.push_back("--junit -");
  if (on_standard_output.size() > 1) {
    return make_error(Code::S04,
                      fmt::format("{} and {} both write to standard output", on_standard_output[0],
                                  on_standard_output[1]),
                      "take the report from report.json, or name a file with --junit");
  }
  for (const std::string& text : arguments.allow) {
    auto allowance = parse_allowance(text);
    if (!allowance) return allowance.errors();
    request.strictness.allowed.push_back(*std::move(allowance));
  }
  if (!arguments.fail_on.empty()) {
    auto grades = parse_grades(arguments.fail_on);
    if (!grades) return grades.errors();
    request.strictness.fail_on = *std::move(grades);
  }
  if (!arguments.tolerance.empty()) {
    auto tolerance = parse_tolerance(arguments.tolerance);
    if (!tolerance) return tolerance.errors();
    request.strictness.tolerance = *tolerance;
  }
  if (arguments.baseline.empty()) {
    const char* alone = !arguments.allow.empty()       ? "--allow"
                        : !arguments.fail_on.empty()   ? "--fail-on"
                        : !arguments.tolerance.empty() ? "--tolerance"
                                                       : nullptr;
    if (alone == nullptr) return request;
    return make_error(Code::S04, fmt::format("{} has a meaning with --baseline only", alone),
                      "name the report.json of an earlier run with --baseline");
  }
  const auto text = read_input(arguments.baseline);
  if (!text) {
    Diagnostics errors = text.errors();
    for (Diagnostic& error : errors) {
      error.message = "--baseline: " + error.message;
      error.remedy = "name the report.json of an earlier run; the first run has none to name";
    }
    return errors;
  }
  auto baseline = parse_report(*text, display_name(arguments.baseline));
  if (!baseline) return baseline.errors();
  request.baseline = *std::move(baseline);
  return request;
}

std::string report_name(const std::optional<Shard>& shard) {
  return shard ? fmt::format("report.{}-of-{}", shard->index, shard->count) : "report";
}

ExitCode conclude(Results results, const OutcomeRequest& request, const std::string& directory,
                  const std::string& name, const std::string& inputs, const Console& console) {
  if (request.baseline) {
    if (!request.baseline->program.empty() && request.baseline->program != results.program) {
      note(console, "the baseline was made by another build of forestcoll");
    }
    tell_of_idle(request.strictness.allowed, *request.baseline, results, console);
    const bool is_whole = name == report_name(std::nullopt);
    results.differences =
        differences_since(*request.baseline, results, request.strictness, is_whole);
  }
  const auto written = write_reports(results, request, directory, name, inputs, console);
  const bool bad = results.count(Status::failed) > 0 || !results.failures().empty();
  // Failures are errors, which --quiet does not silence.
  if (bad || !console.quiet) say(fmt::format("{}\n", to_summary(results)));
  if (!written) return fail(written.errors(), console);
  return bad ? ExitCode::answer_is_no : ExitCode::done;
}

}  // namespace forestcoll::cli::batch
