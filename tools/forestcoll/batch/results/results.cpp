#include "batch/results/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "batch/results/journal.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli::batch {
namespace {

constexpr std::size_t kMostLines = 100;

Json counts_of(const Results& results) {
  Json counts = {{"items", results.items.size()}};
  for (const Status status : {Status::ok, Status::failed, Status::cached, Status::skipped}) {
    counts[to_string(status)] = results.count(status);
  }
  return counts;
}

Json to_json(const Regression& regression) {
  return {{"input", regression.item.input},
          {"collective", regression.item.variant.collective},
          {"target", regression.item.variant.target},
          {"k", regression.item.variant.trees},
          {"what", regression.what},
          {"change", regression.change},
          {"before", regression.before},
          {"now", regression.now}};
}

// An element per line.
template <class Elements>
std::string list(const Elements& elements) {
  std::string text;
  for (const auto& element : elements) {
    text += text.empty() ? "\n" : ",\n";
    text += to_json(element).dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return "[" + text + (text.empty() ? "]" : "\n]");
}

Diagnostic report_error(const std::string& file, const std::string& where, std::string message) {
  Diagnostic error = make_error(Code::J07, std::move(message), "name a report.json of a batch");
  error.file = file;
  error.where = where;
  return error;
}

}  // namespace

std::size_t Results::count(Status status) const {
  return static_cast<std::size_t>(std::ranges::count(items, status, &ItemResult::status));
}

std::string in_words(const Regression& regression) {
  std::string change = fmt::format("{} {}", regression.what, regression.change);
  if (regression.what != "rate") return change;
  return fmt::format("{}, exactly {} -> {}", change, regression.before, regression.now);
}

std::string to_report_json(const Results& results) {
  std::string text = "{\"format\":\"forestcoll-batch\",\"version\":2,\n\"program\":" +
                     Json(results.program).dump() + ",\n\"items\":";
  text += list(results.items);
  if (results.regressions) text += ",\n\"regressions\":" + list(*results.regressions);
  return text + ",\n\"counts\":" + counts_of(results).dump() + "}\n";
}

Expected<Results> parse_report(const std::string& text, const std::string& file) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("format", Json()) != "forestcoll-batch" ||
      (json.value("version", Json()) != 1 && json.value("version", Json()) != 2)) {
    return report_error(file, "", "expected a report of forestcoll batch, version 1 or 2");
  }
  const Json items = json.value("items", Json());
  if (!items.is_array()) return report_error(file, "/items", "expected a list");
  const Json program = json.value("program", Json(""));  // older reports have none
  if (!program.is_string()) return report_error(file, "/program", "expected a text");
  Results results;
  results.program = program.get<std::string>();
  for (std::size_t i = 0; i < items.size(); ++i) {
    auto item = parse_result(items[i]);
    if (!item) return report_error(file, fmt::format("/items/{}", i), "expected an item");
    results.items.push_back(*std::move(item));
  }
  std::ranges::sort(results.items, is_before);
  return results;
}

std::string to_summary(const Results& results) {
  std::string text;
  std::size_t lines = 0;
  const auto add = [&](const std::string& line) {
    if (++lines <= kMostLines) text += "  " + line + "\n";
  };
  for (const ItemResult& item : results.items) {
    if (item.status == Status::failed) add(line_of(item));
  }
  for (const Regression& regression : results.regressions.value_or(std::vector<Regression>())) {
    add(fmt::format("worse   {}: {}", label(regression.item), in_words(regression)));
  }
  if (lines > kMostLines) {
    text += fmt::format("  and {} more: see the report\n", lines - kMostLines);
  }
  return text + fmt::format("{}: {} made, {} reused, {} failed, {} skipped",
                            counted(results.items.size(), "item"), results.count(Status::ok),
                            results.count(Status::cached), results.count(Status::failed),
                            results.count(Status::skipped));
}

}  // namespace forestcoll::cli::batch
