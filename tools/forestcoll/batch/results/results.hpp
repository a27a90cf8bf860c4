// The report of a batch: all items, and how they compare with an earlier run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "batch/items/item.hpp"
#include "common/report/report.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::cli::batch {

/// How an item differs from what it was in an earlier run.
enum class Grade : std::uint8_t {
  worse,    ///< a lower rate, higher trees, or it fails now
  missing,  ///< it is not in this run
  changed,  ///< other bytes, or a rate that is lower within the tolerance
  better,   ///< a higher rate or lower trees
  added,    ///< it was not in that run: never a failure
};
/// "worse", "missing", "changed", "better", "new".
[[nodiscard]] std::string to_string(Grade grade);

struct Difference {
  ItemResult item;
  Grade grade = Grade::changed;
  std::string what;         ///< "rate", "height", "file", "failed" or "item"
  std::string change;       ///< for people: "171.43 -> 160.00 GB/s (-6.7 %)"
  std::string before, now;  ///< exactly: fractions, numbers, hashes
  std::optional<std::pair<Ratio, Ratio>> numbers = {};  ///< the same where they are such
  bool fails = false;                                   ///< the run, by `--fail-on` and `--allow`
  bool is_allowed = false;                              ///< it would, but for `--allow`
};
/// "rate 171.43 -> 160.00 GB/s (-6.7 %), exactly 1200/7 -> 160".
[[nodiscard]] std::string in_words(const Difference& difference);

struct Results {
  std::string program;            ///< its fingerprint; empty in reports that do not say it
  std::vector<ItemResult> items;  ///< in the order of `is_before`
  std::optional<std::vector<Difference>> differences;  ///< where there was a baseline

  [[nodiscard]] std::size_t count(Status status) const;
  [[nodiscard]] std::size_t count(Grade grade) const;
  /// Differences that fail the run.
  [[nodiscard]] std::vector<Difference> failures() const;
  /// Those that the baseline does not have, in the order of `is_before`.
  [[nodiscard]] std::vector<ItemResult> new_items() const;
};

/// "beside the baseline 1 worse, 0 better, 2 changed, 0 missing, 1 new".
[[nodiscard]] std::string grades_in_words(const Results& results);

/// {"format": "forestcoll-batch", "version": 4, …}, an item per line; the schema is
/// tools/schema/forestcoll-batch.schema.json. All but `seconds` depends on the inputs, the options
/// and the store alone.
[[nodiscard]] std::string to_report_json(const Results& results, int json_version);
/// Errors: J07, with the place.
[[nodiscard]] Expected<Results> parse_report(const std::string& text, const std::string& file);

/// For the comment on a change: failures first. No times, and no longer than such comments may be.
[[nodiscard]] std::string to_markdown(const Results& results);
/// RFC 4180, with a header; an item per record.
[[nodiscard]] std::string to_csv(const Results& results);
/// As CI systems read it: a test case per item.
[[nodiscard]] std::string to_junit(const Results& results);
/// GitHub's workflow commands, a line per failed item and per difference that fails. `directory` is
/// where the inputs are.
[[nodiscard]] std::string to_annotations(const Results& results, const std::string& directory);
/// What a person reads at the end: failed items first, then differences, then counts.
[[nodiscard]] std::string to_summary(const Results& results);

}  // namespace forestcoll::cli::batch
