// How a batch ends: what became worse since an earlier run, reports, summary, exit code.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "batch/lock.hpp"
#include "batch/results/results.hpp"
#include "command.hpp"
#include "forestcoll/diagnostic.hpp"

namespace CLI {
class App;
}

namespace forestcoll::cli::batch {

/// A kind of regression that is no failure, for the inputs that `pattern` matches.
struct Allowance {
  std::string what;     ///< "rate", "height" or "file"
  std::string pattern;  ///< see `matches`; empty: all
};
/// From "KIND" or "KIND:PATTERN". Errors: S03.
[[nodiscard]] Expected<Allowance> parse_allowance(const std::string& text);

/// Items of `before` that are made now with a lower rate, higher trees or other bytes, or that fail
/// now and did not. Rates are compared exactly. What is only in one of the two, or skipped in one,
/// is left out.
[[nodiscard]] std::vector<Regression> regressions_since(const Results& before, const Results& now,
                                                        const std::vector<Allowance>& allowed);

/// Items of `before` that `now` does not have.
[[nodiscard]] std::size_t missing_since(const Results& before, const Results& now);

/// As written on the command line.
struct OutcomeArguments {
  std::string junit, baseline;
  std::vector<std::string> allow;
  bool json = false, annotate = false;
};
void add_outcome_options(CLI::App& command, OutcomeArguments& arguments);

/// As resolved, with the baseline read.
struct OutcomeRequest {
  std::string junit;
  bool json = false, annotate = false;
  std::optional<Results> baseline;
  std::vector<Allowance> allowed;
};
/// Errors: S03, S04, J07, those of reading.
[[nodiscard]] Expected<OutcomeRequest> resolve(const OutcomeArguments& arguments);

/// "report", or "report.1-of-4" for a shard.
[[nodiscard]] std::string report_name(const std::optional<Shard>& shard);

/// Compares, writes OUT/NAME.json, .md and .csv and what else was asked for, and prints the
/// summary. `inputs` is the directory of topologies, for annotations. 1 where an item failed or is
/// worse than the baseline.
[[nodiscard]] ExitCode conclude(Results results, const OutcomeRequest& request,
                                const std::string& directory, const std::string& name,
                                const std::string& inputs, const Console& console);

}  // namespace forestcoll::cli::batch
