// ibdiagnet2.db_csv: tables, each between START_NAME and END_NAME, whose first row names the
// columns:
//   NODES   NodeDesc, NodeType (1: an adapter), NodeGUID, …
//   PORTS   NodeGuid, PortNum, PortState (4: active), LinkSpeedActv, LinkWidthActv, and what both
//           could be, LinkSpeedSup and LinkWidthSup, as bits
//   LINKS   NodeGuid1, PortNum1, NodeGuid2, PortNum2
// All other tables and columns are left alone. Versions write GUID or Guid, decimal or 0x….
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <utility>

#include "base/words.hpp"
#include "topology/health/dumps.hpp"
#include "topology/health/lane_speeds.hpp"
#include "topology/readers/csv_rows.hpp"

namespace forestcoll::health {
namespace {

constexpr std::int64_t kAdapter = 1, kActive = 4;

// Lanes by the bit of LinkWidthActv.
constexpr std::array<std::int64_t, 5> kLanes = {1, 4, 8, 12, 2};

// A value that several versions write in their own way.
std::string in_one_form(std::string_view text) {
  std::string plain = lower_case(trimmed(text));
  if (!plain.starts_with("0x")) return plain;
  const std::size_t first = plain.find_first_not_of('0', 2);
  return "0x" + (first == std::string::npos ? "0" : plain.substr(first));
}

struct Speed {
  const LaneSpeed* each = nullptr;
  std::int64_t lanes = 0;

  [[nodiscard]] Ratio bandwidth() const { return Ratio(each->tenths, 10) * Ratio(lanes, 4); }
  [[nodiscard]] std::string text() const { return fmt::format("{}X {}", lanes, each->name); }
};

// Of one bit each; nothing where it is not known.
std::optional<Speed> speed_of(std::int64_t code, std::int64_t width) {
  const auto each = std::ranges::find(kLaneSpeeds, code, &LaneSpeed::code);
  const auto bit = static_cast<std::size_t>(std::countr_zero(static_cast<std::uint64_t>(width)));
  if (each == kLaneSpeeds.end() || !std::has_single_bit(static_cast<std::uint64_t>(width)) ||
      bit >= kLanes.size()) {
    return std::nullopt;
  }
  return Speed{&*each, kLanes[bit]};
}

// The fastest that both ends are able to.
std::optional<Speed> most_of(std::int64_t codes, std::int64_t widths) {
  Speed most;
  for (const LaneSpeed& speed : kLaneSpeeds) {
    if ((codes & speed.code) != 0) most.each = &speed;
  }
  for (std::size_t bit = 0; bit < kLanes.size(); ++bit) {
    if ((widths >> bit & 1) != 0) most.lanes = std::max(most.lanes, kLanes[bit]);
  }
  return most.each != nullptr && most.lanes > 0 ? std::optional(most) : std::nullopt;
}

/// One table of the file.
class Table {
 public:
  /// The rows between START_`name` and END_`name`; nothing after an error. A table that is not
  /// there has no rows.
  static std::optional<Table> read(const Dump& dump, const std::vector<TextLine>& lines,
                                   const std::string& name) {
    Table table(dump, name);
    const auto is = [&](const char* prefix) {
      return [text = prefix + name](const TextLine& line) { return trimmed(line.text) == text; };
    };
    const auto begin = std::ranges::find_if(lines, is("START_"));
    if (begin == lines.end()) return table;
    const auto end = std::find_if(begin, lines.end(), is("END_"));
    if (end == lines.end()) return table.refuse("no END_" + name), std::nullopt;
    if (std::find_if(end, lines.end(), is("START_")) != lines.end()) {
      return table.refuse("it a second time"), std::nullopt;
    }
    const std::size_t from = begin->offset + begin->text.size();
    auto rows = importing::csv_rows(dump.text.substr(from, end->offset - from));
    if (!rows) return table.refuse("a quotation mark that is not closed"), std::nullopt;
    if (rows->empty()) return table;
    for (const std::string& column : rows->front().fields) {
      table.columns_.emplace(lower_case(column), table.columns_.size());
    }
    rows->erase(rows->begin());
    table.rows_ = *std::move(rows);
    return table;
  }

  [[nodiscard]] std::size_t size() const { return rows_.size(); }

  /// What stands there; nothing after an error.
  [[nodiscard]] std::optional<std::string> text(std::size_t row, const std::string& column) const {
    auto found = find(row, column);
    if (!found) refuse(fmt::format("a row without {}", column));
    return found;
  }
  [[nodiscard]] std::optional<std::int64_t> number(std::size_t row,
                                                   const std::string& column) const {
    const auto found = text(row, column);
    if (!found) return std::nullopt;
    const auto value = parse_whole(*found);
    if (!value) refuse(fmt::format("{} for {}", topology::quote(*found), column));
    return value;
  }
  /// 0 where no number stands there.
  [[nodiscard]] std::int64_t number_or_0(std::size_t row, const std::string& column) const {
    return parse_whole(find(row, column).value_or("")).value_or(0);
  }

  void refuse(const std::string& found) const {
    dump_.findings.error(
        Code::I02, "",
        fmt::format("expected the table {} as ibdiagnet writes it, found {}", name_, found),
        "Take ibdiagnet2.db_csv as it is, with the tables NODES, PORTS and LINKS whole.");
  }

