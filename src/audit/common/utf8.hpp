// UTF-8 (RFC 3629), byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace forestcoll::audit {

/// How many bytes the character has that the text begins with; 0 where it is none: a control
/// character below U+0020, a byte sequence that is cut off or longer than needed, a surrogate, or
/// beyond U+10FFFF.
[[nodiscard]] inline std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) {
    return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U;
  };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xC0U) == 0x80; };
  const unsigned first = byte(0), second = byte(1);
  if (first >= 0x20 && first < 0x80) return 1;
  if (first >= 0xC2 && first < 0xE0) return follows(1) ? 2 : 0;
  if (first >= 0xE0 && first < 0xF0) {
    const bool too_long = first == 0xE0 && second < 0xA0;
    const bool surrogate = first == 0xED && second >= 0xA0;
    return follows(1) && follows(2) && !too_long && !surrogate ? 3 : 0;
  }
  if (first >= 0xF0 && first < 0xF5) {
    const bool too_long = first == 0xF0 && second < 0x90;
    const bool beyond = first == 0xF4 && second >= 0x90;
    return follows(1) && follows(2) && follows(3) && !too_long && !beyond ? 4 : 0;
  }
  return 0;
}

/// REQUIRES: `code` is a character's, and no surrogate's.
inline void append_utf8(std::uint32_t code, std::string& text) {
  const auto add = [&](std::uint32_t byte) { text += static_cast<char>(byte); };
  const auto add_rest = [&](int shift) { add(0x80 | (code >> shift & 0x3F)); };
  if (code < 0x80) {
    add(code);
  } else if (code < 0x800) {
    add(0xC0 | code >> 6);
    add_rest(0);
  } else if (code < 0x10000) {
    add(0xE0 | code >> 12);
    add_rest(6);
    add_rest(0);
  } else {
    add(0xF0 | code >> 18);
    add_rest(12);
    add_rest(6);
    add_rest(0);
  }
}

}  // namespace forestcoll::audit
