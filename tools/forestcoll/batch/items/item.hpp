// One thing that a batch makes, and what became of it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/report/report.hpp"
#include "common/synthesis/groups/job_rates.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::cli::batch {

/// What tells the items of one topology apart.
struct Variant {
  std::string collective, target;
  std::string trees;  ///< of -k, as written: "auto", "optimal", "8"; "own" with --algorithm
};

/// One schedule to be made. Paths are relative: `input` to the directory of topologies, the others
/// to the directory of outputs.
struct Item {
  std::string input;
  Variant variant;
  std::vector<std::string> words;  ///< of `synth`: all that decides the bytes but the topology
  std::string output;              ///< empty with --format none; of groups a directory
  std::string record;              ///< where the result is remembered
  std::string key;                 ///< of topology, words and program; empty: not to be read
  double cost = 0;                 ///< compared with other items' only
  std::uint64_t footprint = 0;     ///< bytes of memory at most, as estimated
};

enum class Status : std::uint8_t { ok, failed, cached, skipped };
/// "ok", "failed", "cached", "skipped".
[[nodiscard]] std::string to_string(Status status);

struct ItemError {
  std::optional<Code> code = {};  ///< none where a report names one that this program lacks
  std::string message = {}, where = {};
  bool operator==(const ItemError&) const = default;
};
/// The first error, and how many there are.
[[nodiscard]] ItemError first_error(const Diagnostics& findings);
/// An error of the batch itself.
[[nodiscard]] ItemError item_error(Code code, std::string message);

/// A file that exists, verified, in the directory of outputs.
struct OutputFile {
  std::string path;  ///< relative, with "/"
  std::string hash;
  std::uint64_t bytes = 0;
  bool operator==(const OutputFile&) const = default;
};

/// What a successful run found.
struct Figures {
  Ratio algbw;  ///< of the trees; `reached_by` has that of the file
  /// Of the file; 1 only where it reaches the optimum, none where it is above it.
  std::optional<double> optimum_fraction = {};
  std::optional<std::int64_t> height = {};  ///< none: an all-to-all has no trees
  /// Where the optimum is not known, the GB/s between which it is; the fraction is of the upper.
  std::optional<std::pair<Ratio, Ratio>> optimum_range = {};
  /// "optimum", "optimum_by_trees" and "reached", as `synth --json` has them; a report of version 1
  /// has none.
  Json named = Json::object();
};

/// A line of the report.
struct ItemResult {
  std::string input;
  Variant variant;
  Status status = Status::skipped;
  std::vector<OutputFile> outputs;
  std::optional<Figures> figures;
  double seconds = 0;
  std::optional<ItemError> error;
};
/// The result of an item before anything happened.
[[nodiscard]] ItemResult untouched(const Item& item);

/// By input, collective, target and trees.
[[nodiscard]] bool is_before(const ItemResult& a, const ItemResult& b);
/// The same item, whatever became of it.
[[nodiscard]] bool is_same(const ItemResult& a, const ItemResult& b);
/// "a100/x2.json allreduce", with target and trees where they matter.
[[nodiscard]] std::string label(const ItemResult& result);

/// What an item has written, in a word: its file, or of several the directory that they are in;
/// empty where there is none.
[[nodiscard]] std::string output_path(const ItemResult& result);

[[nodiscard]] Json to_json(const OutputFile& file);
[[nodiscard]] Json to_json(const ItemResult& result);
/// Nothing where `json` is not what `to_json` writes, or wrote in earlier versions of the report.
[[nodiscard]] std::optional<OutputFile> parse_output_file(const Json& json);
[[nodiscard]] std::optional<ItemResult> parse_result(const Json& json);

/// `algbw`, `optimum_fraction`, `max_height`, where it is there `optimum_range`, and the three
/// figures, into an object and out of one.
void add_figures(Json& json, const Figures& figures);
[[nodiscard]] std::optional<Figures> parse_figures(const Json& json);
/// GB/s of what was written; in a report of version 1 of the trees, where these have others.
[[nodiscard]] Ratio reached_by(const Figures& figures);
/// "390 to 400".
[[nodiscard]] std::string range_text(const std::pair<Ratio, Ratio>& range);
/// Of process groups at once.
[[nodiscard]] Figures figures_of_job(const JobRates& rates);
/// From the report of `synth --json`.
[[nodiscard]] std::optional<Figures> figures_of_summary(const Json& summary);

/// A file name for reports: as it is where it is UTF-8, otherwise with \xHH for all bytes above
/// 0x7f.
[[nodiscard]] std::string printable(const std::string& name);
/// On one line: control characters as \n, \t or \xHH.
[[nodiscard]] std::string on_one_line(const std::string& text);

}  // namespace forestcoll::cli::batch