 private:
  Table(const Dump& dump, std::string name) : dump_(dump), name_(std::move(name)) {}

  [[nodiscard]] std::optional<std::string> find(std::size_t row, const std::string& column) const {
    const auto at = columns_.find(lower_case(column));
    if (at == columns_.end() || at->second >= rows_[row].fields.size()) return std::nullopt;
    return rows_[row].fields[at->second];
  }

  const Dump& dump_;
  std::string name_;
  std::map<std::string, std::size_t> columns_;
  std::vector<importing::CsvRow> rows_;
};

using PortKey = std::pair<std::string, std::int64_t>;  // of a node's GUID

struct Port {
  std::optional<Speed> speed;  // nothing: down
  std::int64_t codes = 0, widths = 0;
};

class Reader {
 public:
  explicit Reader(const Dump& dump) : dump_(dump), lines_(lines_of(dump.text)) {}

  std::optional<NetworkState> run() {
    if (!read_nodes() || !read_ports() || !find_slow_cables()) return std::nullopt;
    for (const auto& [key, port] : ports_) {
      const auto name = adapters_.find(key.first);
      if (name == adapters_.end()) continue;
      state_.ports.push_back({.node = name->second,
                              .other = {},
                              .bandwidth = port.speed ? port.speed->bandwidth() : Ratio(0)});
    }
    return std::move(state_);
  }

 private:
  bool read_nodes() {
    const auto nodes = Table::read(dump_, lines_, "NODES");
    if (!nodes) return false;
    for (std::size_t i = 0; i < nodes->size(); ++i) {
      const auto name = nodes->text(i, "NodeDesc"), guid = nodes->text(i, "NodeGUID");
      const auto type = nodes->number(i, "NodeType");
      if (!name || !guid || !type) return false;
      names_[in_one_form(*guid)] = *name;
      // "node4 mlx5_0"; aggregation nodes of switches and adapters without a driver have others.
      if (type == kAdapter && words_of(*name).size() == 2) adapters_[in_one_form(*guid)] = *name;
    }
    return true;
  }

  bool read_ports() {
    const auto ports = Table::read(dump_, lines_, "PORTS");
    if (!ports) return false;
    for (std::size_t i = 0; i < ports->size(); ++i) {
      const auto guid = ports->text(i, "NodeGuid");
      const auto number = ports->number(i, "PortNum");
      if (!guid || !number) return false;
      if (*number == 0) continue;  // a switch's own
      const auto state = ports->number(i, "PortState");
      if (!state) return false;
      const auto [at, is_new] = ports_.try_emplace({in_one_form(*guid), *number});
      if (!is_new) {
        ports->refuse(fmt::format("port {} of {} a second time", *number, topology::quote(*guid)));
        return false;
      }
      Port& port = at->second;
      port.codes = ports->number_or_0(i, "LinkSpeedSup");
      port.widths = ports->number_or_0(i, "LinkWidthSup");
      if (state != kActive) continue;
      const auto code = ports->number(i, "LinkSpeedActv"),
                 width = ports->number(i, "LinkWidthActv");
      if (!code || !width) return false;
      port.speed = speed_of(*code, *width);
      if (!port.speed) {
        ports->refuse(
            fmt::format("an active port of LinkSpeedActv {} and LinkWidthActv {}", *code, *width));
        return false;
      }
    }
    return true;
  }

  bool find_slow_cables() {
    const auto links = Table::read(dump_, lines_, "LINKS");
    if (!links) return false;
    for (std::size_t i = 0; i < links->size(); ++i) {
      std::array<PortKey, 2> ends;
      for (const std::size_t end : {0, 1}) {
        const auto guid = links->text(i, fmt::format("NodeGuid{}", end + 1));
        const auto number = links->number(i, fmt::format("PortNum{}", end + 1));
        if (!guid || !number) return false;
        ends[end] = {in_one_form(*guid), *number};
      }
      add_doubt(ends[0], ends[1]);
    }
    return true;
  }

  void add_doubt(const PortKey& one, const PortKey& other) {
    const auto a = ports_.find(one), b = ports_.find(other);
    if (a == ports_.end() || b == ports_.end() || !a->second.speed) return;
    const auto most =
        most_of(a->second.codes & b->second.codes, a->second.widths & b->second.widths);
    const Speed& now = *a->second.speed;
    if (!most || most->bandwidth() <= now.bandwidth()) return;
    state_.doubts.push_back(fmt::format("{} port {} to {} port {}: {}, could be {}",
                                        name_of(one.first), one.second, name_of(other.first),
                                        other.second, now.text(), most->text()));
  }

  [[nodiscard]] std::string name_of(const std::string& guid) const {
    const auto at = names_.find(guid);
    return topology::quote(at == names_.end() ? guid : at->second);
  }

  const Dump& dump_;
  std::vector<TextLine> lines_;
  std::map<std::string, std::string> names_, adapters_;  // by GUID
  std::map<PortKey, Port> ports_;
  NetworkState state_{"ibdiagnet"};
};

}  // namespace

std::optional<NetworkState> read_ibdiagnet(const Dump& dump) {
  return Reader(dump).run();
}

}  // namespace forestcoll::health
