#include "forestcoll/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "base/words.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll {
namespace {

constexpr std::int64_t kMaxSize = std::int64_t{1} << 50;
constexpr std::size_t kMaxSizes = 1024;
constexpr std::size_t kShown = 40;  // characters of what was found
constexpr std::string_view kLetters = "kmgt";
constexpr double kLeastWithThreeDecimals = 0.01;

// In the largest unit in which it is a whole number, and that unit's power of 1024.
struct WholeUnits {
  std::int64_t count = 0;
  std::size_t power = 0;
};

WholeUnits in_whole_units(std::int64_t bytes) {
  WholeUnits whole{bytes};
  while (whole.count >= 1024 && whole.count % 1024 == 0 && whole.power < kLetters.size()) {
    whole.count /= 1024;
    ++whole.power;
  }
  return whole;
}

char upper(char c) {
  return static_cast<char>(c - 'a' + 'A');
}

Diagnostic refuse(std::string message) {
  return make_error(Code::M01, std::move(message),
                    "write a range such as 1K:4G or 1K:4G:4, or a list such as 64K,1M,1G",
                    {.where = "sizes"});
}

std::string shown(std::string_view text) {
  return "\"" + std::string(text.substr(0, kShown)) + "\"";
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// Takes the unit off the end; its power of 1024.
int take_unit(std::string_view& text) {
  const auto take = [&](char letter) {
    if (text.empty() || lower(text.back()) != letter) return false;
    text.remove_suffix(1);
    return true;
  };
  const std::string_view whole = text;
  const bool has_b = take('b');
  const bool has_i = has_b && take('i');
  const auto power = text.empty() ? std::string_view::npos : kLetters.find(lower(text.back()));
  if (power != std::string_view::npos) {
    text.remove_suffix(1);
    return static_cast<int>(power) + 1;
  }
  if (has_i) text = whole;  // "iB" of nothing
  return 0;
}

Diagnostic no_size(std::string_view text) {
  return refuse("expected a size from 1 byte to 1024T, found " + shown(text));
}

std::optional<std::int64_t> read_size(std::string_view text) {
  const auto size = parse_size(text);
  return size && *size >= 1 && *size <= kMaxSize ? size : std::nullopt;
}

// FIRST:LAST, FIRST:LAST:FACTOR, or FIRST-LAST.
Expected<void> add_range(std::string_view text, char separator, std::vector<std::int64_t>& sizes) {
  const auto parts = split(text, separator);
  if (parts.size() > (separator == ':' ? 3 : 2)) {
    return refuse("expected FIRST:LAST or FIRST:LAST:FACTOR, found " + shown(text));
  }
  const auto first = read_size(parts[0]);
  const auto last = read_size(parts[1]);
  if (!first) return no_size(parts[0]);
  if (!last) return no_size(parts[1]);
  if (*first > *last) {
    return refuse("the range begins with " + std::string(parts[0]) + ", above its end " +
                  std::string(parts[1]));
  }
  const auto factor = parts.size() == 3 ? read_size(parts[2]) : 2;
  if (!factor || *factor < 2) {
    return refuse("expected a factor from 2 on, found " + shown(parts[2]));
  }
  for (std::int64_t size = *first;; size *= *factor) {
    sizes.push_back(size);
    if (size > *last / *factor) return {};
  }
}

Expected<void> add_item(std::string_view text, std::vector<std::int64_t>& sizes) {
  if (text.find(':') != std::string_view::npos) return add_range(text, ':', sizes);
  if (text.find('-', 1) != std::string_view::npos) return add_range(text, '-', sizes);
  const auto size = read_size(text);
  if (!size) return no_size(text);
  sizes.push_back(*size);
  return {};
}

}  // namespace

std::string number(double value) {
  if (value != 0 && std::abs(value) < kLeastWithThreeDecimals) {
    return fmt::format("{:.6g}", value);
  }
  std::string text = fmt::format("{:.3f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string number(const Ratio& value) {
  std::string rounded = number(value.to_double());
  if (parse_ratio(rounded) == value) return rounded;
  return fmt::format("{} ({})", rounded, value.to_string());
}

std::string counted(std::size_t count, std::string_view singular) {
  if (count == 1) return fmt::format("1 {}", singular);
  return fmt::format("{} {}{}", count, singular, singular.ends_with("ch") ? "es" : "s");
}

std::optional<std::int64_t> parse_size(std::string_view text) {
  const int shift = 10 * take_unit(text);
  if (text.ends_with(' ')) text.remove_suffix(1);  // "64 MiB", as reports have it
  const auto value = natural(text);
  if (!value || text.front() == '-' || *value > (std::numeric_limits<std::int64_t>::max() >> shift))
    return std::nullopt;
  return *value << shift;
}

Expected<std::vector<std::int64_t>> parse_sizes(std::string_view text) {
  std::vector<std::int64_t> sizes;
  for (const std::string_view item : split(text, ',')) {
    if (const auto done = add_item(item, sizes); !done) return done.errors();
    if (sizes.size() > kMaxSizes) {
      return refuse("more than " + std::to_string(kMaxSizes) + " sizes");
    }
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

std::string size_in_words(std::int64_t bytes) {
  const auto [count, power] = in_whole_units(bytes);
  std::string text = std::to_string(count) + " ";
  if (power > 0) text += {upper(kLetters[power - 1]), 'i'};
  return text + "B";
}

std::string size_as_option(std::int64_t bytes) {
  const auto [count, power] = in_whole_units(bytes);
  std::string text = std::to_string(count);
  if (power > 0) text += upper(kLetters[power - 1]);
  return text;
}

std::string xml_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += byte < 0x20 || byte == 0x7f ? '?' : c;
    }
  }
  return escaped;
}

}  // namespace forestcoll
