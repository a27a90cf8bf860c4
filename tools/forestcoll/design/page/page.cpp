#include "design/page/page.hpp"

#include <pugixml.hpp>
#include <sstream>

namespace forestcoll::cli {
namespace {

constexpr const char* kStyle =
    "body{font-family:sans-serif;max-width:70em;margin:2em auto;padding:0 1em}"
    "table{border-collapse:collapse;font-size:.85em}"
    "th,td{padding:.25em .7em;text-align:right;border-bottom:1px solid #dddddd}"
    "th:last-child,td:last-child{text-align:left}";

void add_row(pugi::xml_node table, const std::vector<std::string>& cells, const char* kind) {
  auto row = table.append_child("tr");
  for (const std::string& cell : cells) row.append_child(kind).text().set(cell.c_str());
}

}  // namespace

std::string to_html(const DesignPage& page) {
  pugi::xml_document document;
  document.append_child(pugi::node_doctype).set_value("html");
  auto html = document.append_child("html");
  html.append_attribute("lang").set_value("en");
  auto head = html.append_child("head");
  head.append_child("meta").append_attribute("charset").set_value("utf-8");
  head.append_child("title").text().set(page.title.c_str());
  head.append_child("style").text().set(kStyle);
  auto body = html.append_child("body");
  body.append_child("h1").text().set(page.title.c_str());
  draw(page.scatter, body);
  body.append_child("p").text().set(page.legend.c_str());
  auto table = body.append_child("table");
  for (std::size_t i = 0; i < page.rows.size(); ++i) {
    add_row(table, page.rows[i], i == 0 ? "th" : "td");
  }
  std::ostringstream out;
  document.save(out, " ", pugi::format_indent | pugi::format_no_declaration);
  return out.str();
}

}  // namespace forestcoll::cli
