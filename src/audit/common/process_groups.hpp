// Which ranks of a schedule do its collective together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

namespace forestcoll::audit {

/// Lists of ranks, each in the order of the group's own ranks.
using RankLists = std::vector<std::vector<std::int32_t>>;

/// The groups of a program, by rank. No lists: all ranks are one, in their order.
class ProcessGroups {
 public:
  /// REQUIRES: no rank stands twice, and lists are empty or name ranks below `ranks` alone.
  ProcessGroups(RankLists lists, std::int64_t ranks);

  [[nodiscard]] const RankLists& lists() const { return lists_; }
  /// The group's place in the lists; −1: the rank is in none.
  [[nodiscard]] std::int32_t number(std::int32_t rank) const {
    return lists_.empty() ? 0 : number_[static_cast<std::size_t>(rank)];
  }
  /// Members of the rank's group; 0: it is in none.
  [[nodiscard]] std::int64_t size(std::int32_t rank) const {
    if (lists_.empty()) return ranks_;
    return number(rank) < 0 ? 0 : std::ssize(list_of(rank));
  }
  /// The rank's place in its group; 0 in none.
  [[nodiscard]] std::int32_t place(std::int32_t rank) const {
    return lists_.empty() ? rank : place_[static_cast<std::size_t>(rank)];
  }
  /// Of the rank's group, the member at this place.
  [[nodiscard]] std::int32_t member(std::int32_t rank, std::int64_t place) const {
    return lists_.empty() ? static_cast<std::int32_t>(place)
                          : list_of(rank)[static_cast<std::size_t>(place)];
  }

 private:
  [[nodiscard]] const std::vector<std::int32_t>& list_of(std::int32_t rank) const {
    return lists_[static_cast<std::size_t>(number(rank))];
  }

  RankLists lists_;
  std::int64_t ranks_;
  std::vector<std::int32_t> number_, place_;  // by rank, where there are lists
};

}  // namespace forestcoll::audit
