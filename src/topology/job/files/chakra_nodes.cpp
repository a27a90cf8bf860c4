// Two ways to write the messages of et_def.proto (mlcommons/chakra): each in protobuf's wire format
// after its length as a varint, or as JSON in protobuf's own mapping, one object after the other.
// The first message is GlobalMetadata, the others are nodes.
#include "topology/job/files/chakra_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>

#include "base/words.hpp"
#include "forestcoll/codes.hpp"
#include "topology/format/json_value.hpp"
#include "topology/job/files/protobuf.hpp"
#include "topology/job/files/workload.hpp"
#include "topology/model/findings.hpp"

namespace forestcoll::topology {
namespace {

using Wire = WireReader;

constexpr const char* kOfChakra = "give the trace of one rank, as ASTRA-sim reads it";

// Numbers of fields in et_def.proto.
constexpr std::uint32_t kId = 1, kNodeName = 2, kType = 3, kControl = 4, kData = 5, kInputs = 8,
                        kAttribute = 10;
constexpr std::uint32_t kAttributeName = 1, kFirstValue = 3, kZigzag32 = 15, kZigzag64 = 17,
                        kBool = 27, kText = 29;

Diagnostics no_chakra(std::string_view file, const std::string& where, std::string message) {
  return {no_workload(std::move(message), kOfChakra, {std::string(file), where})};
}

bool communicates(std::int32_t type) {
  return type == ChakraNode::send || type == ChakraNode::receive || type == ChakraNode::collective;
}

// ---- protobuf

// A single number or a packed list of them.
bool add_numbers(const Wire::Field& field, std::vector<std::uint64_t>& numbers) {
  if (field.type == Wire::Type::varint) {
    numbers.push_back(field.value);
    return true;
  }
  if (field.type != Wire::Type::bytes) return false;
  for (Wire list(field.bytes); !list.at_end();) {
    const auto number = list.varint();
    if (!number) return false;
    numbers.push_back(*number);
  }
  return true;
}

std::string value_of(const Wire::Field& field) {
  if (field.number == kBool) return field.value == 0 ? "false" : "true";
  if (field.number == kText) return std::string(field.bytes);
  if (field.type != Wire::Type::varint) return {};  // lists and floating point: not asked for
  if (field.number == kZigzag32 || field.number == kZigzag64) {
    return std::to_string(static_cast<std::int64_t>(field.value >> 1U ^ (~(field.value & 1U) + 1)));
  }
  return std::to_string(static_cast<std::int64_t>(field.value));
}

bool read_attribute(std::string_view bytes, ChakraNode& node) {
  std::string name, value;
  for (Wire reader(bytes); !reader.at_end();) {
    const auto field = reader.field();
    if (!field) return false;
    if (field->number == kAttributeName) name = field->bytes;
    if (field->number >= kFirstValue) value = value_of(*field);
  }
  node.attributes[std::move(name)] = std::move(value);
  return true;
}

bool read_inputs(std::string_view bytes, ChakraNode& node) {
  for (Wire reader(bytes); !reader.at_end();) {
    const auto field = reader.field();
    if (!field) return false;
    if (field->number == 1) node.inputs = field->bytes;
  }
  return true;
}

bool read_field(const Wire::Field& field, ChakraNode& node,
                std::vector<std::string_view>& attributes) {
  switch (field.number) {
    case kId:
      node.id = field.value;
      return field.type == Wire::Type::varint;
    case kNodeName:
      node.name = field.bytes;
      return field.type == Wire::Type::bytes;
    case kType:
      node.type = static_cast<std::int32_t>(field.value);
      return field.type == Wire::Type::varint;
    case kControl:
    case kData:
      return add_numbers(field, node.depends);
    case kInputs:
      return read_inputs(field.bytes, node);
    case kAttribute:
      attributes.push_back(field.bytes);
      return field.type == Wire::Type::bytes;
    default:
      return true;
  }
}

bool read_node(std::string_view bytes, ChakraNode& node) {
  std::vector<std::string_view> attributes;
  for (Wire reader(bytes); !reader.at_end();) {
    const auto field = reader.field();
    if (!field || !read_field(*field, node, attributes)) return false;
  }
  return !communicates(node.type) || std::ranges::all_of(attributes, [&](std::string_view each) {
    return read_attribute(each, node);
  });
}

Expected<std::vector<ChakraNode>> read_stream(std::string_view text, std::string_view file) {
  std::vector<ChakraNode> nodes;
  Wire stream(text);
  for (std::size_t message = 0; !stream.at_end(); ++message) {
    const std::string where = fmt::format("message {}, byte {}", message, stream.position());
    const auto length = stream.varint();
    const auto bytes = length ? stream.take(*length) : std::nullopt;
    if (!bytes) return no_chakra(file, where, "the trace ends within a message");
    if (message == 0) continue;  // metadata
    ChakraNode node;
    node.where = where;
    if (!read_node(*bytes, node)) return no_chakra(file, where, "not a node of a Chakra trace");
    nodes.push_back(std::move(node));
  }
  return nodes;
}

// ---- JSON

// Where the JSON object that begins here ends; nothing where it does not.
std::optional<std::size_t> end_of_object(std::string_view text, std::size_t begin) {
  std::size_t depth = 0;
  bool is_string = false;
  for (std::size_t at = begin; at < text.size(); ++at) {
    const char c = text[at];
    if (is_string) {
      if (c == '\\') ++at;
      is_string = c != '"';
    } else if (c == '"') {
      is_string = true;
    } else if (c == '{' || c == '[') {
      ++depth;
    } else if ((c == '}' || c == ']') && (depth == 0 || --depth == 0)) {
      return at + 1;
    }
  }
  return std::nullopt;
}

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  const std::size_t next = text.find_first_not_of(" \t\r\n", at);
  return next == std::string_view::npos ? text.size() : next;
}

std::int32_t type_in(const JsonValue& value) {
  constexpr std::array<std::pair<std::string_view, std::int32_t>, 4> kNames = {
      {{"METADATA_NODE", ChakraNode::metadata},
       {"COMM_SEND_NODE", ChakraNode::send},
       {"COMM_RECV_NODE", ChakraNode::receive},
       {"COMM_COLL_NODE", ChakraNode::collective}}};
  for (const auto& [name, type] : kNames) {
    if (value.text == name) return type;
  }
  return static_cast<std::int32_t>(
      std::min<std::int64_t>(parse_whole(value.text).value_or(0), 1 << 30));
}

std::string text_in(const JsonValue* value) {
  return value == nullptr ? std::string() : value->text;
}

bool add_depends(const JsonValue* list, ChakraNode& node) {
  if (list == nullptr) return true;
  for (const JsonValue& item : list->items) {
    const auto id = parse_whole(item.text);
    if (!id) return false;
    node.depends.push_back(static_cast<std::uint64_t>(*id));
  }
  return list->kind == JsonValue::Kind::array;
}

void add_attributes(const JsonValue& list, ChakraNode& node) {
  for (const JsonValue& attribute : list.items) {
    std::string value;
    for (std::size_t k = 0; k < attribute.keys.size(); ++k) {
      const std::string& key = attribute.keys[k];
      if (key != "name" && !key.starts_with("doc")) value = attribute.items[k].text;
    }
    node.attributes[text_in(attribute.find("name"))] = std::move(value);
  }
}

// Names are protobuf's in JSON, ctrlDeps, or those of the schema, ctrl_deps.
bool read_node(const JsonValue& object, ChakraNode& node) {
  const auto id = parse_whole(object.find("id") == nullptr ? "0" : object.find("id")->text);
  if (object.kind != JsonValue::Kind::object || !id) return false;
  node.id = static_cast<std::uint64_t>(*id);
  node.name = text_in(object.find("name"));
  if (const JsonValue* type = object.find("type")) node.type = type_in(*type);
  for (const char* key : {"ctrlDeps", "ctrl_deps", "dataDeps", "data_deps"}) {
    if (!add_depends(object.find(key), node)) return false;
  }
  if (const JsonValue* inputs = object.find("inputs"))
    node.inputs = text_in(inputs->find("values"));
  const JsonValue* attributes = object.find("attr");
  if (attributes != nullptr && communicates(node.type)) add_attributes(*attributes, node);
  return true;
}

Expected<std::vector<ChakraNode>> read_objects(std::string_view text, std::string_view file) {
  std::vector<ChakraNode> nodes;
  std::size_t at = skip_blanks(text, 0);
  for (std::size_t message = 0; at < text.size(); ++message) {
    const std::string where = fmt::format("message {}, byte {}", message, at);
    const auto end = text[at] == '{' ? end_of_object(text, at) : std::nullopt;
    if (!end) return no_chakra(file, where, "the trace ends within an object, or has none here");
    Findings findings(file);
    const auto object = parse_json(text.substr(at, *end - at), findings);
    at = skip_blanks(text, *end);
    if (!object || findings.has_errors()) {
      return no_chakra(file, where, findings.all().front().message);
    }
    if (message == 0) continue;  // metadata
    ChakraNode node;
    node.where = where;
    if (!read_node(*object, node)) return no_chakra(file, where, "not a node of a Chakra trace");
    nodes.push_back(std::move(node));
  }
  return nodes;
}

}  // namespace

bool is_chakra_stream(std::string_view text) {
  // Text has no such bytes; the ids of nodes have one in their tag.
  const bool is_binary = std::ranges::any_of(text, [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 && c != '\t' && c != '\n' && c != '\r';
  });
  if (!is_binary) return false;
  Wire stream(text);
  const auto length = stream.varint();
  const auto bytes = length ? stream.take(*length) : std::nullopt;
  if (!bytes) return false;
  for (Wire metadata(*bytes); !metadata.at_end();) {
    const auto field = metadata.field();
    if (!field || field->number > 2 || field->type != Wire::Type::bytes) return false;
  }
  return true;
}

bool is_chakra_json(std::string_view text) {
  const std::size_t begin = skip_blanks(text, 0);
  if (begin == text.size() || text[begin] != '{') return false;
  const auto end = end_of_object(text, begin);
  if (!end) return false;
  const std::size_t next = skip_blanks(text, *end);
  return next < text.size() && text[next] == '{';
}

Expected<std::vector<ChakraNode>> read_chakra_nodes(std::string_view text, std::string_view file) {
  return is_chakra_stream(text) ? read_stream(text, file) : read_objects(text, file);
}

}  // namespace forestcoll::topology
