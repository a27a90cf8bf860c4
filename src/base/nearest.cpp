#include "forestcoll/nearest.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/words.hpp"

namespace forestcoll {

std::optional<std::size_t> edit_distance(std::string_view a, std::string_view b,
                                         std::size_t limit) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() - a.size() > limit) return std::nullopt;
  if (a.empty()) return b.size();
  // One row of the usual table, kept only within `limit` of the diagonal.
  const std::size_t far = limit + 1;
  std::vector<std::size_t> row(a.size() + 1);
  for (std::size_t i = 0; i <= a.size(); ++i) row[i] = std::min(i, far);
  for (std::size_t j = 1; j <= b.size(); ++j) {
    const std::size_t low = j > limit ? j - limit : 1;
    const std::size_t high = std::min(a.size(), j + limit);
    std::size_t diagonal = row[low - 1];
    row[low - 1] = low == 1 ? std::min(j, far) : far;
    if (high == j + limit) row[high] = far;
    std::size_t least = row[low - 1];
    for (std::size_t i = low; i <= high; ++i) {
      const std::size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[i];
      row[i] = std::min({replaced, row[i] + 1, row[i - 1] + 1, far});
      least = std::min(least, row[i]);
    }
    if (least > limit) return std::nullopt;
  }
  return row[a.size()] <= limit ? std::optional(row[a.size()]) : std::nullopt;
}

namespace {

// "box0/nic3", where "nic3" is wanted.
bool names_last_part(std::string_view candidate, std::string_view part) {
  return !part.empty() && candidate.ends_with(part) && candidate.size() > part.size() &&
         candidate[candidate.size() - part.size() - 1] == '/';
}

constexpr std::size_t kLeastPart = 4, kLeastBegin = 3;  // characters

// "--output", of which "--out" is the beginning, or "synth", with which "synthesise" begins.
bool begins_alike(std::string_view candidate, std::string_view word) {
  const std::size_t shorter = std::min(candidate.size(), word.size());
  const std::size_t longer = std::max(candidate.size(), word.size());
  return shorter >= kLeastPart && longer <= 2 * shorter &&
         candidate.substr(0, shorter) == word.substr(0, shorter);
}

// "double-tree", where "tree" is meant, or "simulate", where "sim" is.
bool has_part(std::string_view candidate, std::string_view word) {
  if (word.size() >= kLeastBegin && candidate.starts_with(word)) return true;
  const std::size_t at = candidate.find(word);
  if (word.size() < kLeastPart || at == std::string_view::npos) return false;
  const std::size_t end = at + word.size();
  return at > 0 && (candidate[at - 1] == '-' && (end == candidate.size() || candidate[end] == '-'));
}

// "check", where "chk" is meant: in order, and most of the consonants, without any vowel.
bool has_consonants(std::string_view candidate, std::string_view word) {
  constexpr std::string_view kVowels = "aeiou";
  if (word.size() < kLeastBegin || !candidate.starts_with(word.front())) return false;
  std::size_t consonants = 0, matched = 0;
  for (const char c : candidate) {
    if (kVowels.find(c) != std::string_view::npos) continue;
    ++consonants;
    if (matched < word.size() && c == word[matched]) ++matched;
  }
  return matched == word.size() && 4 * matched >= 3 * consonants;
}

}  // namespace

// One slip in a short word, two (such as two letters exchanged) or three in a longer one.
NearestText::NearestText(std::string_view wanted)
    : wanted_(lower_case(wanted)),
      limit_(wanted.size() < 4   ? 1
             : wanted.size() < 9 ? 2
                                 : 3) {}

void NearestText::offer(std::string_view candidate) {
  const std::string lower = lower_case(candidate);
  if (limit_ > 0 && names_last_part(lower, wanted_)) {
    best_ = candidate;
    limit_ = 0;
    return;
  }
  if (begun_.empty() && begins_alike(lower, wanted_)) begun_ = candidate;
  if (with_part_.empty() && (has_part(lower, wanted_) || has_consonants(lower, wanted_))) {
    with_part_ = candidate;
  }
  // Once something was found, only something nearer replaces it.
  if (!best_.empty() && limit_ == 0) return;
  const auto distance = edit_distance(wanted_, lower, best_.empty() ? limit_ : limit_ - 1);
  if (!distance) return;
  best_ = candidate;
  limit_ = *distance;
}

std::string_view NearestText::best() const {
  const bool is_one_slip = !best_.empty() && limit_ <= 1;
  if (is_one_slip) return best_;
  if (!begun_.empty()) return begun_;
  return best_.empty() ? with_part_ : best_;
}

}  // namespace forestcoll
