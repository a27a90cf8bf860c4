#include "common/report/table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

namespace forestcoll::cli {
namespace {

std::string csv_cell(const std::string& cell) {
  if (cell.find_first_of(",\"\r\n") == std::string::npos) return cell;
  std::string text = "\"";
  for (const char c : cell) text += c == '"' ? "\"\"" : std::string(1, c);
  return text + "\"";
}

}  // namespace

std::string aligned(const Table& table, std::size_t left, std::size_t left_at_end) {
  std::vector<std::size_t> widths(table.head.size(), 0);
  const auto grow = [&](const TableRow& row) {
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  };
  grow(table.head);
  for (const TableRow& row : table.rows) grow(row);
  std::string text;
  const auto write = [&](const TableRow& row) {
    std::string line;
    for (std::size_t c = 0; c < row.size(); ++c) {
      const bool is_left = c < left || c + left_at_end >= row.size();
      line += is_left ? fmt::format("{:<{}}  ", row[c], widths[c])
                      : fmt::format("{:>{}}  ", row[c], widths[c]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  };
  write(table.head);
  for (const TableRow& row : table.rows) write(row);
  return text;
}

std::vector<std::string> lines_of(const Table& table, std::size_t left, std::size_t left_at_end) {
  std::istringstream text(aligned(table, left, left_at_end));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(std::move(line));
  return lines;
}

std::string to_csv(const Table& table, std::string_view end) {
  std::string text;
  const auto write = [&](const TableRow& row) {
    for (std::size_t c = 0; c < row.size(); ++c) text += (c > 0 ? "," : "") + csv_cell(row[c]);
    text += end;
  };
  write(table.head);
  for (const TableRow& row : table.rows) write(row);
  return text;
}

}  // namespace forestcoll::cli
