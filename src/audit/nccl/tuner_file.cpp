#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "audit/nccl/files.hpp"
#include "base/words.hpp"

namespace forestcoll::audit {
namespace {

constexpr std::size_t kMostOfLine = 254;  // of the plugin's 256, with the end of line and of text
constexpr std::int64_t kAny = -1;

constexpr std::array<std::string_view, 5> kTunerCollectives = {"broadcast", "reduce", "allgather",
                                                               "reducescatter", "allreduce"};
constexpr std::array<std::string_view, 7> kTunerAlgorithms = {
    "tree", "ring", "collnet_direct", "collnet_chain", "nvls", "nvls_tree", "pat"};
constexpr std::array<std::string_view, 3> kTunerProtocols = {"ll", "ll128", "simple"};

bool is_known(const auto& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

// Bytes, both ends included.
struct Sizes {
  std::uint64_t first = 0, last = std::numeric_limits<std::uint64_t>::max();
};

struct Row {
  std::size_t line = 0;
  std::string_view collective, algorithm, protocol;
  Sizes sizes;
  std::int64_t channels = kAny, nodes = kAny;
  std::int64_t ranks = kAny;  // of NCCLX those of a node
};

// Commas within brackets are part of an interval.
std::vector<std::string_view> fields_of(std::string_view line) {
  std::vector<std::string_view> fields;
  std::size_t begin = 0;
  bool is_inside = false;
  for (std::size_t i = 0; i <= line.size(); ++i) {
    const char c = i < line.size() ? line[i] : ',';
    if (c == '[' || c == '(') is_inside = true;
    if (c == ']' || c == ')') is_inside = false;
    if (c != ',' || (is_inside && i < line.size())) continue;
    fields.push_back(trimmed(line.substr(begin, i - begin)));
    begin = i + 1;
  }
  return fields;
}

// NCCLX has signed ones.
std::optional<std::uint64_t> bound_in(std::string_view text) {
  const auto number = natural(text);
  return number ? std::optional(static_cast<std::uint64_t>(*number)) : std::nullopt;
}

// "*", "8", "[0,4]", "(1,)" and the like, as NCCLX has them, and nothing for any; in whole numbers.
std::optional<Sizes> interval_in(std::string_view text) {
  if (text.empty() || text == "*") return Sizes{};
  if (const auto exact = bound_in(text)) return Sizes{*exact, *exact};
  const bool has_ends = text.size() >= 3 && (text.front() == '[' || text.front() == '(') &&
                        (text.back() == ']' || text.back() == ')');
  const std::size_t comma = text.find(',');
  if (!has_ends || comma == std::string_view::npos) return std::nullopt;
  Sizes sizes;
  const std::string_view low = trimmed(text.substr(1, comma - 1));
  const std::string_view high = trimmed(text.substr(comma + 1, text.size() - comma - 2));
  if (!low.empty()) {
    const auto value = bound_in(low);
    if (!value) return std::nullopt;
    sizes.first = *value + (text.front() == '(' ? 1 : 0);
  }
  if (!high.empty()) {
    const auto value = bound_in(high);
    if (!value || (*value == 0 && text.back() == ')')) return std::nullopt;
    sizes.last = *value - (text.back() == ')' ? 1 : 0);
  }
  return sizes.first <= sizes.last ? std::optional(sizes) : std::nullopt;
}

// Where columns stand: NCCL's example has two for sizes, NCCLX one.
struct Columns {
  std::size_t algorithm;
  std::size_t least, most;
  [[nodiscard]] bool is_ncclx() const { return algorithm == 2; }
};
constexpr Columns kExample = {3, 8, 10}, kNcclx = {2, 7, 8};

struct NumberedLine {
  std::size_t number = 0;
  std::string_view text;
};

// Without comments and empty lines.
std::vector<NumberedLine> rows_of(std::string_view text) {
  std::vector<NumberedLine> lines;
  std::size_t number = 0, begin = 0;
  while (begin < text.size()) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    ++number;
    begin = end + 1;
    if (!line.starts_with('#') && !trimmed(line).empty()) lines.push_back({number, line});
  }
  return lines;
}

Columns columns_of(const NumberedLine& first) {
  const auto fields = fields_of(first.text);
  const bool is_ncclx = fields.size() > 2 && is_known(kTunerAlgorithms, fields[2]);
  return is_ncclx ? kNcclx : kExample;
}

class RowReader {
 public:
  RowReader(Columns columns, Findings& findings) : columns_(columns), findings_(findings) {}

