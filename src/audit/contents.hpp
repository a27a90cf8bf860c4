// What a chunk holds: which ranks' contributions, and of which chunk of the collective's buffer.
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

  [[nodiscard]] std::int32_t single(std::int32_t rank) const { return rank; }
  [[nodiscard]] std::int32_t all() const { return all_; }
  [[nodiscard]] bool contains(std::int32_t set, std::int32_t rank) const;

  /// Why there is no union.
  enum class Refusal { overlap, memory };
  struct Union {
    std::int32_t set = -1;
    std::optional<Refusal> refusal;
  };
  /// The union of two sets that share no rank. Cost: O(ranks / 64) the first time.
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
  std::unordered_map<std::uint64_t, std::int32_t> unions_;
  std::int32_t all_ = -1;
};

/// The content of a chunk. `index` is the chunk's place in the collective's whole buffer.
struct Content {
  static constexpr std::int32_t kUndefined = -1;  ///< never written
  static constexpr std::int32_t kPoison = -2;     ///< spoilt by an error that was reported
  std::int32_t index = 0;
  std::int32_t set = kUndefined;
  [[nodiscard]] bool defined() const { return set >= 0; }
  bool operator==(const Content&) const = default;
};

}  // namespace forestcoll::audit
