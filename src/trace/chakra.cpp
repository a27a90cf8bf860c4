// Chakra's execution trace (mlcommons/chakra, schema/protobuf/et_def.proto) in the wire format of
// protocol buffers: a GlobalMetadata, then a Node for each operation, every message preceded by its
// length. Of that schema five messages' fields are written, all of them integers and texts, which
// is less than the code that a compiler of the schema would add to the build.
#include <fmt/format.h>

#include <string_view>

#include "forestcoll/trace.hpp"

namespace forestcoll {
namespace {

// Field numbers of the schema.
constexpr int kMetadataAttribute = 2;
constexpr int kNodeId = 1, kNodeName = 2, kNodeType = 3, kNodeDataDependencies = 5,
              kNodeAttribute = 10;
constexpr int kAttributeName = 1, kAttributeInt32 = 7, kAttributeInt64 = 9, kAttributeString = 29;
// Of its enumeration NodeType.
constexpr std::uint64_t kComputeNode = 4, kSendNode = 5, kReceiveNode = 6;

/// A message of protocol buffers that grows at its end.
class WireMessage {
 public:
  void number(int field, std::uint64_t value) {
    varint(static_cast<std::uint64_t>(field) << 3);  // wire type 0
    varint(value);
  }
  void bytes(int field, std::string_view value) {
    varint((static_cast<std::uint64_t>(field) << 3) | 2);  // wire type 2
    delimited(value);
  }
  void varint(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) text_ += static_cast<char>((value & 0x7F) | 0x80);
    text_ += static_cast<char>(value);
  }
  void delimited(std::string_view value) {
    varint(value.size());
    text_ += value;
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  std::string text_;
};

WireMessage attribute(std::string_view name, int field, std::uint64_t value) {
  WireMessage message;
  message.bytes(kAttributeName, name);
  message.number(field, value);
  return message;
}

WireMessage attribute(std::string_view name, std::string_view value) {
  WireMessage message;
  message.bytes(kAttributeName, name);
  message.bytes(kAttributeString, value);
  return message;
}

std::string metadata_of(const Trace& trace) {
  WireMessage metadata;
  metadata.bytes(kMetadataAttribute, attribute("schema", "1.0.2-chakra.0.0.4").text());
  metadata.bytes(kMetadataAttribute, attribute("collective", trace.collective).text());
  metadata.bytes(
      kMetadataAttribute,
      attribute("size", kAttributeInt64, static_cast<std::uint64_t>(trace.bytes)).text());
  return metadata.text();
}

std::string node_of(std::size_t id, const TraceOperation& operation) {
  const bool sends = operation.kind == TraceOperation::Kind::send;
  const bool is_local = operation.kind == TraceOperation::Kind::local;
  WireMessage node, before;
  node.number(kNodeId, id);
  node.bytes(kNodeName, fmt::format("tb{}_{}", operation.threadblock, id));
  node.number(kNodeType, is_local ? kComputeNode : sends ? kSendNode : kReceiveNode);
  for (const std::int64_t other : operation.after) {
    if (other >= 0) before.varint(static_cast<std::uint64_t>(other));
  }
  if (!before.text().empty()) node.bytes(kNodeDataDependencies, before.text());
  if (is_local) return node.text();
  const auto number = [](std::int64_t value) { return static_cast<std::uint64_t>(value); };
  node.bytes(kNodeAttribute,
             attribute("comm_size", kAttributeInt64, number(operation.bytes)).text());
  node.bytes(
      kNodeAttribute,
      attribute(sends ? "comm_dst" : "comm_src", kAttributeInt32, number(operation.peer)).text());
  node.bytes(kNodeAttribute, attribute("comm_tag", kAttributeInt32, number(operation.tag)).text());
  return node.text();
}

}  // namespace

std::string to_chakra(const Trace& trace, std::size_t rank) {
  WireMessage file;
  file.delimited(metadata_of(trace));
  const auto& operations = trace.ranks[rank];
  for (std::size_t i = 0; i < operations.size(); ++i) file.delimited(node_of(i, operations[i]));
  return file.text();
}

}  // namespace forestcoll