  std::optional<Row> read(const NumberedLine& line) {
    line_ = line.number;
    const auto fields = fields_of(line.text);
    if (!columns_.is_ncclx() && line.text.size() > kMostOfLine) {
      return refuse(Rule::lexical, fmt::format("a line of {} bytes; the plugin reads {}",
                                               line.text.size(), kMostOfLine));
    }
    if (fields.size() < columns_.least) {
      return refuse(Rule::attribute,
                    fmt::format("{} columns of {}, without which the row is not read",
                                fields.size(), columns_.least));
    }
    if (fields.size() > columns_.most) {
      return refuse(Rule::attribute, fmt::format("{} columns, of which the first {} are read",
                                                 fields.size(), columns_.most));
    }
    Row row{.line = line.number,
            .collective = fields[0],
            .algorithm = fields[columns_.algorithm],
            .protocol = fields[columns_.algorithm + 1],
            .sizes = {}};
    if (!check_names(row) || !read_sizes(fields, row) || !read_numbers(fields, row)) return {};
    return check_use(row) ? std::optional(row) : std::nullopt;
  }

 private:
  std::nullopt_t refuse(Rule rule, std::string message, std::string remedy = {}) {
    findings_.add(rule, fmt::format("line {}", line_), std::move(message), std::move(remedy));
    return std::nullopt;
  }

  bool check_name(const auto& names, std::string_view name, std::string_view what,
                  std::string_view otherwise) {
    if (is_known(names, name)) return true;
    refuse(Rule::unsupported,
           columns_.is_ncclx() ? fmt::format("no {} \"{}\"", what, name.substr(0, 40))
                               : fmt::format("no {} \"{}\": the plugin takes it for {}", what,
                                             name.substr(0, 40), otherwise),
           fmt::format("write {}", fmt::join(names, ", ")));
    return false;
  }
  bool check_names(const Row& row) {
    return check_name(kTunerCollectives, row.collective, "collective", "allreduce") &&
           check_name(kTunerAlgorithms, row.algorithm, "algorithm", "ring") &&
           check_name(kTunerProtocols, row.protocol, "protocol", "simple");
  }

  bool read_sizes(const std::vector<std::string_view>& fields, Row& row) {
    if (columns_.is_ncclx()) {
      const auto sizes = interval_in(fields[1]);
      if (!sizes) {
        refuse(Rule::attribute, fmt::format("no interval: \"{}\"", fields[1].substr(0, 40)),
               "write an interval such as [0,65535], a number or *");
        return false;
      }
      row.sizes = *sizes;
      return true;
    }
    const auto first = number_in<std::uint64_t>(fields[1]);
    const auto last = number_in<std::uint64_t>(fields[2]);
    if (!first || !last) {
      refuse(Rule::attribute,
             fmt::format("no sizes in bytes: \"{}\", \"{}\"", fields[1].substr(0, 40),
                         fields[2].substr(0, 40)),
             "write whole numbers");
      return false;
    }
    row.sizes = {*first, *last};
    if (*first <= *last) return true;
    refuse(Rule::never_selected,
           fmt::format("{} bytes at least and {} at most fits no call", *first, *last));
    return false;
  }

