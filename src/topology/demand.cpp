#include "forestcoll/demand.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "base/words.hpp"
#include "forestcoll/codes.hpp"
#include "topology/format/json_value.hpp"
#include "topology/model/findings.hpp"

namespace forestcoll {
namespace {

using topology::Findings;
using topology::JsonValue;
using topology::quote;

constexpr std::int64_t kMaxTotal = kMaxDemand;

// Amounts as they are written.
struct Row {
  std::vector<std::string> cells;
  std::size_t line = 0;  // of CSV, from 1; 0: of JSON
};

// There are many cells, and few that errors speak of.
std::string place(const Row& row, std::size_t number) {
  return row.line > 0 ? fmt::format("line {}", row.line) : fmt::format("/{}", number);
}
std::string place(const Row& row, std::size_t number, std::size_t column) {
  return row.line > 0 ? fmt::format("{}, column {}", place(row, number), column + 1)
                      : fmt::format("{}/{}", place(row, number), column);
}

std::vector<Row> rows_of_csv(std::string_view text) {
  std::vector<Row> rows;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (trimmed(line).empty() || trimmed(line).front() == '#') continue;
    Row& row = rows.emplace_back(Row{{}, number});
    for (bool more = true; more;) {
      const std::size_t comma = line.find(',');
      more = comma != std::string_view::npos;
      row.cells.emplace_back(trimmed(line.substr(0, comma)));
      line.remove_prefix(more ? comma + 1 : line.size());
    }
  }
  return rows;
}

std::vector<Row> rows_of_json(std::string_view text, Findings& findings) {
  const auto document = topology::parse_json(text, findings);
  if (!document || findings.has_errors()) return {};
  constexpr const char* kRemedy = "write [[0, 1024], [2048, 0]], a row per sending GPU";
  if (document->kind != JsonValue::Kind::array) {
    findings.error(Code::A03, "", "expected an array of rows, found " + describe(*document),
                   kRemedy);
    return {};
  }
  std::vector<Row> rows;
  for (std::size_t r = 0; r < document->items.size(); ++r) {
    const JsonValue& of_file = document->items[r];
    Row& row = rows.emplace_back();
    if (of_file.kind != JsonValue::Kind::array) {
      findings.error(Code::A03, place(row, r),
                     "expected an array of amounts, found " + describe(of_file), kRemedy);
      continue;
    }
    for (const JsonValue& amount : of_file.items) {
      const bool number = amount.kind == JsonValue::Kind::number;
      row.cells.push_back(number ? amount.text : describe(amount));
    }
  }
  return rows;
}

void check_shape(const std::vector<Row>& rows, std::size_t ranks, Findings& findings) {
  const std::string remedy =
      fmt::format("the topology has {} GPUs, so give {} rows of {} amounts", ranks, ranks, ranks);
  if (rows.size() != ranks) {
    findings.error(Code::A04, "", fmt::format("expected {} rows, found {}", ranks, rows.size()),
                   remedy);
    return;
  }
  const auto fits = [&](const Row& row) { return row.cells.size() == ranks; };
  const auto first = std::ranges::find_if_not(rows, fits);
  if (first == rows.end()) return;
  const auto wrong = rows.size() - static_cast<std::size_t>(std::ranges::count_if(rows, fits));
  findings.error(Code::A04, place(*first, static_cast<std::size_t>(first - rows.begin())),
                 fmt::format("expected {} amounts, found {}{}", ranks, first->cells.size(),
                             wrong == 1 ? "" : fmt::format("; {} rows in all do not fit", wrong)),
                 remedy);
}

}  // namespace

ParsedDemand demand_of(Collective collective, std::size_t ranks, std::optional<Rank> root) {
  FORESTCOLL_CHECK(is_personalized(collective) && is_rooted(collective) == root.has_value(),
                   "data for single ranks, and a root where one is needed");
  const auto n = static_cast<std::int64_t>(ranks);
  if (collective == Collective::scatter) return {Demand::from(ranks, *root), n};
  if (collective == Collective::gather) return {Demand::to(ranks, *root), n};
  return {Demand::uniform(ranks), n * n};
}

Expected<ParsedDemand> parse_demand(std::string_view text, std::string_view file,
                                    std::size_t ranks) {
  Findings findings(file);
  if (text.starts_with("\xEF\xBB\xBF")) {
    findings.error(Code::A03, "1:1", "the file begins with a byte-order mark",
                   "Save it as UTF-8 without a byte-order mark.");
    return findings.all();
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  const bool json = first != std::string_view::npos && (text[first] == '[' || text[first] == '{');
  const std::vector<Row> rows = json ? rows_of_json(text, findings) : rows_of_csv(text);
  if (!findings.has_errors()) check_shape(rows, ranks, findings);
  if (findings.has_errors()) return findings.all();
  std::vector<std::int64_t> amounts;
  std::int64_t total = 0;
  std::size_t unread = 0;
  std::pair<std::size_t, std::size_t> first_unread;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t c = 0; c < rows[r].cells.size(); ++c) {
      const std::string& cell = rows[r].cells[c];
      const auto amount = natural(cell);
      if (!amount && unread++ == 0) first_unread = {r, c};
      amounts.push_back(amount.value_or(0));
      if (amounts.back() > kMaxTotal - total) {
        Diagnostic error = make_error(Code::A06, "all amounts together are 2^40 bytes or more",
                                      "give amounts in a larger unit; rates scale with it",
                                      {.file = std::string(file), .where = place(rows[r], r, c)});
        return error;
      }
      total += amounts.back();
    }
  }
  if (unread > 0) {
    const auto [r, c] = first_unread;
    findings.error(
        Code::A05, place(rows[r], r, c),
        fmt::format("expected a whole number of bytes, 0 or more, found {}{}",
                    quote(rows[r].cells[c]),
                    unread == 1 ? "" : fmt::format(" ({} such amounts in all)", unread)));
    return findings.all();
  }
  return ParsedDemand{Demand::matrix(ranks, std::move(amounts)), total};
}

}  // namespace forestcoll
