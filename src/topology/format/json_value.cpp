// JSON text to a tree of values, by the events of nlohmann's parser. The parser's own tree is of no
// use here: it turns numbers into doubles, keeps the last of two equal keys without a word, and
// does not bound its depth.
#include "topology/format/json_value.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "topology/format/text_encoding.hpp"

namespace forestcoll::topology {
namespace {

constexpr std::size_t kMaxDepth = 64;
constexpr std::size_t kMaxValues = 10'000'000;
// A message stays readable whatever the keys.
constexpr std::size_t kMaxPointerToken = 200;

// Receives the parser's events; a handler that returns false ends the parsing.
class TreeBuilder : public nlohmann::json_sax<nlohmann::json> {
 public:
  TreeBuilder(std::string_view text, Findings& findings) : text_(text), findings_(findings) {}

  JsonValue take() { return std::move(root_); }

  bool null() override { return leaf(JsonValue::Kind::null, "null"); }
  bool boolean(bool value) override {
    return leaf(JsonValue::Kind::boolean, value ? "true" : "false");
  }
  bool number_integer(number_integer_t value) override {
    return leaf(JsonValue::Kind::number, std::to_string(value));
  }
  bool number_unsigned(number_unsigned_t value) override {
    return leaf(JsonValue::Kind::number, std::to_string(value));
  }
  bool number_float(number_float_t /*value*/, const string_t& digits) override {
    return leaf(JsonValue::Kind::number, digits);
  }
  bool string(string_t& value) override { return leaf(JsonValue::Kind::string, std::move(value)); }
  bool binary(binary_t& /*value*/) override { return false; }
  bool start_object(std::size_t /*size*/) override { return open(JsonValue::Kind::object); }
  bool start_array(std::size_t /*size*/) override { return open(JsonValue::Kind::array); }
  bool end_array() override { return close(); }

  bool key(string_t& name) override {
    stack_.back().keys.push_back(std::move(name));
    return true;
  }

  bool end_object() override {
    report_duplicate_keys(stack_.back());
    return close();
  }

  bool parse_error(std::size_t position, const std::string& last_token,
                   const nlohmann::detail::exception& error) override {
    if (dynamic_cast<const nlohmann::detail::out_of_range*>(&error) != nullptr) {
      findings_.error(Code::E05, next_pointer(),
                      fmt::format("the number {} is out of range", quote(last_token)),
                      "Write a number that a 64-bit fraction can hold.");
      return false;
    }
    report_syntax_error(position, error.what());
    return false;
  }

 private:
  bool leaf(JsonValue::Kind kind, std::string text) {
    JsonValue value;
    value.kind = kind;
    value.text = std::move(text);
    return place(std::move(value));
  }

  bool open(JsonValue::Kind kind) {
    if (stack_.size() == kMaxDepth) {
      // Keys are of any length; the beginning of the pointer tells where to look.
      const std::string pointer = open_pointer();
      findings_.error(Code::E01, std::string(first_bytes(pointer, 200)),
                      fmt::format("nested deeper than {} levels", kMaxDepth),
                      "A topology needs four levels; is this the right file?");
      return false;
    }
    JsonValue value;
    value.kind = kind;
    stack_.push_back(std::move(value));
    return count();
  }

  bool close() {
    JsonValue value = std::move(stack_.back());
    stack_.pop_back();
    attach(std::move(value));
    return true;
  }

  bool place(JsonValue value) {
    attach(std::move(value));
    return count();
  }

  void attach(JsonValue value) {
    if (stack_.empty()) {
      root_ = std::move(value);
    } else {
      stack_.back().items.push_back(std::move(value));
    }
  }

  bool count() {
    if (++values_ <= kMaxValues) return true;
    findings_.error(Code::E15, "",
                    fmt::format("the file holds more than {} JSON values", kMaxValues),
                    "Describe repeated parts with ranges, templates and boxes.");
    return false;
  }

  // The pointer of the innermost open container.
  [[nodiscard]] std::string open_pointer() const {
    std::string pointer;
    for (std::size_t level = 1; level < stack_.size(); ++level) {
      pointer += child_token(stack_[level - 1]);
    }
    return pointer;
  }