  // -1 is any.
  bool read_number(std::string_view text, std::string_view what, std::int64_t least,
                   std::int64_t& value) {
    const auto number = number_in<std::int64_t>(text);
    if (number && (*number >= least || *number == kAny) &&
        *number <= std::numeric_limits<std::int32_t>::max()) {
      value = *number;
      return true;
    }
    refuse(Rule::attribute, fmt::format("{}: \"{}\"", what, text.substr(0, 40)),
           fmt::format("write a number from {} on, or -1 for any", least));
    return false;
  }

  // 0 channels are NCCL's own number (src/enqueue.cc).
  bool read_numbers(const std::vector<std::string_view>& fields, Row& row) {
    const std::size_t at = columns_.algorithm + 2;
    const bool is_default = columns_.is_ncclx() && fields[at].empty();
    if (!is_default && !read_number(fields[at], "channels", 0, row.channels)) return false;
    if (columns_.is_ncclx()) return read_intervals(fields, at + 1, row);
    std::int64_t ignored = 0;
    return read_number(fields[at + 1], "nodes", 1, row.nodes) &&
           read_number(fields[at + 2], "ranks", 1, row.ranks) &&
           (fields.size() <= at + 3 || read_number(fields[at + 3], "numPipeOps", 1, ignored)) &&
           (fields.size() <= at + 4 || read_number(fields[at + 4], "regBuff", 0, ignored));
  }

  // Nodes and ranks of a node, which are only looked at here where they are numbers; and the bytes
  // of chunks.
  bool read_intervals(const std::vector<std::string_view>& fields, std::size_t at, Row& row) {
    for (const std::size_t i : {at, at + 1}) {
      if (interval_in(fields[i])) continue;
      refuse(Rule::attribute, fmt::format("no interval: \"{}\"", fields[i].substr(0, 40)));
      return false;
    }
    row.nodes = natural(fields[at]).value_or(kAny);
    row.ranks = natural(fields[at + 1]).value_or(kAny);
    if (fields.size() <= at + 2 || fields[at + 2].empty() || natural(fields[at + 2])) return true;
    refuse(Rule::attribute, fmt::format("chunkSize: \"{}\"", fields[at + 2].substr(0, 40)),
           "write bytes, or 0 for NCCL's own");
    return false;
  }

  // src/graph/tuning.cc: what NCCL has for what.
  bool check_use(const Row& row) {
    const bool is_rooted = row.collective == "broadcast" || row.collective == "reduce";
    const bool is_ring = row.algorithm == "ring";
    const bool is_allreduce = row.collective == "allreduce";
    const bool has_it =
        is_ring || (is_rooted      ? false
                    : is_allreduce ? row.algorithm != "pat"
                                   : row.algorithm == "pat" || row.algorithm == "nvls" ||
                                         row.algorithm == "collnet_direct");
    if (!has_it) {
      refuse(Rule::never_selected, fmt::format("NCCL has no {} for {}, and passes over the row",
                                               row.algorithm, row.collective));
      return false;
    }
    if (is_ring || row.algorithm == "tree" || row.protocol == "simple") return true;
    refuse(Rule::never_selected,
           fmt::format("NCCL has {} in simple alone, and passes over the row", row.algorithm));
    return false;
  }

