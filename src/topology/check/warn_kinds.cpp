// W06: labels of links are free, but a slip of a known one loses its latency, its boxes and its
// checks.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <string>

#include "base/words.hpp"
#include "forestcoll/nearest.hpp"
#include "topology/check/validate.hpp"
#include "topology/model/link_kind.hpp"

namespace forestcoll::topology {
namespace {

// Words of three letters are near too many others.
constexpr std::size_t kLeastLetters = 4;
// These are near a known word, and are no slip of it.
constexpr std::array<std::string_view, 5> kOthers = {"uplink", "core", "links", "hccl", "pcix"};

// "pice" and "pcie": two neighbours are exchanged.
bool exchanges_neighbours(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  std::size_t at = 0;
  while (at < a.size() && a[at] == b[at]) ++at;
  return at + 1 < a.size() && a[at] == b[at + 1] && a[at + 1] == b[at] &&
         a.substr(at + 2) == b.substr(at + 2);
}

// The known word that is one slip away; empty where none is.
std::string_view nearest_kind(std::string_view word) {
  if (word.size() < kLeastLetters || std::ranges::find(kOthers, word) != kOthers.end()) return {};
  for (const std::string_view known : known_kinds()) {
    if (known.size() < kLeastLetters) continue;
    // Short words that differ in one letter are other words: "rope", "roce".
    const bool may_be = word.size() != known.size() || known.size() > kLeastLetters;
    if (exchanges_neighbours(word, known) || (may_be && edit_distance(word, known, 1))) {
      return known;
    }
  }
  return {};
}

// Of a label in which no word is known.
std::string_view meant_kind(std::string_view label) {
  if (reach_of(label) != Reach::unknown) return {};
  for (std::size_t at = 0; at < label.size(); ++at) {
    std::size_t end = at;
    while (end < label.size() && is_letter(label[end])) ++end;
    const auto meant = nearest_kind(lower_case(label.substr(at, end - at)));
    if (!meant.empty()) return meant;
    at = end;
  }
  return {};
}

struct Slip {
  std::string where;
  std::size_t more = 0;
};

}  // namespace

void warn_kinds(const Document& document, Findings& findings) {
  std::map<std::string, Slip> slips;
  const auto check = [&](const Section& section) {
    for (const LinkEntry& entry : section.links) {
      if (meant_kind(entry.kind).empty()) continue;
      const auto [at, is_new] = slips.emplace(entry.kind, Slip{section.where(entry) + "/kind"});
      if (!is_new) ++at->second.more;
    }
  };
  for (const Section& section : document.templates) check(section);
  check(document.top);
  for (const auto& [kind, slip] : slips) {
    const std::string more =
        slip.more == 0 ? "" : fmt::format(", in this and {} more of the links", slip.more);
    findings.warning(
        Code::W06, slip.where,
        fmt::format("unknown kind {}{}: it says nothing of latency and boxes", quote(kind), more),
        fmt::format("Did you mean {}?", quote(meant_kind(kind))));
  }
}

}  // namespace forestcoll::topology
