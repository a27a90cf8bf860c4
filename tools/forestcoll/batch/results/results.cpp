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

Json to_json(const Difference& difference) {
  return {{"input", difference.item.input},
          {"collective", difference.item.variant.collective},
          {"target", difference.item.variant.target},
          {"k", difference.item.variant.trees},
          {"grade", to_string(difference.grade)},
          {"what", difference.what},
          {"change", difference.change},
          {"before", difference.before},
          {"now", difference.now}};
}

// Those that fail the run, or the others.
std::vector<Difference> differences_of(const Results& results, bool fails) {
  std::vector<Difference> found;
  for (const Difference& each : results.differences.value_or(std::vector<Difference>())) {
    if (each.fails == fails) found.push_back(each);
  }
  return found;
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

std::size_t Results::count(Grade grade) const {
  if (!differences) return 0;
  return static_cast<std::size_t>(std::ranges::count(*differences, grade, &Difference::grade));
}

std::vector<Difference> Results::failures() const {
  return differences_of(*this, true);
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
      break;
  }
  return "better";
}

std::string in_words(const Difference& difference) {
  std::string change = fmt::format("{} {}", difference.what, difference.change);
  if (difference.what != "rate") return change;
  return fmt::format("{}, exactly {} -> {}", change, difference.before, difference.now);
}

std::string grades_in_words(const Results& results) {
  return fmt::format("beside the baseline {} worse, {} better, {} changed, {} missing",
                     results.count(Grade::worse), results.count(Grade::better),
                     results.count(Grade::changed), results.count(Grade::missing));
}

std::string to_report_json(const Results& results) {
  std::string text = "{\"format\":\"forestcoll-batch\",\"version\":3,\n\"program\":" +
                     Json(results.program).dump() + ",\n\"items\":";
  text += list(results.items);
  if (results.differences) {
    text += ",\n\"regressions\":" + list(results.failures());
    text += ",\n\"changes\":" + list(differences_of(results, false));
  }
  return text + ",\n\"counts\":" + counts_of(results).dump() + "}\n";
}

Expected<Results> parse_report(const std::string& text, const std::string& file) {
  const Json json = Json::parse(text, nullptr, false);
  const Json version = json.is_object() ? json.value("version", Json()) : Json();
  if (!json.is_object() || json.value("format", Json()) != "forestcoll-batch" ||
      (version != 1 && version != 2 && version != 3)) {
    return report_error(file, "", "expected a report of forestcoll batch, version 1 to 3");
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
    add(fmt::format("{:<7} {}: {}", to_string(each.grade), label(each.item), in_words(each)));
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
