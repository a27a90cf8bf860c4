// How a batch ends: how it differs from an earlier run, reports, summary, exit code.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <vector>

#include "batch/lock.hpp"
#include "batch/results/results.hpp"
#include "command.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/ratio.hpp"

namespace CLI {
class App;
}

namespace forestcoll::cli::batch {

/// A kind of difference that is no failure, for the inputs that `pattern` matches.
struct Allowance {
  std::string what;     ///< "rate", "height", "file" or "item"
  std::string pattern;  ///< see `matches`; empty: all
};
/// From "KIND" or "KIND:PATTERN". Errors: S03.
[[nodiscard]] Expected<Allowance> parse_allowance(const std::string& text);

/// What fails a run beside failed items.
struct Strictness {
  std::set<Grade> fail_on = {Grade::worse, Grade::missing};
  Ratio tolerance = Ratio(0);  ///< of a rate that is lower by no more than that part: not worse
  std::vector<Allowance> allowed;
};

/// How the items of `now` differ from those of `before`, by rate, height, bytes and failure; then
/// the items of `before` that `now` does not have, if `is_whole`, and those that are new. Rates are
/// compared exactly. What was skipped in one of the two is left out.
[[nodiscard]] std::vector<Difference> differences_since(const Results& before, const Results& now,
                                                        const Strictness& strictness,
                                                        bool is_whole);

/// As written on the command line.
struct OutcomeArguments {
  std::string junit, baseline, tolerance;
  std::vector<std::string> allow, fail_on;
  bool json = false, annotate = false;
};
void add_outcome_options(CLI::App& command, OutcomeArguments& arguments);

/// As resolved, with the baseline read.
struct OutcomeRequest {
  std::string junit;
  bool json = false, annotate = false;
  std::optional<Results> baseline;
  Strictness strictness;
};
/// Errors: S03, S04, J07, those of reading.
[[nodiscard]] Expected<OutcomeRequest> resolve(const OutcomeArguments& arguments);

/// "report", or "report.1-of-4" for a shard.
[[nodiscard]] std::string report_name(const std::optional<Shard>& shard);

/// Compares, writes OUT/NAME.json, .md and .csv and what else was asked for, and prints the
/// summary. `inputs` is the directory of topologies, for annotations. Items that a shard does not
/// have are in others. 1 where an item failed, or differs from the baseline in a way that fails.
[[nodiscard]] ExitCode conclude(Results results, const OutcomeRequest& request,
                                const std::string& directory, const std::string& name,
                                const std::string& inputs, const Console& console);

}  // namespace forestcoll::cli::batch
