#include "topology/format/fields.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "forestcoll/nearest.hpp"
#include "topology/format/text_encoding.hpp"

namespace forestcoll::topology {

namespace {

bool has_key(std::initializer_list<std::string_view> known, std::string_view key) {
  return std::find(known.begin(), known.end(), key) != known.end();
}

// The one of `known` that a key stands for, by another name or by a slip; empty where none is near.
std::string meant_by(std::string_view key, std::initializer_list<std::string_view> known) {
  const std::string_view called = key_called(key);
  if (!called.empty() && has_key(known, called)) return std::string(called);
  return nearest_word(key, known);
}

// Whether a value may be read as that of `meant`: a short word that is two slips off, such as
// "cost" for "dst", is more likely another word.
bool is_surely(std::string_view key, std::string_view meant) {
  constexpr std::size_t kShort = 4;
  return key_called(key) == meant ||
         edit_distance(key, meant, meant.size() < kShort ? 1 : 2).has_value();
}

}  // namespace

void Fields::check_keys(std::initializer_list<std::string_view> known) const {
  for (const std::string& key : object_.keys) {
    if (!key.starts_with("x-") && !has_key(known, key)) report_unknown(key, known);
  }
}

void Fields::check_keys(std::initializer_list<std::string_view> known,
                        std::initializer_list<std::string_view> required, MisnamedKeys& misnamed) {
  const bool is_complete = std::all_of(required.begin(), required.end(), [&](std::string_view key) {
    return object_.find(key) != nullptr;
  });
  if (is_complete) return check_keys(known);
  for (const std::string& key : object_.keys) {
    if (key.starts_with("x-") || has_key(known, key)) continue;
    const std::string meant = meant_by(key, required);
    if (!meant.empty() && is_surely(key, meant) && find(meant) == nullptr) {
      misnamed_.push_back({key, meant});
    } else {
      report_unknown(key, known);
    }
  }
  if (!misnamed_.empty()) misnamed.add(place_, misnamed_);
}

std::string_view Fields::written(std::string_view key) const {
  const auto found = std::ranges::find(misnamed_, key, &MisnamedKeys::Name::meant);
  return found == misnamed_.end() ? key : std::string_view(found->written);
}

void Fields::report_unknown(const std::string& key,
                            std::initializer_list<std::string_view> known) const {
  const std::string meant = findings_.shows(Code::W06) ? meant_by(key, known) : "";
  ignored(key, fmt::format("unknown key {}", quote(key)),
          meant.empty() || (key_called(key) == meant && find(meant) != nullptr)
              ? "Remove it, or begin its name with x- to keep it as a note."
              : fmt::format("Did you mean \"{}\"?{}", meant, unit_remedy(key)));
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

Field<bool> Fields::is_second(std::string_view key, std::string_view first, std::string_view second,
                              std::string remedy) const {
  const JsonValue* value = find(key);
  if (value == nullptr) return {false, true};
  const bool is_text = value->kind == JsonValue::Kind::string;
  if (is_text && value->text == second) return {true, true};
  if (is_text && value->text == first) return {false, true};
  wrong(key, fmt::format("\"{}\" or \"{}\"", first, second), std::move(remedy));
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
