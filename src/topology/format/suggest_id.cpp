#include "topology/format/suggest_id.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "forestcoll/nearest.hpp"
#include "forestcoll/topology_text.hpp"
#include "topology/model/findings.hpp"

namespace forestcoll::topology {
namespace {

constexpr std::string_view kDigits = "0123456789";

// "gpu" of "gpu4"; all of an id without a number.
std::string_view without_number(std::string_view id) {
  return id.substr(0, id.find_last_not_of(kDigits) + 1);
}

// "gpu[0-3]" for "gpu4"; empty where fewer than two differ in their number alone.
std::string range_like(std::string_view wanted, const std::vector<std::string_view>& ids) {
  const std::string_view name = without_number(wanted);
  if (name.empty() || name == wanted) return "";
  std::vector<std::string> alike;
  for (const std::string_view id : ids) {
    if (id != name && without_number(id) == name) alike.emplace_back(id);
  }
  std::ranges::sort(
      alike, {}, [](const std::string& id) { return std::pair(id.size(), std::string_view(id)); });
  if (alike.size() < 2) return "";
  const std::vector<std::string> lists = compress_ids(alike);
  return lists.size() == 1 ? lists.front() : "";
}

}  // namespace

std::string suggest_id(std::string_view wanted, const std::vector<std::string_view>& ids) {
  const std::string range = range_like(wanted, ids);
  if (!range.empty()) return fmt::format("Of this name there are {}.", quote(range));
  const std::string meant = nearest_word(wanted, ids);
  return meant.empty() ? "" : fmt::format("Did you mean {}?", quote(meant));
}

}  // namespace forestcoll::topology
