// Random fabrics of the kinds that have broken packings before.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "forestcoll/network.hpp"

namespace forestcoll::stress {

enum class Kind { easy, tight, one_way, multi_level, wide, unbalanced, boxes };

struct KindName {
  Kind kind;
  std::string_view name;
  std::string_view description;
};
inline constexpr std::array<KindName, 7> kKinds = {{
    {Kind::easy, "easy", "random links, some switches"},
    {Kind::tight, "tight", "direct, every node with almost the same degree, few or no spare links"},
    {Kind::one_way, "one-way", "the sum of directed cycles through nodes and switches"},
    {Kind::multi_level, "multi-level", "leaves, aggregation, spines"},
    {Kind::wide, "wide", "random links of 1 to 1,000,000,000"},
    {Kind::unbalanced, "unbalanced", "switches whose two sides differ"},
    {Kind::boxes, "boxes", "copies of a random box on one or two switches, some with a fault"},
}};

/// The kinds take turns.
[[nodiscard]] const KindName& kind_of(std::uint64_t seed);

/// A strongly connected fabric of at most 24 ranks: the same for the same kind and seed.
[[nodiscard]] Network random_fabric_of(Kind kind, std::uint64_t seed);

/// Shares of 0 … 3, not all 0. 0 is a rank that only relays and receives.
[[nodiscard]] IdVector<Rank, std::int64_t> random_weights(std::size_t ranks, std::uint64_t seed);

}  // namespace forestcoll::stress
