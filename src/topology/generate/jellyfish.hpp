// Random regular graphs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace forestcoll::topology {

/// A connected graph in which each of `nodes` nodes has `degree` neighbours, sorted; the same for
/// the same seed everywhere. Nothing where none was found. (Singla et al., NSDI 2012: join random
/// free pairs; where none are left, put a node with free ports into a random link.)
/// REQUIRES: degree < nodes, degree · nodes even. Cost: O(nodes · degree²), a few times over.
[[nodiscard]] std::optional<std::vector<std::vector<std::size_t>>> random_regular_graph(
    std::size_t nodes, std::size_t degree, std::uint64_t seed);

}  // namespace forestcoll::topology
