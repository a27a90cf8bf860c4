#include "batch/results/outcome.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <utility>

#include "batch/items/discovery.hpp"
#include "common/files/io.hpp"
#include "common/options/file_option.hpp"
#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli::batch {
namespace {

Expected<void> write_reports(const Results& results, const OutcomeRequest& request,
                             const std::string& directory, const std::string& name,
                             const std::string& inputs) {
  Diagnostics errors;
  const auto write = [&errors](const std::string& path, const std::string& text) {
    if (const auto done = write_output(path, text); !done) errors.push_back(done.errors().front());
  };
  const std::string json = to_report_json(results);
  write(path_in(directory, name + ".json"), json);
  write(path_in(directory, name + ".md"), to_markdown(results));
  write(path_in(directory, name + ".csv"), to_csv(results));
  if (!request.junit.empty()) write(request.junit, to_junit(results));
  if (request.json) write("-", json);
  if (request.annotate) write("-", to_annotations(results, inputs));
  return errors;
}

}  // namespace

void add_outcome_options(CLI::App& command, OutcomeArguments& arguments) {
  constexpr const char* kGroup = "Report";
  command.add_flag("--json", arguments.json, "The report on standard output as well")
      ->group(kGroup);
  command.add_option("--junit", arguments.junit, "A JUnit XML file, which CI systems read")
      ->check(file_name())
      ->type_name("FILE")
      ->group(kGroup);
  command
      .add_flag("--annotate", arguments.annotate,
                "Failures on standard output as GitHub's workflow commands")
      ->group(kGroup);
  command
      .add_option("--baseline", arguments.baseline,
                  "report.json of an earlier run: a rate that fell, a height that grew, a file\n"
                  "that changed and an item that fails now are failures (exit code 1)")
      ->check(file_name())
      ->type_name("FILE")
      ->group(kGroup);
  command
      .add_option("--allow", arguments.allow,
                  "Of these, what is no failure: rate, height or file, for all inputs or with\n"
                  ":PATTERN for some; several times")
      ->allow_extra_args(false)
      ->type_name("KIND[:PATTERN]")
      ->group(kGroup);
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
    request.allowed.push_back(*std::move(allowance));
  }
  if (arguments.baseline.empty()) {
    if (request.allowed.empty()) return request;
    return make_error(Code::S04, "--allow has a meaning with --baseline only",
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
    results.regressions = regressions_since(*request.baseline, results, request.allowed);
    const std::size_t missing = missing_since(*request.baseline, results);
    if (missing > 0) {
      note(console, fmt::format("{} of the baseline not in this run", counted(missing, "item")));
    }
  }
  const auto written = write_reports(results, request, directory, name, inputs);
  const bool bad =
      results.count(Status::failed) > 0 || (results.regressions && !results.regressions->empty());
  // Failures are errors, which --quiet does not silence.
  if (bad || !console.quiet) say(fmt::format("{}\n", to_summary(results)));
  if (!written) return fail(written.errors(), console);
  return bad ? ExitCode::answer_is_no : ExitCode::done;
}

}  // namespace forestcoll::cli::batch