  Columns columns_;
  Findings& findings_;
  std::size_t line_ = 0;
};

std::string number_or_any(std::int64_t number) {
  return number == kAny ? "any" : std::to_string(number);
}

// Whether every size has a row, of those that are for one kind of communicator.
bool are_all_sizes(std::vector<Sizes> sizes) {
  std::ranges::sort(sizes, {}, &Sizes::first);
  std::uint64_t next = 0;
  for (const Sizes& each : sizes) {
    if (each.first > next) return false;
    if (each.last == std::numeric_limits<std::uint64_t>::max()) return true;
    next = std::max(next, each.last + 1);
  }
  return next > std::uint64_t{std::numeric_limits<std::uint32_t>::max()};
}

// What falls through, in words.
std::string outcome_of(const std::vector<Row>& rows, Columns columns) {
  std::set<std::string_view> collectives, with_gaps;
  std::set<std::string> communicators;
  const std::string_view per = columns.is_ncclx() ? " per node" : "";
  std::map<std::tuple<std::string_view, std::int64_t, std::int64_t>, std::vector<Sizes>> alike;
  for (const Row& row : rows) {
    collectives.insert(row.collective);
    alike[{row.collective, row.nodes, row.ranks}].push_back(row.sizes);
    communicators.insert(fmt::format("{} ranks{} on {} node{}", number_or_any(row.ranks), per,
                                     number_or_any(row.nodes), row.nodes == 1 ? "" : "s"));
  }
  for (auto& [kind, sizes] : alike) {
    if (!are_all_sizes(std::move(sizes))) with_gaps.insert(std::get<0>(kind));
  }
  std::string text = fmt::format("for {}", fmt::join(communicators, "; "));
  if (columns.is_ncclx()) return text;
  std::vector<std::string_view> without;
  for (const std::string_view name : kTunerCollectives) {
    if (!collectives.contains(name)) without.push_back(name);
  }
  if (!without.empty()) {
    text += fmt::format("; no row for {}, which NCCL's plugin gives one channel",
                        fmt::join(without, ", "));
  }
  if (!with_gaps.empty()) {
    text += fmt::format("; sizes of {} without a row get one channel", fmt::join(with_gaps, ", "));
  }
  const bool has_default =
      std::ranges::any_of(rows, [](const Row& row) { return row.channels == kAny; });
  if (has_default) text += "; channels -1 is one channel with NCCL's plugin, 0 its default";
  return text;
}

void check_communicator(const std::vector<Row>& rows, Columns columns, const Topology& topology,
                        Findings& findings) {
  const auto nodes = static_cast<std::int64_t>(box_count(topology));
  const auto ranks = static_cast<std::int64_t>(topology.ranks.size());
  const std::int64_t in_row = columns.is_ncclx() ? ranks / nodes : ranks;
  const bool fits = std::ranges::any_of(rows, [&](const Row& row) {
    return (row.nodes == kAny || row.nodes == nodes) && (row.ranks == kAny || row.ranks == in_row);
  });
  if (fits) return;
  findings.add(Rule::fabric, std::string(),
               fmt::format("no row is for {} ranks on {} node{}, as the topology has them", ranks,
                           nodes, nodes == 1 ? "" : "s"),
               "give the topology that the rows were made for");
}

}  // namespace

bool looks_like_tuner(std::string_view text) {
  const auto lines = rows_of(text);
  if (lines.empty()) return false;
  const auto fields = fields_of(lines.front().text);
  return fields.size() >= kNcclx.least &&
         (is_known(kTunerCollectives, fields[0]) || is_known(kTunerAlgorithms, fields[2]) ||
          is_known(kTunerAlgorithms, fields[3]));
}

void check_tuner(std::string_view text, const Topology* topology, Findings& findings,
                 Verdict& verdict) {
  const auto lines = rows_of(text);
  const Columns columns = columns_of(lines.front());
  verdict.format = columns.is_ncclx() ? "ncclx-tuner" : "nccl-tuner";
  RowReader reader(columns, findings);
  std::vector<Row> rows;
  for (const NumberedLine& line : lines) {
    // To NCCL's plugin it is a row, if it has the columns of one.
    if (columns.is_ncclx() && trimmed(line.text).starts_with('#')) continue;
    if (const auto row = reader.read(line)) rows.push_back(*row);
  }
  std::vector<std::string_view> names;
  for (const Row& row : rows) {
    if (!is_known(names, row.collective)) names.push_back(row.collective);
  }
  verdict.collective_name = fmt::format("{}", fmt::join(names, ", "));
  verdict.chunks = static_cast<std::int64_t>(rows.size());
  if (topology != nullptr) check_communicator(rows, columns, *topology, findings);
  verdict.outcome = outcome_of(rows, columns);
}

}  // namespace forestcoll::audit
