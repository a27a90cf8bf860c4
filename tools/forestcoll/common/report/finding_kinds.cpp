#include "common/report/finding_kinds.hpp"

#include <fmt/format.h>

#include <map>

#include "common/report/flags.hpp"

namespace forestcoll::cli {
namespace {

// 1,023
std::string with_commas(std::size_t number) {
  std::string text = std::to_string(number);
  for (std::size_t at = text.size(); at > 3;) text.insert(at -= 3, 1, ',');
  return text;
}

// What errors of one kind have in common: the code, and the message but for its numbers.
std::string kind_of(const Diagnostic& finding) {
  std::string kind(finding.code ? name_of(*finding.code) : "");
  for (const char c : finding.message) {
    if (c < '0' || c > '9') kind += c;
  }
  return kind;
}

}  // namespace

std::vector<FindingKind> kinds_of(const Diagnostics& findings) {
  std::vector<FindingKind> kinds;
  std::map<std::string, std::size_t> place_of;
  for (const Diagnostic& finding : findings) {
    const auto [at, is_new] = place_of.try_emplace(kind_of(finding), kinds.size());
    if (is_new) kinds.push_back({finding, 0});
    ++kinds[at->second].count;
  }
  return kinds;
}

std::string text_of_kinds(const Diagnostics& findings) {
  std::string text;
  for (const auto& [first, count] : kinds_of(findings)) {
    text += to_string(with_flags(first)) + "\n";
    if (count > 1) text += fmt::format("  … and {} more like it\n", with_commas(count - 1));
  }
  return text;
}

}  // namespace forestcoll::cli
