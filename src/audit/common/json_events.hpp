// What the readers of JSON files share: they take the parser's events one by one, with a stack of
// what the text is inside of, and never hold a document.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "audit/common/findings.hpp"
#include "audit/common/line_index.hpp"
#include "audit/common/scan_json.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::audit {

inline constexpr std::size_t kMaxJsonDepth = 64;
inline constexpr std::size_t kMaxJsonKeys = 256;  ///< of one object

/// What should stand inside of a place: under these keys, words between blanks, or, where there are
/// none, as an element.
template <class Inside>
struct JsonField {
  Inside inside;
  std::string_view keys, expected;  ///< `expected` empty: anything
  [[nodiscard]] bool has(Inside place, std::string_view key) const {
    if (place != inside) return false;
    for (std::string_view rest = keys; !rest.empty();) {
      const std::string_view word = rest.substr(0, rest.find(' '));
      if (word == key) return true;
      rest.remove_prefix(std::min(rest.size(), word.size() + 1));
    }
    return keys.empty();
  }
};

/// Base of a Reader. `Inside` lists the places that a value can stand in; its first enumerator is
/// the place outside of everything. A Reader adds `string`, `start_object` and `start_array`, which
/// push a place, `number`, `location` (for errors: ", in …", or nothing), and `kFields` with
/// `where` (the place of a finding), or `other` (a value of any other type, in words), and hides
/// the events that it treats differently. What stands inside of `Inside::skipped` is not looked at.
/// Every event returns whether to read on.
template <class Reader, class Inside>
class JsonEvents {
 public:
  JsonEvents(std::string_view text, std::string_view file, Findings& findings)
      : findings_(findings), text_(text), file_(file) {}

  /// Why reading ended before the end of the text.
  [[nodiscard]] const Expected<void>& ended() const { return ended_; }

  // The events, as JsonScanner sends them.
  bool null() { return reader().other("null"); }
  bool boolean(bool value) { return reader().other(value ? "true" : "false"); }
  bool number_integer(std::int64_t value) { return reader().number(value); }
  bool number_unsigned(std::uint64_t value) {
    if (value > static_cast<std::uint64_t>(INT64_MAX)) return reader().other("a huge number");
    return reader().number(static_cast<std::int64_t>(value));
  }
  bool number_float(std::string_view text) { return reader().other(text); }
  // Readers take the first or the last of two equal keys, so a file with two means nothing.
  bool key(std::string_view value) {
    key_ = lasting(value);
    if (inside() == Inside::skipped) return true;
    const auto first = keys_.begin() + static_cast<std::ptrdiff_t>(first_keys_.back());
    if (std::find(first, keys_.end(), key_) != keys_.end()) {
      return refuse(fmt::format("the key \"{}\" stands twice in one object{}", value.substr(0, 40),
                                reader().location()),
                    "leave one of the two out, or give it a name of its own");
    }
    if (keys_.end() - first == kMaxJsonKeys) {
      return refuse(
          fmt::format("more than {} keys in one object{}", kMaxJsonKeys, reader().location()));
    }
    keys_.push_back(key_);
    return true;
  }
  // A value that is of no use where it stands: a finding if something else was expected there.
  bool other(std::string_view found) {
    if (stack_.empty()) return refuse("expected an object");
    const JsonField<Inside>* field = known_field(key_);
    if (field == nullptr || field->expected.empty()) return true;
    findings_.add(
        Rule::attribute, reader().where(),
        fmt::format("{}: expected {}, found {}", key_, field->expected, found.substr(0, 40)));
    return true;
  }
  bool end_object() {
    pop();
    return true;
  }
  bool end_array() {
    pop();
    return true;
  }
  /// The text is no JSON from this offset on.
  void not_json(std::size_t offset) {
    ended_ = file_error(file_, LineIndex(text_).position(std::min(offset, text_.size())),
                        "not well-formed JSON", "the file may be truncated");
  }

 protected:
  [[nodiscard]] Inside inside() const { return stack_.empty() ? Inside{} : stack_.back(); }
  [[nodiscard]] std::size_t depth() const { return stack_.size(); }
  bool push(Inside next) {
    if (stack_.size() == kMaxJsonDepth) {
      return refuse(fmt::format("nested more than {} levels deep", kMaxJsonDepth));
    }
    stack_.push_back(next);
    first_keys_.push_back(keys_.size());
    return true;
  }
  void pop() {
    stack_.pop_back();
    keys_.resize(first_keys_.back());
    first_keys_.pop_back();
  }
  [[nodiscard]] const JsonField<Inside>* known_field(std::string_view key) const {
    for (const JsonField<Inside>& field : Reader::kFields) {
      if (field.has(inside(), key)) return &field;
    }
    return nullptr;
  }
  bool refuse(std::string message,
              std::string remedy = "make the file again: forestcoll writes no such file") {
    ended_ = file_error(file_, "", std::move(message), std::move(remedy));
    return false;
  }

  Findings& findings_;
  std::string_view key_;

 private:
  Reader& reader() { return static_cast<Reader&>(*this); }
  // Keys with escapes are no views of the text.
  std::string_view lasting(std::string_view key) {
    const bool in_text = !std::less<>()(key.data(), text_.data()) &&
                         !std::less<>()(text_.data() + text_.size(), key.data());
    return in_text ? key : std::string_view(decoded_keys_.emplace_back(key));
  }

  std::string_view text_;
  std::string_view file_;
  Expected<void> ended_;
  std::vector<Inside> stack_;
  std::vector<std::string_view> keys_;   // of the objects around this place, one after the other
  std::vector<std::size_t> first_keys_;  // where those of each begin
  std::deque<std::string> decoded_keys_;
};

/// What a Reader takes of all of `text`. Errors: not JSON (with line:column), or what it refuses.
template <class Reader>
[[nodiscard]] auto read_json(std::string_view text, std::string_view file, Findings& findings)
    -> Expected<decltype(std::declval<Reader>().take())> {
  Reader reader(text, file, findings);
  if (const auto offset = JsonScanner(text, reader).run()) reader.not_json(*offset);
  if (!reader.ended()) return reader.ended().errors();
  return reader.take();
}

}  // namespace forestcoll::audit
