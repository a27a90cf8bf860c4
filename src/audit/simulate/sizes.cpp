// "1K:4G", "1K:4G:16", "64K,1M,1G".
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>

#include "forestcoll/simulate.hpp"

namespace forestcoll {
namespace {

constexpr std::int64_t kMaxSize = std::int64_t{1} << 50;
constexpr std::size_t kMaxSizes = 1024;
constexpr std::size_t kShown = 40;  // characters of what was found

Diagnostic refuse(std::string message) {
  Diagnostic error;
  error.code = "M01";
  error.where = "sizes";
  error.message = std::move(message);
  error.remedy = "write a range such as 1K:4G or 1K:4G:4, or a list such as 64K,1M,1G";
  return error;
}

// Digits and one of K, M, G, T; nothing where it is not that, is 0 or is above the limit.
std::optional<std::int64_t> read_size(std::string_view text) {
  std::int64_t unit = 1;
  constexpr std::string_view units = "KMGT";
  if (!text.empty()) {
    const char last = text.back();
    const std::size_t power =
        units.find(last >= 'a' && last <= 'z' ? char(last - 'a' + 'A') : last);
    if (power != std::string_view::npos) {
      unit = std::int64_t{1} << (10 * (power + 1));
      text.remove_suffix(1);
    }
  }
  if (text.empty() || text.size() > 16) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  if (value < 1 || value > kMaxSize / unit) return std::nullopt;
  return value * unit;
}

Diagnostic no_size(std::string_view text) {
  return refuse(
      fmt::format("expected a size from 1 byte to 1024T, found \"{}\"", text.substr(0, kShown)));
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Expected<std::vector<std::int64_t>> read_range(std::string_view text) {
  const auto parts = split(text, ':');
  if (parts.size() > 3) {
    return refuse(fmt::format("expected FIRST:LAST or FIRST:LAST:FACTOR, found \"{}\"",
                              text.substr(0, kShown)));
  }
  const auto first = read_size(parts[0]);
  const auto last = read_size(parts[1]);
  if (!first) return no_size(parts[0]);
  if (!last) return no_size(parts[1]);
  if (*first > *last) {
    return refuse(fmt::format("the range begins with {}, above its end {}", parts[0], parts[1]));
  }
  const auto factor = parts.size() == 3 ? read_size(parts[2]) : 2;
  if (!factor || *factor < 2) {
    return refuse(
        fmt::format("expected a factor from 2 on, found \"{}\"", parts[2].substr(0, kShown)));
  }
  std::vector<std::int64_t> sizes;
  for (std::int64_t size = *first;; size *= *factor) {
    sizes.push_back(size);
    if (size > *last / *factor) return sizes;
  }
}

}  // namespace

Expected<std::vector<std::int64_t>> parse_sizes(std::string_view text) {
  if (text.find(':') != std::string_view::npos) return read_range(text);
  std::vector<std::int64_t> sizes;
  for (const std::string_view part : split(text, ',')) {
    const auto size = read_size(part);
    if (!size) return no_size(part);
    sizes.push_back(*size);
    if (sizes.size() > kMaxSizes) return refuse(fmt::format("more than {} sizes", kMaxSizes));
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

}  // namespace forestcoll
