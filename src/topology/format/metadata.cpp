#include "forestcoll/topology_text.hpp"
#include "topology/format/json_value.hpp"
#include "topology/model/findings.hpp"

namespace forestcoll {
namespace {

using topology::JsonValue;

// On one line. Deeper than parse_json reads it cannot go.
std::string compact(const JsonValue& value) {
  switch (value.kind) {
    case JsonValue::Kind::null:
      return "null";
    case JsonValue::Kind::boolean:
    case JsonValue::Kind::number:
      return value.text;
    case JsonValue::Kind::string:
      return topology::quote_json(value.text);
    case JsonValue::Kind::array:
    case JsonValue::Kind::object:
      break;
  }
  const bool array = value.kind == JsonValue::Kind::array;
  std::string text;
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    if (i > 0) text += ", ";
    if (!array) text += topology::quote_json(value.keys[i]) + ": ";
    text += compact(value.items[i]);
  }
  return array ? "[" + text + "]" : "{" + text + "}";
}

std::string by_line(const JsonValue& metadata) {
  if (metadata.kind != JsonValue::Kind::object || metadata.items.empty()) return compact(metadata);
  std::string text = "{\n";
  for (std::size_t i = 0; i < metadata.items.size(); ++i) {
    text += "    " + topology::quote_json(metadata.keys[i]) + ": " + compact(metadata.items[i]);
    text += i + 1 < metadata.items.size() ? ",\n" : "\n";
  }
  return text + "  }";
}

bool is_note(const std::string& key) {
  return key.starts_with("x-");
}

// As deep as parse_json reads, at most.
void add_notes_within(const JsonValue& value, const topology::Place& place,
                      std::vector<std::string>& pointers) {
  for (std::size_t i = 0; i < value.items.size(); ++i) {
    const bool array = value.kind == JsonValue::Kind::array;
    const topology::Place inner =
        array ? topology::Place(place, i) : topology::Place(place, value.keys[i]);
    if (!array && is_note(value.keys[i])) {
      pointers.push_back(inner.pointer());
    } else {
      add_notes_within(value.items[i], inner, pointers);
    }
  }
}

}  // namespace

Metadata metadata_of(std::string_view topology_file) {
  topology::Findings findings("");
  const auto root = topology::parse_json(topology_file, findings);
  Metadata all;
  if (!root || root->kind != JsonValue::Kind::object) return all;
  const topology::Place top;
  for (std::size_t i = 0; i < root->items.size(); ++i) {
    const std::string& key = root->keys[i];
    if (key == "metadata") {
      all.metadata = by_line(root->items[i]);
    } else if (is_note(key)) {
      all.notes.emplace_back(key, compact(root->items[i]));
    } else {
      if (key == "templates") all.templates = root->items[i].keys;
      add_notes_within(root->items[i], topology::Place(top, key), all.inner_notes);
    }
  }
  return all;
}

}  // namespace forestcoll
