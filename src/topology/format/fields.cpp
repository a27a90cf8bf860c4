#include "topology/format/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "topology/format/nearest.hpp"
#include "topology/format/text_encoding.hpp"

namespace forestcoll::topology {

void Fields::check_keys(std::initializer_list<std::string_view> known) const {
  for (const std::string& key : object_.keys) {
    if (key.starts_with("x-") || std::find(known.begin(), known.end(), key) != known.end()) {
      continue;
    }
    NearestText nearest(key);
    if (findings_.shows(Code::W06)) {
      for (const std::string_view name : known) nearest.offer(name);
    }
    ignored(key, fmt::format("unknown key {}", quote(key)),
            nearest.best().empty() ? "Remove it, or begin its name with x- to keep it as a note."
                                   : fmt::format("Did you mean \"{}\"?", nearest.best()));
  }
}

void Fields::ignored(std::string_view key, std::string message, std::string remedy) const {
  findings_.warning(Code::W06, pointer(key), std::move(message) + "; it is ignored",
                    std::move(remedy));
}

std::optional<Ratio> Fields::quantity(std::string_view key, Quantity kind,
                                      const Ratio& unit) const {
  const JsonValue* value = find(key);
  if (value == nullptr) return std::nullopt;
  if (value->kind == JsonValue::Kind::number) {
    return parse_quantity(Quantity::number, value->text, unit);
  }
  if (value->kind == JsonValue::Kind::string) return parse_quantity(kind, value->text, unit);
  return std::nullopt;
}

Field<std::string> Fields::text(std::string_view key, std::size_t max_length,
                                std::string_view layout) const {
  const JsonValue* value = find(key);
  if (value == nullptr) return {"", true};
  if (value->kind != JsonValue::Kind::string) {
    wrong(key, "a text");
    return {"", false};
  }
  if (value->text.size() > max_length) {
    wrong(key, fmt::format("a text of at most {} characters", max_length));
    return {"", false};
  }
  if (const auto control = find_control(value->text, layout)) {
    findings_.error(
        Code::E02, pointer(key),
        fmt::format("the {} {} has the control character {}", key, quote(value->text), *control),
        "Take it out: it would steer terminals or break XML.");
    return {"", false};
  }
  return {value->text, true};
}

Field<bool> Fields::boolean(std::string_view key, bool otherwise) const {
  const JsonValue* value = find(key);
  if (value == nullptr) return {otherwise, true};
  if (value->kind != JsonValue::Kind::boolean) {
    wrong(key, "true or false", "Write true or false without quotation marks.");
    return {otherwise, false};
  }
  return {value->text == "true", true};
}

Field<bool> Fields::is_second(std::string_view key, std::string_view first,
                              std::string_view second) const {
  const JsonValue* value = find(key);
  if (value == nullptr) return {false, true};
  const bool is_text = value->kind == JsonValue::Kind::string;
  if (is_text && value->text == second) return {true, true};
  if (is_text && value->text == first) return {false, true};
  wrong(key, fmt::format("\"{}\" or \"{}\"", first, second));
  return {false, false};
}

std::optional<HostList> Fields::ids(std::string_view key) const {
  const JsonValue* value = find(key);
  if (value == nullptr) {
    wrong(key, "an id such as \"gpu0\" or \"gpu[0-7]\"");
    return std::nullopt;
  }
  return read_ids(*value, Place(place_, key), findings_);
}

void Fields::wrong(std::string_view key, std::string_view expected, std::string remedy) const {
  const JsonValue* value = find(key);
  if (remedy.empty()) {
    remedy = fmt::format("{}; `generate()` writes files to learn from.",
                         value == nullptr ? "Add it" : "Change it");
  }
  if (value == nullptr) {
    findings_.error(Code::E02, place_.pointer(),
                    fmt::format("the key \"{}\" is missing: expected {}", key, expected),
                    std::move(remedy));
    return;
  }
  findings_.error(Code::E02, pointer(key),
                  fmt::format("expected {}, found {}", expected, describe(*value)),
                  std::move(remedy));
}

std::optional<HostList> read_ids(const JsonValue& value, const Place& place, Findings& findings) {
  if (value.kind != JsonValue::Kind::string) {
    findings.error(
        Code::E02, place.pointer(),
        fmt::format("expected an id such as \"gpu0\" or \"gpu[0-7]\", found {}", describe(value)),
        "Write the id as text, in quotation marks.");
    return std::nullopt;
  }
  auto list = parse_host_list(value.text);
  if (!list) {
    const Diagnostic& error = list.errors().front();
    findings.error(*error.code, place.pointer(), error.message, error.remedy);
    return std::nullopt;
  }
  return *std::move(list);
}

}  // namespace forestcoll::topology
