#include "batch/results/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "batch/results/journal.hpp"
#include "common/report/json_version.hpp"
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

// Which item it is.
Json name_json(const ItemResult& item) {
  return {{"input", item.input},
          {"collective", item.variant.collective},
          {"target", item.variant.target},
          {"asked_k", item.variant.trees}};
}

Json to_json(const Difference& difference) {
  Json json = name_json(difference.item);
  json.update({{"grade", to_string(difference.grade)},
               {"what", difference.what},
               {"says", difference.change},
               {"before_text", difference.before},
               {"after_text", difference.now}});
  if (const auto& numbers = difference.numbers) {
    json["before"] = exact(numbers->first);
    json["after"] = exact(numbers->second);
    const double before = numbers->first.to_double();
    if (before > 0) json["change"] = numbers->second.to_double() / before - 1;
  }
  return json;
}

// Those that fail the run, or the others, without new items.
std::vector<Difference> differences_of(const Results& results, bool fails) {
  std::vector<Difference> found;
  for (const Difference& each : results.differences.value_or(std::vector<Difference>())) {
    if (each.fails == fails && each.grade != Grade::added) found.push_back(each);
  }
  return found;
}

Json names_json(const std::vector<ItemResult>& items) {
  Json names = Json::array();
  for (const ItemResult& item : items) names.push_back(name_json(item));
  return names;
}

std::string dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

template <class Elements>
Json list(const Elements& elements) {
  Json json = Json::array();
  for (const auto& element : elements) json.push_back(to_json(element));
  return json;
}

// A key per line, and an element of a list per line.
std::string laid_out(const Json& report) {
  std::string text;
  for (const auto& [key, value] : report.items()) {
    text += text.empty() ? "{" : key == "version" ? "," : ",\n";
    text += dumped(Json(key)) + ":";
    if (!value.is_array()) {
      text += dumped(value);
      continue;
    }
    std::string elements;
    for (const Json& element : value)
      elements += (elements.empty() ? "\n" : ",\n") + dumped(element);
    text += "[" + elements + (elements.empty() ? "]" : "\n]");
  }
  return text + "}\n";
}

Diagnostic report_error(const std::string& file, const std::string& where, std::string message) {
  return make_error(Code::J07, std::move(message), "name a report.json of a batch", {file, where});
}

}  // namespace

std::size_t Results::count(Status status) const {
  return static_cast<std::size_t>(std::ranges::count(items, status, &ItemResult::status));
}

std::size_t Results::count(Grade grade) const {
  if (!differences) return 0;
  return static_cast<std::size_t>(std::ranges::count(*differences, grade, &Difference::grade));
}

std::vector<Difference> Results::failures() const {
  return differences_of(*this, true);
}

std::vector<ItemResult> Results::new_items() const {
  std::vector<ItemResult> found;
  for (const Difference& each : differences.value_or(std::vector<Difference>())) {
    if (each.grade == Grade::added) found.push_back(each.item);
  }
  return found;
}

std::string to_string(Grade grade) {
  switch (grade) {
    case Grade::worse:
      return "worse";
    case Grade::missing:
      return "missing";
    case Grade::changed:
      return "changed";
    case Grade::better:
      return "better";
    case Grade::added:
      break;
  }
  return "new";
}

std::string in_words(const Difference& difference) {
  std::string change = fmt::format("{} {}", difference.what, difference.change);
  if (difference.what != "rate") return change;
  return fmt::format("{}, exactly {} -> {}", change, difference.before, difference.now);
}

std::string grades_in_words(const Results& results) {
  return fmt::format("beside the baseline {} worse, {} better, {} changed, {} missing, {} new",
                     results.count(Grade::worse), results.count(Grade::better),
                     results.count(Grade::changed), results.count(Grade::missing),
                     results.count(Grade::added));
}

std::string to_report_json(const Results& results, int json_version) {
  Json report = {{"format", "forestcoll-batch"},
                 {"version", 4},
                 {"program", results.program},
                 {"items", list(results.items)}};
  if (results.differences) {
    report["regressions"] = list(results.failures());
    report["other_differences"] = list(differences_of(results, false));
    report["new_items"] = names_json(results.new_items());
  }
  report["counts"] = counts_of(results);
  return laid_out(in_json_version(std::move(report), json_version));
}

Expected<Results> parse_report(const std::string& text, const std::string& file) {
  const Json json = Json::parse(text, nullptr, false);
  const Json version = json.is_object() ? json.value("version", Json()) : Json();
  if (!json.is_object() || json.value("format", Json()) != "forestcoll-batch" ||
      (version != 1 && version != 2 && version != 3 && version != 4)) {
    return report_error(file, "", "expected a report of forestcoll batch, version 1 to 4");
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
  for (const Difference& each : results.differences.value_or(std::vector<Difference>())) {
    add(fmt::format("{:<7} {}: {}{}", to_string(each.grade), label(each.item), in_words(each),
                    each.is_allowed ? " (allowed by --allow)" : ""));
  }
  if (lines > kMostLines) {
    text += fmt::format("  and {} more: see the report\n", lines - kMostLines);
  }
  text += fmt::format("{}: {} made, {} reused, {} failed, {} skipped",
                      counted(results.items.size(), "item"), results.count(Status::ok),
                      results.count(Status::cached), results.count(Status::failed),
                      results.count(Status::skipped));
  return results.differences ? text + "; " + grades_in_words(results) : text;
}

}  // namespace forestcoll::cli::batch
