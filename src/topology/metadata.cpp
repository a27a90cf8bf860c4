#include "forestcoll/metadata.hpp"

#include <nlohmann/json.hpp>

#include "topology/findings.hpp"
#include "topology/json_value.hpp"

namespace forestcoll {
namespace {

using topology::JsonValue;

std::string quoted(const std::string& text) {
  return nlohmann::json(text).dump();
}

// On one line. Deeper than parse_json reads it cannot go.
std::string compact(const JsonValue& value) {
  switch (value.kind) {
    case JsonValue::Kind::null:
      return "null";
    case JsonValue::Kind::boolean:
    case JsonValue::Kind::number:
      return value.text;
    case JsonValue::Kind::string:
      return quoted(value.text);
    case JsonValue::Kind::array:
    case JsonValue::Kind::object:
      break;
  }
  const bool array = value.kind == JsonValue::Kind::array;
  std::string text;
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    if (i > 0) text += ", ";
    if (!array) text += quoted(value.keys[i]) + ": ";
    text += compact(value.items[i]);
  }
  return array ? "[" + text + "]" : "{" + text + "}";
}

}  // namespace

std::string metadata_of(std::string_view topology_file) {
  topology::Findings findings("");
  const auto root = topology::parse_json(topology_file, findings);
  const JsonValue* metadata = root ? root->find("metadata") : nullptr;
  if (metadata == nullptr) return "";
  if (metadata->kind != JsonValue::Kind::object || metadata->items.empty()) {
    return compact(*metadata);
  }
  std::string text = "{\n";
  for (std::size_t i = 0; i < metadata->items.size(); ++i) {
    text += "    " + quoted(metadata->keys[i]) + ": " + compact(metadata->items[i]);
    text += i + 1 < metadata->items.size() ? ",\n" : "\n";
  }
  return text + "  }";
}

}  // namespace forestcoll
