#include "topology/readers/context.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace forestcoll::importing {

std::string Context::place(std::size_t offset) const {
  offset = std::min(offset, text.size());
  if (offset < cursor.offset) cursor = {};
  for (; cursor.offset < offset; ++cursor.offset) {
    if (text[cursor.offset] != '\n') continue;
    ++cursor.line;
    cursor.line_start = cursor.offset + 1;
  }
  return fmt::format("{}:{}", cursor.line, offset - cursor.line_start + 1);
}

std::optional<Ratio> Context::overridden(std::string_view kind) const {
  for (const auto& [name, bandwidth] : options.bandwidths) {
    if (name == kind) return bandwidth;
  }
  return std::nullopt;
}

bool Context::nccl_constants() const {
  if (options.constants != LinkConstants::by_source) {
    return options.constants == LinkConstants::nccl;
  }
  return source == Source::nccl;
}

std::string shown(const Ratio& value) {
  std::string text = fmt::format("{:.3f}", value.to_double());
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

std::string listed(const std::vector<std::string>& names) {
  constexpr std::size_t kMost = 6;
  std::string text;
  for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) {
    if (i > 0) text += ", ";
    text += names[i];
  }
  if (names.size() > kMost) text += fmt::format(" and {} more", names.size() - kMost);
  return text;
}

}  // namespace forestcoll::importing
