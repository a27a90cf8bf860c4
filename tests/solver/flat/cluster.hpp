// Clusters of boxes whose gates are narrow, and failures in them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <random>
#include <vector>

#include "forestcoll/network.hpp"
#include "support/fabrics.hpp"

namespace forestcoll::test {

// Wide, and without a common factor with gates, so that these stay as they are.
inline constexpr Capacity kInside = 1'001;

/// Boxes of ranks around a wide switch; each rank has a gate to the switch of its rail, or of all
/// rails, with a width of its own in each direction.
struct Cluster {
  std::size_t boxes = 0, size = 0, rails = 1;
  std::vector<Capacity> out, in;  ///< by rank

  [[nodiscard]] Network build() const {
    const std::size_t ranks = boxes * size;
    FabricBuilder builder(ranks, boxes + rails);
    const auto add = [&](std::size_t tail, std::size_t head, Capacity capacity) {
      if (capacity > 0) builder.arc(tail, head, capacity);
    };
    for (std::size_t r = 0; r < ranks; ++r) {
      const std::size_t rail = ranks + boxes + r % size % rails;
      builder.link(r, ranks + r / size, kInside);
      add(r, rail, out[r]);
      add(rail, r, in[r]);
    }
    return builder.build();
  }

  /// Of a box: what its gates carry in the narrower direction.
  [[nodiscard]] Capacity width(std::size_t box) const {
    Capacity leaving = 0, entering = 0;
    for (std::size_t r = box * size; r < (box + 1) * size; ++r) {
      leaving += out[r];
      entering += in[r];
    }
    return std::min(leaving, entering);
  }
};

inline Cluster random_cluster(std::mt19937_64& random, std::size_t rails) {
  Cluster cluster{3 + random() % 6, 2 + random() % 3, rails, {}, {}};
  for (std::size_t r = 0; r < cluster.boxes * cluster.size; ++r) {
    cluster.out.push_back(10);
    cluster.in.push_back(10);
  }
  return cluster;
}

inline void damage(Cluster& cluster, std::mt19937_64& random, bool is_both_ways) {
  for (int fault = 0; fault < 3; ++fault) {
    const std::size_t r = random() % cluster.out.size();
    const Capacity left = random() % 2 == 0 ? 0 : 5;
    if (is_both_ways || random() % 2 == 0) cluster.out[r] = left;
    if (is_both_ways || cluster.out[r] != left) cluster.in[r] = left;
  }
}

}  // namespace forestcoll::test
