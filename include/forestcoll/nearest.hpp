// "Did you mean …?": the nearest of several names.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace forestcoll {

/// The edit distance (insert, delete, replace) of two texts where it is at most `limit`; nothing
/// where it is more. Cost: O(limit × length).
[[nodiscard]] std::optional<std::size_t> edit_distance(std::string_view a, std::string_view b,
                                                       std::size_t limit);

/// Finds the nearest of the candidates that it is offered; the first of equals. Capital letters do
/// not count. Nearest of all is an id of which it is the last part, as "nic3" is of "box0/nic3".
/// Two slips are further than an ending that one of the two lacks, as "--out" of "--output", or
/// "synth" of "synthesise". Where none is near, it is the first name that has it as a part, as
/// "double-tree" has "tree", or of whose consonants it has most, as "chk" has of "check".
class NearestText {
 public:
  explicit NearestText(std::string_view wanted);
  void offer(std::string_view candidate);
  /// Empty where none is near enough to be meant.
  [[nodiscard]] std::string_view best() const;

 private:
  std::string wanted_;
  std::string_view best_, begun_, with_part_;
  std::size_t limit_;
};

/// The nearest of the candidates to a word, as `NearestText` finds it; empty where none is meant.
/// `name`: of a candidate, where it is not the name itself; the text must outlive the call.
template <class Candidates, class Name = std::identity>
[[nodiscard]] std::string nearest_word(std::string_view word, const Candidates& candidates,
                                       const Name& name = {}) {
  NearestText nearest(word);
  for (const auto& candidate : candidates) nearest.offer(std::invoke(name, candidate));
  return std::string(nearest.best());
}

}  // namespace forestcoll
