// A JSON document as a tree that keeps what an exact format needs: the text of every number, the
// order of keys, and the place of every value.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "topology/model/findings.hpp"

namespace forestcoll::topology {

struct JsonValue {
  enum class Kind { null, boolean, number, string, array, object };

  Kind kind = Kind::null;
  std::string text;               ///< a string's content, a number's digits, "true" or "false"
  std::vector<std::string> keys;  ///< of an object, in the order of the file
  std::vector<JsonValue> items;   ///< of an array, or of an object by position of the key

  /// The value of a key of an object; null where there is none. Cost: O(keys).
  [[nodiscard]] const JsonValue* find(std::string_view key) const;
};

/// A JSON string with its quotes; bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string quote_json(const std::string& text);

/// What a message says that it found: 25, "50GBs", an array.
[[nodiscard]] std::string describe(const JsonValue& value);

/// Where a value stands: a chain of keys and positions that lives on the stack of the reader and
/// becomes a JSON pointer only when a message needs one.
class Place {
 public:
  Place() = default;
  Place(const Place& parent, std::string_view key) : parent_(&parent), key_(key) {}
  Place(const Place& parent, std::size_t index)
      : parent_(&parent), index_(index), is_index_(true) {}

  /// RFC 6901: "/links/17/bandwidth"; "" for the document.
  [[nodiscard]] std::string pointer() const;

 private:
  const Place* parent_ = nullptr;
  std::string_view key_;
  std::size_t index_ = 0;
  bool is_index_ = false;
};

/// One key as a part of a JSON pointer; a very long key is shortened.
[[nodiscard]] std::string pointer_token(std::string_view key);

/// Reads JSON text. Nothing, and an E01 that says what and where, for text that is not JSON in
/// UTF-8, is nested deeper than 64 levels or holds more than ten million values (E15). A key that
/// stands twice in one object is an E01 too, but the tree is returned so that reading can go on.
/// Cost: O(text).
[[nodiscard]] std::optional<JsonValue> parse_json(std::string_view text, Findings& findings);

}  // namespace forestcoll::topology
