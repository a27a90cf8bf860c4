#include "common/report/condensed.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace forestcoll::cli {
namespace {

constexpr std::size_t kMostWhole = 3;
constexpr std::size_t kMostPlaces = 3;

bool is_of_a_kind(const Diagnostic& finding) {
  return finding.severity == Severity::warning && finding.code &&
         info_of(*finding.code).about == About::topology_file;
}

// What is not shown of a kind.
struct Rest {
  std::size_t met = 0, count = 0;
  std::vector<std::string> places;
};

Diagnostic line_of(const Rest& rest, const Diagnostic& like) {
  std::string places;
  if (!rest.places.empty()) {
    places = fmt::format(", at {}{}", fmt::join(rest.places, ", "),
                         rest.places.size() < rest.count ? ", …" : "");
  }
  return {.code = like.code,
          .severity = Severity::warning,
          .kind = like.kind,
          .file = like.file,
          .where = "",
          .message = fmt::format("and {} more of this kind{}", rest.count, places),
          .remedy = "--verbose lists them."};
}

}  // namespace

Diagnostics condensed(const Diagnostics& findings) {
  std::map<std::pair<std::string, std::optional<Code>>, Rest> rests;  // by file and code
  for (const Diagnostic& finding : findings) {
    if (!is_of_a_kind(finding)) continue;
    Rest& rest = rests[{finding.file, finding.code}];
    if (++rest.met <= kMostWhole) continue;
    rest.count += std::max<std::size_t>(finding.counted, 1);
    const bool is_place = finding.counted == 0 && !finding.where.empty();
    if (is_place && rest.places.size() < kMostPlaces) rest.places.push_back(finding.where);
  }
  Diagnostics shown;
  std::map<std::pair<std::string, std::optional<Code>>, std::size_t> met;
  for (const Diagnostic& finding : findings) {
    if (!is_of_a_kind(finding)) {
      shown.push_back(finding);
      continue;
    }
    const std::pair key(finding.file, finding.code);
    const std::size_t number = ++met[key];
    if (number <= kMostWhole) shown.push_back(finding);
    if (number == kMostWhole && rests[key].count > 0) {
      shown.push_back(line_of(rests[key], finding));
    }
  }
  return shown;
}

}  // namespace forestcoll::cli
