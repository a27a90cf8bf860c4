// CSV (RFC 4180): a line with the names of the columns, then a link in each line. The columns are
// src and dst, the attributes of a link, those of either end (src_type, dst_box, …), and topology
// and description for the whole fabric.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "topology/format/units.hpp"
#include "topology/readers/csv_rows.hpp"
#include "topology/readers/readers.hpp"

namespace forestcoll::importing {
namespace {

// Other tools' names of our columns.
std::string column_name(std::string_view written) {
  std::string name(written);
  for (char& c : name) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
  if (name == "source" || name == "from") return "src";
  if (name == "target" || name == "to" || name == "destination") return "dst";
  return name;
}

// What stands between the columns of a first line without commas; nothing where it is no list.
std::string_view other_separator(const std::vector<std::string>& columns) {
  if (columns.size() != 1) return {};
  for (const auto& [mark, name] : {std::pair(';', "semicolons"), {'\t', "tabs"}, {'|', "bars"}}) {
    if (columns[0].find(mark) != std::string::npos) return name;
  }
  return {};
}

using Ends = std::vector<std::pair<std::string, std::string>>;

// The nodes that `start` reaches, by ends of links.
std::size_t reached(const std::multimap<std::string, std::string>& next, const std::string& start) {
  std::set<std::string> seen = {start};
  for (std::vector<std::string> open = {start}; !open.empty();) {
    const std::string at = std::move(open.back());
    open.pop_back();
    const auto [first, last] = next.equal_range(at);
    for (auto link = first; link != last; ++link) {
      if (seen.insert(link->second).second) open.push_back(link->second);
    }
  }
  return seen.size();
}

// Is every line one direction, or both? If some line leads back along another, each is one, and so
// it is where all nodes reach each other that way; else nothing, as both were meant.
std::optional<std::string_view> why_directed(const Ends& lines) {
  const std::set<std::pair<std::string, std::string>> all(lines.begin(), lines.end());
  std::multimap<std::string, std::string> next, previous;
  std::set<std::string> nodes;
  for (const auto& [src, dst] : all) {
    if (all.contains({dst, src})) return "as one leads back along another";
    next.emplace(src, dst);
    previous.emplace(dst, src);
    nodes.insert({src, dst});
  }
  constexpr std::string_view kJoined = "as all nodes reach each other along them";
  if (nodes.empty()) return kJoined;
  const std::string& start = *nodes.begin();
  const bool are_joined =
      reached(next, start) == nodes.size() && reached(previous, start) == nodes.size();
  return are_joined ? std::optional(kJoined) : std::nullopt;
}

// Columns without a name are nobody's.
std::optional<std::string> listed_twice(std::vector<std::string> columns) {
  std::ranges::sort(columns);
  std::erase(columns, "");
  const auto twice = std::ranges::adjacent_find(columns);
  return twice == columns.end() ? std::nullopt : std::optional(*twice);
}

}  // namespace

std::optional<Graph> read_csv(const Context& context) {
  const auto rows = csv_rows(context.text);
  if (!rows) {
    context.findings.error(Code::I02, context.place(context.text.size()),
                           "a field in quotation marks does not end", "Is the file cut off?");
    return std::nullopt;
  }
  std::vector<std::string> columns;
  for (const std::string& name :
       rows->empty() ? std::vector<std::string>{} : rows->front().fields) {
    columns.push_back(column_name(name));
  }
  const auto has = [&](std::string_view name) {
    return std::ranges::find(columns, name) != columns.end();
  };
  if (!has("src") || !has("dst")) {
    const std::string_view separator = other_separator(columns);
    context.findings.error(
        Code::I01, "1:1",
        separator.empty() ? "expected a first line such as src,dst,bandwidth"
                          : fmt::format("expected commas between the columns, found {}", separator),
        separator.empty() ? "Name the columns."
                          : "Write it with commas, and decimals with points.");
    return std::nullopt;
  }
  if (const auto twice = listed_twice(columns)) {
    context.findings.error(Code::I02, "1:1",
                           fmt::format("two columns are called {}", quote(*twice)),
                           "Leave one of them out.");
    return std::nullopt;
  }
  GraphBuilder builder(context);
  std::vector<std::pair<Attributes, std::size_t>> links;  // with where they stand
  Ends ends;
  std::string name, description;  // of the whole fabric: the first that a row has
  bool ok = true;
  for (std::size_t i = 1; i < rows->size(); ++i) {
    const CsvRow& row = (*rows)[i];
    const auto where = [&] { return context.place(row.offset); };
    if (row.fields.size() != columns.size()) {
      context.findings.error(
          Code::I02, where(),
          fmt::format("expected {} fields, found {}", columns.size(), row.fields.size()),
          "Give every line the columns of the first.");
      ok = false;
      continue;
    }
    Attributes attributes;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      if (!row.fields[c].empty()) attributes.insert_or_assign(columns[c], row.fields[c]);
    }
    for (const std::string_view end : {"src", "dst"}) {
      Attributes of_node;
      for (const std::string_view key :
           {"type", "box", "rank", "weight", "multicast", "reduce", "echo"}) {
        const auto found = attributes.find(fmt::format("{}_{}", end, key));
        if (found != attributes.end()) of_node.emplace(key, found->second);
      }
      builder.add_to_node(attributes[std::string(end)], of_node, where);
    }
    for (const auto& [column, text] :
         {std::pair("topology", &name), {"description", &description}}) {
      const auto found = attributes.find(column);
      if (found != attributes.end() && text->empty()) *text = found->second;
    }
    ends.emplace_back(attributes["src"], attributes["dst"]);
    links.emplace_back(std::move(attributes), row.offset);
  }
  // Where the column is there, an empty field is the topology file's default: full.
  const auto why = has("duplex") ? std::nullopt : why_directed(ends);
  for (auto& [attributes, offset] : links) {
    builder.add_link(attributes["src"], attributes["dst"], attributes, why.has_value(),
                     [&context, at = offset] { return context.place(at); });
  }
  if (!has("duplex")) {
    context.report.guesses.push_back(
        fmt::format("every line is {} (a column duplex with full or simplex says which)",
                    why ? fmt::format("one direction, {}", *why)
                        : "both directions, as along them not all nodes reach each other"));
  }
  if (!ok) return std::nullopt;
  return builder.finish(name, description);
}

}  // namespace forestcoll::importing
