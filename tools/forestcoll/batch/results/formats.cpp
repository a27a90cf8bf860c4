// The report in the forms that other programs and web sites read.
#include <fmt/format.h>

#include <algorithm>
#include <pugixml.hpp>
#include <sstream>
#include <string_view>
#include <utility>

#include "batch/results/results.hpp"
#include "common/report/table.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::cli::batch {
namespace {

// A comment may have 65,536 characters.
constexpr std::size_t kMostFailuresInMarkdown = 50;
constexpr std::size_t kMostRowsInMarkdown = 150;
constexpr std::size_t kLongestCell = 160;

std::string replaced(std::string_view text,
                     const std::vector<std::pair<char, std::string_view>>& table) {
  std::string result;
  for (const char c : text) {
    const auto found = std::ranges::find(table, c, &std::pair<char, std::string_view>::first);
    if (found == table.end()) {
      result += c;
    } else {
      result += found->second;
    }
  }
  return result;
}

std::string cell(const std::string& text) {
  std::string line = on_one_line(text);
  if (line.size() > kLongestCell) {
    std::size_t end = kLongestCell;  // not within a character of UTF-8
    while (end > 0 && (static_cast<unsigned char>(line[end]) & 0xc0) == 0x80) --end;
    line = line.substr(0, end) + "…";
  }
  return replaced(line, {{'|', "\\|"},
                         {'<', "&lt;"},
                         {'&', "&amp;"},
                         {'`', "\\`"},
                         {'*', "\\*"},
                         {'_', "\\_"},
                         {'[', "\\["},
                         {'\\', "\\\\"}});
}

std::string row(const std::vector<std::string>& cells) {
  std::string text = "|";
  for (const std::string& text_of_cell : cells) text += " " + cell(text_of_cell) + " |";
  return text + "\n";
}

std::string height_text(const Figures& figures) {
  return figures.height ? std::to_string(*figures.height) : "";
}

std::string heading(const std::vector<std::string>& names) {
  std::string text = row(names) + "|";
  for (std::size_t i = 0; i < names.size(); ++i) text += "---|";
  return text + "\n";
}

std::string more(std::size_t all, std::size_t shown) {
  return all > shown ? fmt::format("\n… and {} more in report.json\n", all - shown) : "";
}

std::string failures_markdown(const Results& results) {
  std::string text = "\n" + heading({"failed", "collective", "code", "where", "what"});
  std::size_t shown = 0;
  for (const ItemResult& item : results.items) {
    if (item.status != Status::failed || !item.error) continue;
    if (++shown > kMostFailuresInMarkdown) continue;
    text += row({item.input, item.variant.collective, std::string(name_of(item.error->code)),
                 item.error->where, item.error->message});
  }
  return text + more(shown, kMostFailuresInMarkdown);
}

std::string or_missing(const std::string& text) {
  return text.empty() ? "missing" : text;
}

std::string differences_markdown(const std::vector<Difference>& differences) {
  std::string text =
      "\n" + heading({"baseline", "topology", "collective", "what", "change", "exactly"});
  for (std::size_t i = 0; i < std::min(differences.size(), kMostFailuresInMarkdown); ++i) {
    const Difference& each = differences[i];
    text += row({to_string(each.grade), each.item.input, each.item.variant.collective, each.what,
                 each.change, or_missing(each.before) + " -> " + or_missing(each.now)});
  }
  return text + more(differences.size(), kMostFailuresInMarkdown);
}

// GB/s of what nothing exceeds; empty where it is not known.
std::string optimum_text(const Figures& figures) {
  const Json& optimum = figures.named.value("optimum", Json());
  if (!optimum.is_object() || !optimum.contains("value")) return "";
  return fmt::format("{:.6g}", optimum["value"].get<double>());
}

std::string items_markdown(const Results& results) {
  std::string text = "\n<details><summary>all items</summary>\n\n" +
                     heading({"topology", "collective", "target", "k", "status", "algbw GB/s",
                              "optimum GB/s", "of the optimum", "height"});
  std::size_t shown = 0;
  for (const ItemResult& item : results.items) {
    if (++shown > kMostRowsInMarkdown) break;
    std::string rate, optimum, part, height;
    if (item.figures) {
      rate = number(reached_by(*item.figures));
      optimum = optimum_text(*item.figures);
      const auto& fraction = item.figures->optimum_fraction;
      part = fraction ? percent(*fraction) : "above";
      if (const auto& range = item.figures->optimum_range) {
        part += fmt::format(" at least of {}", range_text(*range));
      }
      height = height_text(*item.figures);
    }
    text += row({item.input, item.variant.collective, item.variant.target, item.variant.trees,
                 to_string(item.status), rate, optimum, part, height});
  }
  return text + more(results.items.size(), kMostRowsInMarkdown) +
         "\nRates are algbw of what the file reaches; `k` are trees per root, as they were asked "
         "for; "
         "the height is in hops.\n</details>\n";
}

// Line and column, where a place is such.
std::string line_and_column(const std::string& where) {
  const std::size_t colon = where.find(':');
  const auto digits = [](std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
  };
  if (!digits(where.substr(0, colon))) return "";
  std::string text = ",line=" + where.substr(0, colon);
  if (colon != std::string::npos && digits(where.substr(colon + 1))) {
    text += ",col=" + where.substr(colon + 1);
  }
  return text;
}

std::string annotation(const std::string& file, const std::string& where, const std::string& title,
                       const std::string& message) {
  const std::vector<std::pair<char, std::string_view>> data = {
      {'%', "%25"}, {'\r', "%0D"}, {'\n', "%0A"}};
  auto property = data;
  property.insert(property.end(), {{':', "%3A"}, {',', "%2C"}});
  return fmt::format("::error file={}{},title={}::{}\n", replaced(file, property),
                     line_and_column(where), replaced(title, property), replaced(message, data));
}

}  // namespace

