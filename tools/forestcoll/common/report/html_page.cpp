#include "common/report/html_page.hpp"

#include <fmt/format.h>

#include "forestcoll/codes.hpp"
#include "forestcoll/text.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::size_t kMostItemsDrawn = 1500;  // nobody can read more

constexpr const char* kPageStyleSheet =
    "body{font-family:sans-serif;max-width:70em;margin:2em auto;padding:0 1em;background:#ffffff;"
    "color:#1b2430}"
    "svg{max-width:100%;height:auto}.wide{overflow-x:auto}"
    "table{border-collapse:collapse;font-size:.85em}"
    "th,td{padding:.25em .7em;text-align:right;border-bottom:1px solid #dddddd}"
    "th:first-child,td:first-child,th:last-child,td:last-child{text-align:left}"
    "@media(prefers-color-scheme:dark){body{background:#151a21;color:#e7ebf1}"
    "th,td{border-color:#323a46}}";

std::string html_row(const TableRow& cells, std::string_view kind) {
  std::string text = "<tr>";
  for (const std::string& cell : cells) {
    text += fmt::format("<{0}>{1}</{0}>", kind, xml_escaped(cell));
  }
  return text + "</tr>\n";
}

}  // namespace

std::string html_page(std::string_view title, std::string_view body) {
  const std::string name = xml_escaped(title);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n"
      "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n{2}</body>\n"
      "</html>\n",
      name, kPageStyleSheet, body);
}

std::string html_table(const Table& table) {
  std::string text = "<div class=\"wide\"><table>\n" + html_row(table.head, "th");
  for (const TableRow& row : table.rows) text += html_row(row, "td");
  return text + "</table></div>\n";
}

Expected<std::string> readable_picture(const Topology& topology, const DrawOptions& options) {
  Drawing drawing = draw(topology, options);
  if (drawing.items > kMostItemsDrawn) {
    return make_error(Code::P03,
                      fmt::format("a picture of {} nodes cannot be read; the most are {}",
                                  drawing.items, kMostItemsDrawn),
                      "give the nodes boxes, which are drawn as one");
  }
  return std::move(drawing.svg);
}

}  // namespace forestcoll::cli
