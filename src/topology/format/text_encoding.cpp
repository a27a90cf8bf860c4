#include "topology/format/text_encoding.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace forestcoll::topology {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";  // in UTF-8

unsigned byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

bool is_continuation(unsigned byte) {
  return (byte & 0xC0U) == 0x80U;
}

// The number of bytes of the character that begins at `at`, 0 where there is no valid one (Unicode
// standard, table 3-7: no overlong forms, no surrogates, nothing above U+10FFFF).
std::size_t character_length(std::string_view text, std::size_t at) {
  const unsigned first = byte_at(text, at);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xC2 && first <= 0xDF   ? 2
                             : first >= 0xE0 && first <= 0xEF ? 3
                             : first >= 0xF0 && first <= 0xF4 ? 4
                                                              : 0;
  if (length == 0 || at + length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if (!is_continuation(byte_at(text, at + i))) return 0;
  }
  const unsigned second = byte_at(text, at + 1);
  const bool malformed = (first == 0xE0 && second < 0xA0) || (first == 0xED && second > 0x9F) ||
                         (first == 0xF0 && second < 0x90) || (first == 0xF4 && second > 0x8F);
  return malformed ? 0 : length;
}

// By its mark, or as every other byte of ASCII in UTF-16 is 0.
bool is_utf16(std::string_view text) {
  if (text.starts_with("\xFF\xFE") || text.starts_with("\xFE\xFF")) return true;
  constexpr std::size_t kLooked = 4;
  if (text.size() < kLooked) return false;
  const bool first = text[0] == '\0', second = text[1] == '\0';
  return first != second && (text[2] == '\0') == first && (text[3] == '\0') == second;
}

// The bytes of the control character or non-character that begins at `at`, 0 where there is none.
std::size_t control_length(std::string_view text, std::size_t at, std::string_view allowed) {
  const unsigned first = byte_at(text, at);
  if (first < 0x20 || first == 0x7F)
    return allowed.find(text[at]) == std::string_view::npos ? 1 : 0;
  const std::string_view rest = text.substr(at);
  if (first == 0xC2 && rest.size() > 1 && byte_at(rest, 1) < 0xA0) return 2;
  return rest.starts_with("\xEF\xBF\xBE") || rest.starts_with("\xEF\xBF\xBF") ? 3 : 0;
}

unsigned code_point(std::string_view control) {
  if (control.size() == 3) return byte_at(control, 2) == 0xBE ? 0xFFFE : 0xFFFF;
  return byte_at(control, control.size() - 1);  // U+0080 to U+009F are their second byte
}

}  // namespace

bool check_encoding(std::string_view text, Findings& findings) {
  if (text.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    findings.error(Code::E01, "", "the file is empty",
                   "Give a topology file, or one of the formats that are imported.");
    return false;
  }
  if (is_utf16(text)) {
    findings.error(Code::E01, "1:1", "the text is in UTF-16",
                   "Save it as UTF-8; editors of Windows call UTF-16 \"Unicode\".");
    return false;
  }
  if (text.starts_with(kByteOrderMark)) {
    findings.error(Code::E01, "1:1", "the file begins with a byte-order mark",
                   "Save it as UTF-8 without a byte-order mark.");
    return false;
  }
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = character_length(text, at);
    if (length == 0 || text[at] == '\0') {
      findings.error(Code::E01, line_and_column(text, at),
                     fmt::format("not text: found the byte 0x{:02x}", byte_at(text, at)),
                     "A topology is text in UTF-8; is this a binary or compressed file?");
      return false;
    }
    at += length;
  }
  return true;
}

std::string_view without_byte_order_mark(std::string_view text) {
  return text.substr(text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0);
}

std::string line_and_column(std::string_view text, std::size_t offset) {
  const std::string_view before = text.substr(0, offset);
  const auto lines = std::count(before.begin(), before.end(), '\n');
  const std::size_t newline = before.rfind('\n');
  const std::size_t column = newline == std::string_view::npos ? offset : offset - newline - 1;
  return fmt::format("{}:{}", lines + 1, column + 1);
}

std::string_view excerpt_around(std::string_view text, std::size_t offset) {
  constexpr std::size_t kBefore = 10, kAfter = 20;
  const std::size_t newline = text.substr(0, offset).rfind('\n');
  const std::size_t line = newline == std::string_view::npos ? 0 : newline + 1;
  std::size_t begin = std::max(line, offset < kBefore ? 0 : offset - kBefore);
  while (begin < offset && is_continuation(byte_at(text, begin))) ++begin;
  const std::size_t end = std::min(text.find_first_of("\r\n", offset), text.size());
  return first_bytes(text.substr(begin, end - begin), offset - begin + kAfter);
}

std::optional<std::string> find_control(std::string_view text, std::string_view allowed) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t length = control_length(text, at, allowed);
    if (length > 0) return fmt::format("U+{:04X}", code_point(text.substr(at, length)));
  }
  return std::nullopt;
}

std::string without_controls(std::string_view text, std::string_view allowed) {
  std::string plain;
  bool in_run = false;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t length = control_length(text, at, allowed);
    if (length > 0 && !in_run) plain += ' ';
    if (length == 0) plain += text[at];
    in_run = length > 0;
    at += std::max<std::size_t>(length, 1);
  }
  return plain;
}

std::string_view first_bytes(std::string_view text, std::size_t length) {
  std::size_t end = std::min(length, text.size());
  while (end < text.size() && is_continuation(byte_at(text, end))) ++end;
  return text.substr(0, end);
}

}  // namespace forestcoll::topology
