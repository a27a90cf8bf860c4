// Reading text that is as expected, byte for byte.
#pragma once

#include <array>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string_view>

namespace forestcoll::audit {

/// The bytes of JSON strings that stand for themselves: ASCII without controls, quotes and
/// backslashes.
inline constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (std::size_t c = 0x20; c < 0x80; ++c) plain[c] = c != '"' && c != '\\';
  return plain;
}();

/// A place in a text that moves on over what stands there.
class PlainText {
 public:
  explicit PlainText(std::string_view text)
      : begin_(text.data()), at_(begin_), end_(begin_ + text.size()) {}

  /// How many bytes were taken.
  [[nodiscard]] std::size_t taken() const { return static_cast<std::size_t>(at_ - begin_); }

  /// Takes a literal, if it stands here.
  template <std::size_t Size>
  bool take(const char (&literal)[Size]) {
    return take(std::string_view(literal, Size - 1));
  }
  bool take(std::string_view expected) {
    if (left() < expected.size() || std::memcmp(at_, expected.data(), expected.size()) != 0) {
      return false;
    }
    at_ += expected.size();
    return true;
  }

  /// Takes what is between this place and the next quote, and the quote; nothing where another byte
  /// that does not stand for itself comes first.
  std::optional<std::string_view> take_quoted() {
    const char* const first = at_;
    const char* last = first;
    while (last < end_ && kPlain[static_cast<unsigned char>(*last)]) ++last;
    if (last == end_ || *last != '"') return std::nullopt;
    at_ = last + 1;
    return std::string_view(first, static_cast<std::size_t>(last - first));
  }
  /// The same where that is `expected`; otherwise nothing is taken.
  bool take_quoted(std::string_view expected) {
    if (left() <= expected.size() || at_[expected.size()] != '"') return false;
    if (std::memcmp(at_, expected.data(), expected.size()) != 0) return false;
    at_ += expected.size() + 1;
    return true;
  }

 private:
  [[nodiscard]] std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  const char* begin_;
  const char* at_;
  const char* end_;
};

}  // namespace forestcoll::audit
