// A table of nccl-tests has a comment that heads its columns,
//
//   #       size         count      type   redop    root     time   algbw   busbw #wrong     time …
//
// a comment with the units, and then rows of as many words. Which columns there are depends on the
// version and on the collective; the group of `time algbw busbw` comes once or twice, out of place
// first where the comment above does not name them.
#include "compare/measured/measured.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "common/options/shared_options.hpp"
#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli {
namespace {

using Words = std::vector<std::string_view>;

constexpr std::array<const char*, 2> kPlacements = {"out-of-place", "in-place"};
// Both figures are printed with two decimals, and times of small messages with two digits.
constexpr double kRoundingGbs = 0.006;
constexpr double kRoundingShare = 0.02;
constexpr double kMostBytes = 0x1p50;

Words split(std::string_view line) {
  Words words;
  for (std::size_t at = 0; at < line.size();) {
    const std::size_t begin = line.find_first_not_of(" \t\r", at);
    if (begin == std::string_view::npos) break;
    const std::size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
    words.push_back(line.substr(begin, end - begin));
    at = end;
  }
  return words;
}

// "[1,0]<stdout>: text", as mpirun tags its lines.
std::string_view without_tag(std::string_view line) {
  if (!line.starts_with('[')) return line;
  const std::size_t end = line.find('>');
  if (end == std::string_view::npos || line.substr(0, end).find("<std") == std::string_view::npos) {
    return line;
  }
  line.remove_prefix(end + 1);
  if (line.starts_with(':')) line.remove_prefix(1);
  return line;
}

std::optional<double> number_in(std::string_view word) {
  const auto value = parse_number<double>(word);
  return value && std::isfinite(*value) && *value >= 0 ? value : std::nullopt;
}

// "allreduce"; empty: it names no program.
std::string_view collective_in(std::string_view line) {
  constexpr std::array<std::pair<const char*, const char*>, 8> kPrograms = {
      {{"all_reduce_perf", "allreduce"},
       {"all_gather_perf", "allgather"},
       {"reduce_scatter_perf", "reduce_scatter"},
       {"broadcast_perf", "broadcast"},
       {"reduce_perf", "reduce"},
       {"alltoall_perf", "alltoall"},
       {"scatter_perf", "scatter"},
       {"gather_perf", "gather"}}};
  for (const auto& [name, collective] : kPrograms) {
    const std::size_t at = line.find(name);
    if (at == std::string_view::npos) continue;
    const bool whole = at == 0 || line[at - 1] == ' ' || line[at - 1] == '/' || line[at - 1] == '"';
    if (whole) return collective;
  }
  return {};
}

// The largest difference that versions with a column "error" let pass (verifiable.cu came later):
// DeltaMaxValue in common.cu of nccl-tests 2.0 to 2.12. Whole numbers have to be equal.
double error_allowed(std::string_view type) {
  if (type == "half" || type == "bfloat16") return 1e-2;
  if (type == "float") return 1e-5;
  return type == "double" ? 1e-12 : 0;
}

class Reader {
 public:
  explicit Reader(std::string file) : file_(std::move(file)) {}

  Expected<void> read(std::string_view line, std::size_t number) {
    number_ = number;
    line = without_tag(line);
    if (result_.collective.empty()) result_.collective = collective_in(line);
    if (const auto origin = origin_in(line)) result_.origin = *origin;
    const Words words = split(line);
    if (words.empty()) return {};
    if (words.front().starts_with('#')) {
      read_comment(words);
      return {};
    }
    const bool is_row = !heading_.empty() && number_in(words.front());
    return is_row ? read_row(words) : Expected<void>();
  }

  Expected<MeasuredFile> finish() {
    if (rows_ == 0) {
      return error(Code::N01, "",
                   heading_.empty() ? "no table of nccl-tests: there is no line \"# size … time "
                                      "algbw busbw\""
                                    : "the table of nccl-tests has no rows",
                   "give the standard output of a program such as all_reduce_perf, whole");
    }
    if (wrong_ > 0) {
      Diagnostic warning = error(
          Code::N05, wrong_where_,
          fmt::format("wrong results in {}; such a run measures nothing", counted(wrong_, "row")),
          "");
      warning.severity = Severity::warning;
      result_.warnings.push_back(std::move(warning));
    }
    if (ranks_ > 0) result_.ranks = ranks_;
    return std::move(result_);
  }

 private:
  void read_comment(const Words& words) {
    // "#  Rank  0 Group …", one line each.
    if (words.size() > 2 && words[1] == "Rank" && number_in(words[2])) {
      ranks_ = std::max(ranks_, static_cast<std::int64_t>(*number_in(words[2])) + 1);
    }
    for (const std::string_view word : words) {
      if (std::ranges::find(kPlacements, word) != kPlacements.end()) placements_.push_back(word);
    }
    const bool is_heading =
        words.size() > 4 && words[1] == "size" && std::ranges::find(words, "algbw") != words.end();
    if (!is_heading || !heading_.empty()) return;
    heading_.assign(words.begin() + 1, words.end());
    for (std::size_t i = 0; i + 2 < heading_.size(); ++i) {
      if (heading_[i] == "time" && heading_[i + 1] == "algbw" && times_.size() < 2) {
        const std::size_t group = times_.size();
        times_.push_back(i);
        result_.columns.push_back(
            {group < placements_.size() ? std::string(placements_[group]) : kPlacements[group],
             {}});
      }
    }
  }