std::string to_markdown(const Results& results) {
  const std::size_t failed = results.count(Status::failed);
  const std::size_t worse = results.count(Grade::worse), missing = results.count(Grade::missing);
  std::string others = missing == 0 ? "" : fmt::format(", {} missing", missing);
  // These fail where --fail-on names them.
  const std::vector<Difference> failing = results.failures();
  for (const Grade grade : {Grade::changed, Grade::better}) {
    const auto count = std::ranges::count(failing, grade, &Difference::grade);
    if (count > 0) others += fmt::format(", {} {}", count, to_string(grade));
  }
  const bool is_well = failed == 0 && failing.empty();
  std::string text = fmt::format(
      "### forestcoll: {}\n\n{}, {} made, {} reused, {} failed, {} skipped",
      is_well ? "all is well" : fmt::format("{} failed, {} worse{}", failed, worse, others),
      counted(results.items.size(), "item"), results.count(Status::ok),
      results.count(Status::cached), failed, results.count(Status::skipped));
  if (results.differences) text += "; " + grades_in_words(results);
  text += ".\n";
  if (failed > 0) text += failures_markdown(results);
  if (results.differences && !results.differences->empty()) {
    text += differences_markdown(*results.differences);
  }
  return text + items_markdown(results);
}

std::string to_csv(const Results& results) {
  Table table{{"input", "collective", "target", "k", "status", "output", "hash", "algbw",
               "algbw_exact", "optimum_fraction", "height", "seconds", "code", "where", "message",
               "optimum_range"}};
  for (const ItemResult& item : results.items) {
    const std::string hash = item.outputs.size() == 1 ? item.outputs.front().hash : "";
    TableRow fields = {item.input,
                       item.variant.collective,
                       item.variant.target,
                       item.variant.trees,
                       to_string(item.status),
                       output_path(item),
                       hash};
    if (item.figures) {
      const auto& fraction = item.figures->optimum_fraction;
      const Ratio reached = reached_by(*item.figures);
      fields.insert(fields.end(),
                    {fmt::format("{}", reached.to_double()), reached.to_string(),
                     fraction ? fmt::format("{}", *fraction) : "", height_text(*item.figures)});
    } else {
      fields.insert(fields.end(), 4, "");
    }
    fields.push_back(fmt::format("{:.3f}", item.seconds));
    const ItemError error = item.error.value_or(ItemError());
    fields.insert(fields.end(), {std::string(name_of(error.code)), error.where, error.message});
    const bool is_open = item.figures && item.figures->optimum_range;
    fields.push_back(is_open ? range_text(*item.figures->optimum_range) : "");
    table.rows.push_back(std::move(fields));
  }
  return cli::to_csv(table, "\r\n");
}

