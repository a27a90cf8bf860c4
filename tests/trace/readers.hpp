// Readers of traces that share nothing with their writers: GOAL's text by the grammar of txt2bin,
// Chakra's by the wire format of protocol buffers. What neither grammar has throws.
#pragma once

#include <cstdint>
#include <map>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace trace_test {

struct ReadOperation {
  std::string kind;  ///< "send", "recv" or "calc"
  std::int64_t bytes = 0, peer = -1, tag = 0, processor = -1;
  std::vector<std::size_t> after;
};
using ReadRank = std::vector<ReadOperation>;

inline void require(bool holds, const std::string& what) {
  if (!holds) throw std::runtime_error(what);
}

// "o3: send 64b to 1 tag 3 cpu 0" without its label, word by word.
inline ReadOperation read_goal_operation(std::istringstream& words) {
  ReadOperation operation;
  std::string size, word;
  words >> operation.kind >> size;
  if (operation.kind == "calc") {
    require(size == "0", "a local operation takes time: " + size);
  } else {
    require(operation.kind == "send" || operation.kind == "recv", "unknown " + operation.kind);
    require(size.back() == 'b', "a size without b: " + size);
    operation.bytes = std::stoll(size.substr(0, size.size() - 1));
    words >> word >> operation.peer;
    require(word == (operation.kind == "send" ? "to" : "from"), "unknown " + word);
    words >> word >> operation.tag;
    require(word == "tag", "unknown " + word);
  }
  words >> word >> operation.processor;
  require(word == "cpu" && !words.fail() && !(words >> word), "ill-formed line");
  return operation;
}

inline std::vector<ReadRank> read_goal(const std::string& text) {
  std::istringstream lines(text);
  std::string line, word;
  std::size_t announced = 0;
  std::vector<ReadRank> ranks;
  std::map<std::string, std::size_t> labels;
  bool inside = false;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    if (!(words >> word)) continue;
    if (word == "num_ranks") {
      words >> announced;
    } else if (word == "rank") {
      std::size_t number = 0;
      words >> number >> word;
      require(number == ranks.size() && word == "{" && !inside, "ranks out of order");
      ranks.emplace_back();
      labels.clear();
      inside = true;
    } else if (word == "}") {
      inside = false;
    } else if (word.back() == ':') {
      require(inside && labels.emplace(word.substr(0, word.size() - 1), ranks.back().size()).second,
              "a label twice, or outside: " + word);
      ranks.back().push_back(read_goal_operation(words));
    } else {
      std::string requires_word, other;
      words >> requires_word >> other;
      require(requires_word == "requires", "unknown " + requires_word);
      // A label is known from its line on.
      ranks.back().at(labels.at(word)).after.push_back(labels.at(other));
    }
  }
  require(!inside && announced == ranks.size(), "not as many ranks as announced");
  return ranks;
}

// A message's fields in order: varints as numbers, others as bytes.
struct WireField {
  std::uint64_t number = 0, value = 0;
  std::string_view bytes;
};

class WireReader {
 public:
  explicit WireReader(std::string_view text) : text_(text) {}

  [[nodiscard]] bool at_end() const { return text_.empty(); }
  std::uint64_t varint() {
    std::uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      require(!text_.empty() && shift < 64, "a varint is cut off");
      const auto byte = static_cast<unsigned char>(text_.front());
      text_.remove_prefix(1);
      value |= std::uint64_t{byte & 0x7FU} << shift;
      if (byte < 0x80) return value;
    }
  }
  std::string_view delimited() {
    const std::uint64_t size = varint();
    require(size <= text_.size(), "a message is cut off");
    const std::string_view bytes = text_.substr(0, size);
    text_.remove_prefix(size);
    return bytes;
  }
  std::vector<WireField> fields() {
    std::vector<WireField> fields;
    while (!at_end()) {
      const std::uint64_t key = varint();
      WireField field{key >> 3, 0, {}};
      require((key & 7) == 0 || (key & 7) == 2, "an unexpected wire type");
      if ((key & 7) == 0) {
        field.value = varint();
      } else {
        field.bytes = delimited();
      }
      fields.push_back(field);
    }
    return fields;
  }

 private:
  std::string_view text_;
};

struct ReadAttribute {
  std::string_view name, text;
  std::uint64_t field = 0, value = 0;  ///< the field of the schema that holds the value
};
inline ReadAttribute read_attribute(std::string_view bytes) {
  ReadAttribute attribute;
  for (const WireField& field : WireReader(bytes).fields()) {
    if (field.number == 1) {
      attribute.name = field.bytes;
    } else {
      attribute.field = field.number;
      attribute.value = field.value;
      attribute.text = field.bytes;
    }
  }
  return attribute;
}

struct ReadChakra {
  std::map<std::string, std::string> texts;  ///< of the metadata
  std::int64_t bytes = 0;
  ReadRank operations;
};

// By et_def.proto: NodeType 4 computes, 5 sends, 6 receives; attributes are int64 (9), int32 (7).
inline ReadOperation read_node(std::string_view message, std::size_t expected_id) {
  ReadOperation operation;
  std::uint64_t id = 0, type = 0;
  for (const WireField& field : WireReader(message).fields()) {
    if (field.number == 1) id = field.value;
    if (field.number == 3) type = field.value;
    if (field.number == 5) {
      for (WireReader ids(field.bytes); !ids.at_end();) operation.after.push_back(ids.varint());
    }
    if (field.number != 10) continue;
    const ReadAttribute attribute = read_attribute(field.bytes);
    const auto value = static_cast<std::int64_t>(attribute.value);
    const bool is_size = attribute.name == "comm_size";
    require(attribute.field == (is_size ? 9U : 7U), "an attribute of another type");
    if (is_size) operation.bytes = value;
    if (attribute.name == (type == 5 ? "comm_dst" : "comm_src")) operation.peer = value;
    if (attribute.name == "comm_tag") operation.tag = value;
  }
  require(id == expected_id, "ids are not in order");
  require(type >= 4 && type <= 6, "an unexpected type of node");
  operation.kind = type == 4 ? "calc" : type == 5 ? "send" : "recv";
  return operation;
}

inline ReadChakra read_chakra(std::string_view text) {
  ReadChakra chakra;
  WireReader file(text);
  for (const WireField& field : WireReader(file.delimited()).fields()) {
    require(field.number == 2, "metadata have attributes alone");
    const ReadAttribute attribute = read_attribute(field.bytes);
    if (attribute.name == "size") chakra.bytes = static_cast<std::int64_t>(attribute.value);
    chakra.texts[std::string(attribute.name)] = attribute.text;
  }
  while (!file.at_end()) {
    chakra.operations.push_back(read_node(file.delimited(), chakra.operations.size()));
  }
  return chakra;
}

}  // namespace trace_test