  Expected<void> read_row(const Words& words) {
    if (words.size() != heading_.size()) {
      return error(Code::N02, place(),
                   fmt::format("expected {} columns as in the heading, found {}", heading_.size(),
                               words.size()),
                   "give the output as nccl-tests printed it");
    }
    const auto bytes = number_in(words.front());
    if (*bytes > kMostBytes || *bytes != std::floor(*bytes)) {
      return error(Code::N03, place(),
                   fmt::format("size: expected whole bytes, found \"{}\"", words.front()),
                   "give the output as nccl-tests printed it");
    }
    note_reduction(words);
    for (std::size_t column = 0; column < times_.size(); ++column) {
      if (auto done = read_time(words, column, *bytes); !done) return done;
    }
    ++rows_;
    return {};
  }

  Expected<void> read_time(const Words& words, std::size_t column, double bytes) {
    const std::size_t at = times_[column];
    std::array<double, 3> values{};
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto value = number_in(words[at + i]);
      if (!value) {
        return error(
            Code::N03, place(),
            fmt::format("{}: expected a number, found \"{}\"", heading_[at + i], words[at + i]),
            "give the output as nccl-tests printed it");
      }
      values[i] = *value;
    }
    const auto [micros, algbw, busbw] = values;
    if (bytes <= 0 || micros <= 0) return {};  // rows of nothing measure nothing
    const double expected = bytes / micros * 1e-3;
    if (std::abs(expected - algbw) > kRoundingGbs + kRoundingShare * expected) {
      return error(
          Code::N03, place(),
          fmt::format("algbw {} GB/s is not size / time, which is {:.2f}", words[at + 1], expected),
          "times are in us and bandwidths in GB/s, as nccl-tests prints them");
    }
    const bool wrong = is_wrong(words, at + 3);
    if (wrong && wrong_++ == 0) wrong_where_ = place();
    const double slowdown = result_.origin.slowdown, real = expected * slowdown;
    result_.columns[column].rows.push_back(
        {{bytes, micros * 1e-6 / slowdown, real, 0}, algbw, busbw, number_, wrong});
    return {};
  }

  // "none" is what collectives have that only copy.
  void note_reduction(const Words& words) {
    const auto at = std::ranges::find(heading_, "redop");
    if (at == heading_.end() || result_.reduces) return;
    result_.reduces = words[static_cast<std::size_t>(at - heading_.begin())] != "none";
  }

  // "#wrong" is a count; older versions have "error", which rounding makes positive.
  [[nodiscard]] bool is_wrong(const Words& words, std::size_t at) const {
    const auto value = at < heading_.size() ? number_in(words[at]) : std::nullopt;
    if (!value) return false;  // "N/A": not checked
    if (heading_[at] == "#wrong") return *value > 0;
    const auto type = std::ranges::find(heading_, "type");
    if (heading_[at] != "error" || type == heading_.end()) return false;
    return *value > error_allowed(words[static_cast<std::size_t>(type - heading_.begin())]);
  }

  [[nodiscard]] std::string place() const { return std::to_string(number_); }

  [[nodiscard]] Diagnostic error(Code code, std::string where, std::string message,
                                 std::string remedy) const {
    return make_error(code, std::move(message), std::move(remedy),
                      {.file = file_, .where = std::move(where)});
  }

  std::string file_;
  std::size_t number_ = 0;
  std::vector<std::string> heading_;
  std::vector<std::size_t> times_;            // where each group of columns begins
  std::vector<std::string_view> placements_;  // as the comment above the heading has them
  std::size_t rows_ = 0, wrong_ = 0;
  std::string wrong_where_;
  std::int64_t ranks_ = 0;
  MeasuredFile result_;
};

}  // namespace

std::optional<RunOrigin> origin_in(std::string_view line) {
  constexpr std::string_view kOrigin = "# origin: ", kSlower = " times slower";
  if (!line.starts_with(kOrigin)) return std::nullopt;
  line.remove_prefix(kOrigin.size());
  while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
  const RunOrigin as_it_is{std::string(line), 1};
  const std::size_t comma = line.rfind(", ");
  if (!line.ends_with(kSlower) || comma == std::string_view::npos) return as_it_is;
  const std::size_t begin = comma + 2;
  const auto slowdown =
      parse_number<double>(line.substr(begin, line.size() - kSlower.size() - begin));
  if (!slowdown || !std::isfinite(*slowdown) || *slowdown <= 0) return as_it_is;
  return RunOrigin{std::string(line.substr(0, comma)), *slowdown};
}

std::string in_words(const RunOrigin& origin) {
  if (origin.text.empty()) return "Measured";
  if (origin.slowdown == 1) return origin.text;
  return fmt::format("Measured on {} (its times divided by {:g})", origin.text, origin.slowdown);
}

Expected<MeasuredFile> read_nccl_tests(std::string_view text, const std::string& file) {
  Reader reader(file);
  std::size_t number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (const auto done = reader.read(text.substr(0, end), ++number); !done) return done.errors();
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return reader.finish();
}

}  // namespace forestcoll::cli