std::string to_junit(const Results& results) {
  pugi::xml_document document;
  pugi::xml_node suites = document.append_child("testsuites");
  pugi::xml_node suite = suites.append_child("testsuite");
  double seconds = 0;
  for (const ItemResult& item : results.items) seconds += item.seconds;
  suite.append_attribute("name") = "forestcoll batch";
  pugi::xml_attribute tests = suite.append_attribute("tests");
  suite.append_attribute("skipped") = results.count(Status::skipped);
  pugi::xml_attribute failures = suite.append_attribute("failures");
  suite.append_attribute("errors") = 0;
  suite.append_attribute("time") = fmt::format("{:.3f}", seconds).c_str();
  std::size_t failed = 0;
  std::vector<ItemResult> items = results.items;
  const std::vector<Difference> failures_of_run = results.failures();
  const std::vector<ItemResult> new_items = results.new_items();
  for (const Difference& each : failures_of_run) {
    if (each.grade == Grade::missing) items.push_back(each.item);
  }
  for (const ItemResult& item : items) {
    pugi::xml_node test = suite.append_child("testcase");
    test.append_attribute("classname") = on_one_line(item.input).c_str();
    test.append_attribute("name") =
        fmt::format("{} {} k={}", item.variant.collective, item.variant.target, item.variant.trees)
            .c_str();
    test.append_attribute("time") = fmt::format("{:.3f}", item.seconds).c_str();
    if (item.status == Status::skipped) test.append_child("skipped");
    bool test_failed = false;
    const auto add_failure = [&](const std::string& type, const std::string& message) {
      pugi::xml_node failure = test.append_child("failure");
      failure.append_attribute("type") = type.c_str();
      failure.append_attribute("message") = message.c_str();
      test_failed = true;
    };
    if (item.status == Status::failed && item.error) {
      add_failure(std::string(name_of(item.error->code)),
                  item.error->where.empty() ? item.error->message
                                            : item.error->where + ": " + item.error->message);
    }
    for (const Difference& each : failures_of_run) {
      if (!is_same(each.item, item) || test_failed) continue;
      add_failure(to_string(each.grade), in_words(each));
    }
    if (std::ranges::binary_search(new_items, item, is_before)) {
      test.append_child("system-out").text() = "new: the item is not in the baseline";
    }
    failed += test_failed ? 1 : 0;
  }
  tests = items.size();
  failures = failed;
  std::ostringstream text;
  document.save(text, "  ", pugi::format_default, pugi::encoding_utf8);
  return text.str();
}

std::string to_annotations(const Results& results, const std::string& directory) {
  std::string text;
  const std::string prefix =
      directory.empty() || directory.ends_with('/') ? directory : directory + "/";
  for (const ItemResult& item : results.items) {
    if (item.status != Status::failed || !item.error) continue;
    const std::string place = item.error->where.empty() ? "" : item.error->where + ": ";
    text += annotation(prefix + item.input, item.error->where,
                       fmt::format("{} {}", name_of(item.error->code), item.variant.collective),
                       place + item.error->message);
  }
  for (const Difference& each : results.failures()) {
    text += annotation(prefix + each.item.input, "", to_string(each.grade),
                       fmt::format("{}: {}", each.item.variant.collective, in_words(each)));
  }
  return text;
}

}  // namespace forestcoll::cli::batch