  // The pointer of the value that would come next.
  [[nodiscard]] std::string next_pointer() const {
    return stack_.empty() ? "" : open_pointer() + child_token(stack_.back());
  }

  static std::string child_token(const JsonValue& container) {
    return "/" + (container.kind == JsonValue::Kind::object
                      ? pointer_token(container.keys.back())
                      : std::to_string(container.items.size()));
  }

  void report_duplicate_keys(const JsonValue& object) {
    std::vector<std::size_t> by_key(object.keys.size());
    std::iota(by_key.begin(), by_key.end(), std::size_t{0});
    std::stable_sort(by_key.begin(), by_key.end(),
                     [&](std::size_t a, std::size_t b) { return object.keys[a] < object.keys[b]; });
    for (std::size_t i = 1; i < by_key.size(); ++i) {
      const std::string& name = object.keys[by_key[i]];
      if (name != object.keys[by_key[i - 1]]) continue;
      findings_.error(Code::E01, open_pointer() + "/" + pointer_token(name),
                      fmt::format("the key {} stands twice in one object", quote(name)),
                      "Remove or rename one of the two.");
    }
  }

  void report_syntax_error(std::size_t position, std::string_view what) {
    const std::size_t at = position == 0 ? 0 : position - 1;
    if (at >= text_.size() || what.find("unexpected end of input") != std::string_view::npos) {
      findings_.error(Code::E01, line_and_column(text_, text_.size()),
                      "not JSON: the file ends in the middle of a value",
                      "The file looks truncated; write or copy it again.");
      return;
    }
    // The parser's reason alone, without its prefix and without its copy of the text.
    const std::size_t dash = what.find(" - ");
    if (dash != std::string_view::npos) what.remove_prefix(dash + 3);
    const std::size_t copy = what.find("; last read: ");
    const std::string_view reason = what.substr(0, std::min(copy, std::size_t{160}));
    findings_.error(
        Code::E01, line_and_column(text_, at),
        fmt::format("not JSON: {}, at {}", reason, quote(excerpt_around(text_, at))),
        "Correct the text there; NaN, Infinity, comments and trailing commas are not JSON.");
  }

  std::string_view text_;
  Findings& findings_;
  JsonValue root_;
  std::vector<JsonValue> stack_;
  std::size_t values_ = 0;
};

}  // namespace

const JsonValue* JsonValue::find(std::string_view key) const {
  const auto found = std::find(keys.begin(), keys.end(), key);
  return found == keys.end() ? nullptr : &items[static_cast<std::size_t>(found - keys.begin())];
}

std::string quote_json(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string describe(const JsonValue& value) {
  switch (value.kind) {
    case JsonValue::Kind::string:
      return quote(value.text);
    case JsonValue::Kind::array:
      return value.items.empty() ? "an empty array" : "an array";
    case JsonValue::Kind::object:
      return "an object";
    case JsonValue::Kind::number:
      return value.text.size() <= 40 ? value.text : value.text.substr(0, 40) + "…";
    case JsonValue::Kind::null:
    case JsonValue::Kind::boolean:
      break;
  }
  return value.text;
}

std::string pointer_token(std::string_view key) {
  std::string token;
  const std::string_view shown = first_bytes(key, kMaxPointerToken);
  for (const char c : shown) {
    if (c == '~') {
      token += "~0";
    } else if (c == '/') {
      token += "~1";
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) {
      token += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      token += c;
    }
  }
  return shown.size() < key.size() ? token + "…" : token;
}

std::string Place::pointer() const {
  if (parent_ == nullptr) return "";
  return parent_->pointer() + "/" + (is_index_ ? std::to_string(index_) : pointer_token(key_));
}

std::optional<JsonValue> parse_json(std::string_view text, Findings& findings) {
  if (!check_encoding(text, findings)) return std::nullopt;
  TreeBuilder builder(text, findings);
  if (!nlohmann::json::sax_parse(text.begin(), text.end(), &builder)) return std::nullopt;
  return builder.take();
}

}  // namespace forestcoll::topology
