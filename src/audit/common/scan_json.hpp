// JSON (RFC 8259) as a stream of events over a text in memory.
//
// A forest of a thousand GPUs is a hundred megabytes of short strings. A general parser copies
// every one of them, byte by byte; here a string without escapes is a view of the text, so that
// nothing is held but the brackets that are open. The tests compare it with nlohmann's parser on
// every byte-wise change of their files.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/common/plain_text.hpp"
#include "audit/common/utf8.hpp"

namespace forestcoll::audit {

/// A Handler has `null()`, `boolean(bool)`, `number_integer(std::int64_t)` (with a sign),
/// `number_unsigned(std::uint64_t)`, `number_float(text)` (a fraction, an exponent, or beyond 64
/// bits), `string(text)`, `start_object()`, `key(text)`, `end_object()`, `start_array()` and
/// `end_array()`, each of which returns whether to go on. Texts are views of the scanned text;
/// those that had escapes in them hold until the next event.
///
/// A handler of files of one kind may also have `whole_value(text)`, which is shown the text from
/// the first byte of a value on: how many bytes it took, all of a value that it knows, or 0. That
/// is for values that come by the million, and are written alike.
template <class Handler>
class JsonScanner {
 public:
  JsonScanner(std::string_view text, Handler& handler) : text_(text), handler_(handler) {}

  /// The offset of what no JSON text has there; nothing where all was read or the handler ended it.
  /// Cost: O(bytes); memory: a byte per open bracket.
  std::optional<std::size_t> run() {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    if (value()) {
      skip_blanks();
      if (at_ == text_.size()) return std::nullopt;
      error_ = at_;
    }
    return error_;
  }

 private:
  [[nodiscard]] char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  bool fail() {
    error_ = at_;
    return false;
  }

  void skip_blanks() {
    while (at_ < text_.size() &&
           (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\r' || text_[at_] == '\t')) {
      ++at_;
    }
  }

  // Takes `c` after blanks, if it stands there.
  bool take(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  // One value and all that is inside of it, without recursion.
  bool value() {
    std::vector<char> open;
    for (;;) {
      skip_blanks();
      if (whole_value()) {
        // It was read by the handler.
      } else if (next() == '{' || next() == '[') {
        open.push_back(text_[at_++]);
        const bool object = open.back() == '{';
        if (!(object ? handler_.start_object() : handler_.start_array())) return false;
        if (!take(object ? '}' : ']')) {
          if (object && !key()) return false;
          continue;
        }
        if (!close(open)) return false;
      } else if (!scalar()) {
        return false;
      }
      while (!open.empty() && !take(',')) {
        if (!take(open.back() == '{' ? '}' : ']')) return fail();
        if (!close(open)) return false;
      }
      if (open.empty()) return true;
      if (open.back() == '{' && !key()) return false;
    }
  }

  bool whole_value() {
    if constexpr (requires { handler_.whole_value(text_); }) {
      const std::size_t taken = handler_.whole_value(text_.substr(at_));
      at_ += taken;
      return taken > 0;
    }
    return false;
  }

  bool close(std::vector<char>& open) {
    const bool object = open.back() == '{';
    open.pop_back();
    return object ? handler_.end_object() : handler_.end_array();
  }

  bool key() {
    skip_blanks();
    const auto text = quoted();
    if (!text || !handler_.key(*text)) return false;
    return take(':') || fail();
  }

  bool scalar() {
    switch (next()) {
      case '"': {
        const auto text = quoted();
        return text && handler_.string(*text);
      }
      case 't':
        return word("true") && handler_.boolean(true);
      case 'f':
        return word("false") && handler_.boolean(false);
      case 'n':
        return word("null") && handler_.null();
      default:
        return number();
    }
  }

  bool word(std::string_view expected) {
    for (const char c : expected) {
      if (next() != c) return fail();
      ++at_;
    }
    return true;
  }

  bool digits() {
    const std::size_t begin = at_;
    while (next() >= '0' && next() <= '9') ++at_;
    return at_ > begin || fail();
  }

  bool number() {
    const std::size_t begin = at_;
    bool whole = true;
    if (next() == '-') ++at_;
    if (next() == '0') {
      ++at_;
    } else if (!digits()) {
      return false;
    }
    if (next() == '.') {
      whole = false;
      ++at_;
      if (!digits()) return false;
    }
    if (next() == 'e' || next() == 'E') {
      whole = false;
      ++at_;
      if (next() == '+' || next() == '-') ++at_;
      if (!digits()) return false;
    }
    return send_number(text_.substr(begin, at_ - begin), whole);
  }

  bool send_number(std::string_view text, bool whole) {
    const char* const end = text.data() + text.size();
    if (whole && text.front() == '-') {
      std::int64_t number = 0;
      if (std::from_chars(text.data(), end, number).ec == std::errc()) {
        return handler_.number_integer(number);
      }
    } else if (whole) {
      std::uint64_t number = 0;
      if (std::from_chars(text.data(), end, number).ec == std::errc()) {
        return handler_.number_unsigned(number);
      }
    }
    return handler_.number_float(text);
  }

  // A string with its quotes; what is between them.
  std::optional<std::string_view> quoted() {
    if (next() != '"') return fail(), std::nullopt;
    const std::size_t begin = ++at_;
    while (at_ < text_.size() && kPlain[static_cast<unsigned char>(text_[at_])]) ++at_;
    if (next() == '"') return text_.substr(begin, at_++ - begin);
    decoded_.assign(text_, begin, at_ - begin);
    return decode() ? std::optional<std::string_view>(decoded_) : std::nullopt;
  }

  // The rest of a string that is not all plain, up to and with its closing quote.
  bool decode() {
    while (next() != '"') {
      if (next() == '\\') {
        ++at_;
        if (!escape()) return false;
      } else if (const std::size_t length = utf8_length(text_.substr(at_)); length > 0) {
        decoded_.append(text_, at_, length);
        at_ += length;
      } else {
        return fail();
      }
    }
    ++at_;
    return true;
  }

  bool escape() {
    constexpr std::string_view kLetters = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
    if (at_ == text_.size()) return fail();
    if (const auto i = kLetters.find(text_[at_]); i != std::string_view::npos) {
      decoded_ += kMeanings[i];
      ++at_;
      return true;
    }
    if (text_[at_] != 'u') return fail();
    ++at_;
    const auto first = four_digits();
    if (!first) return false;
    std::uint32_t code = *first;
    if (code >= 0xD800 && code < 0xDC00) {
      if (!word("\\u")) return false;
      const auto second = four_digits();
      if (!second) return false;
      if (*second < 0xDC00 || *second >= 0xE000) return fail();
      code = 0x10000 + ((code - 0xD800) << 10) + (*second - 0xDC00);
    } else if (code >= 0xDC00 && code < 0xE000) {
      return fail();
    }
    append_utf8(code, decoded_);
    return true;
  }

  std::optional<std::uint32_t> four_digits() {
    if (text_.size() - at_ < 4) {
      at_ = text_.size();
      return fail(), std::nullopt;
    }
    const char* const begin = text_.data() + at_;
    std::uint32_t code = 0;
    const auto [end, error] = std::from_chars(begin, begin + 4, code, 16);
    at_ += static_cast<std::size_t>(end - begin);
    if (error != std::errc() || end != begin + 4) return fail(), std::nullopt;
    return code;
  }

  std::string_view text_;
  Handler& handler_;
  std::size_t at_ = 0;
  std::optional<std::size_t> error_;
  std::string decoded_;
};

}  // namespace forestcoll::audit
