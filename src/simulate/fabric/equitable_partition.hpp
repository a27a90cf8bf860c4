// The coarsest equitable partition of a labelled digraph.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/mix.hpp"

namespace forestcoll::simulate {

/// A digraph of which vertices and edges have labels; parallel edges count.
struct LabelledGraph {
  struct Edge {
    std::int32_t from = -1, to = -1;
    std::uint64_t label = 0;
  };
  std::vector<std::uint64_t> labels;  ///< of the vertices
  std::vector<Edge> edges;
};

/// The class of each vertex, numbered from 0 on: the coarsest partition in which the vertices of a
/// class have the same label, and from every class the same multiset of labels on the edges that
/// come in. Multisets are compared by 64-bit sums of hashes.
///
/// Hopcroft's way: where a class is split, the largest part keeps its number, so a vertex changes
/// its number at most log n times. Cost: O(m log n).
[[nodiscard]] std::vector<std::int32_t> equitable_partition(const LabelledGraph& graph);

using base::mix;
[[nodiscard]] constexpr std::uint64_t mix(std::uint64_t value, std::uint64_t next) {
  return mix(mix(value) ^ next);
}

/// Values as bits, to be mixed.
[[nodiscard]] constexpr std::uint64_t bits(double value) {
  return std::bit_cast<std::uint64_t>(value);
}
[[nodiscard]] constexpr std::uint64_t bits(std::int64_t value) {
  return static_cast<std::uint64_t>(value);
}

}  // namespace forestcoll::simulate
