// What a chunk holds: whose contributions, added up in which order, and of which chunk of the
// collective's buffer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace forestcoll::audit {

/// Sets of ranks, each held once and known by a number.
class RankSets {
 public:
  explicit RankSets(std::int32_t ranks);

  [[nodiscard]] static std::int32_t single(std::int32_t rank) { return rank; }
  [[nodiscard]] std::int32_t all() const { return all_; }
  [[nodiscard]] bool contains(std::int32_t set, std::int32_t rank) const;
  /// The set of these ranks. Cost: O(ranks / 64).
  [[nodiscard]] std::int32_t of(const std::vector<std::int32_t>& members);

  /// Why there is no union.
  enum class Refusal { overlap, memory };
  struct Union {
    std::int32_t set = -1;
    std::optional<Refusal> refusal;
  };
  /// The union of two sets that share no rank. Cost: O(ranks / 64).
  [[nodiscard]] Union unite(std::int32_t a, std::int32_t b);
  /// A rank that both hold, or −1.
  [[nodiscard]] std::int32_t common(std::int32_t a, std::int32_t b) const;

 private:
  std::int32_t intern(const std::vector<std::uint64_t>& bits);
  [[nodiscard]] const std::uint64_t* row(std::int32_t set) const {
    return bits_.data() + static_cast<std::size_t>(set) * words_;
  }

  std::size_t words_;
  std::vector<std::uint64_t> bits_;
  std::unordered_multimap<std::uint64_t, std::int32_t> by_hash_;
  std::int32_t all_ = -1;
};

/// Sums of ranks' contributions, each held once and known by a number: one rank's own, or two sums
/// added. a + b has the bits of b + a, and so is the same sum; (a + b) + c and a + (b + c) are not.
class PartialSums {
 public:
  explicit PartialSums(std::int32_t ranks);

  [[nodiscard]] static std::int32_t single(std::int32_t rank) { return rank; }
  /// The ranks whose contributions a sum holds.
  [[nodiscard]] std::int32_t ranks_of(std::int32_t sum) const {
    return ranks_[static_cast<std::size_t>(sum)];
  }
  [[nodiscard]] const RankSets& sets() const { return sets_; }
  [[nodiscard]] std::int32_t set_of(const std::vector<std::int32_t>& members) {
    return sets_.of(members);
  }

  struct Sum {
    std::int32_t sum = -1;
    std::optional<RankSets::Refusal> refusal;
  };
  /// Two sums that share no rank, added. Cost: O(1), and that of the union the first time.
  [[nodiscard]] Sum add(std::int32_t a, std::int32_t b);

 private:
  RankSets sets_;
  std::vector<std::int32_t> ranks_;                        // the set of each sum
  std::unordered_map<std::uint64_t, std::int32_t> added_;  // by the two that were added
};

/// The content of a chunk. `index` is the chunk's place in the collective's whole buffer.
struct Content {
  static constexpr std::int32_t kUndefined = -1;  ///< never written
  static constexpr std::int32_t kPoison = -2;     ///< spoilt by an error that was reported
  std::int32_t index = 0;
  std::int32_t sum = kUndefined;
  [[nodiscard]] bool defined() const { return sum >= 0; }
};

}  // namespace forestcoll::audit
