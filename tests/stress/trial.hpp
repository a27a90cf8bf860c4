// One fabric packed in several ways, each result checked by code that the solver does not share.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "stress/kinds.hpp"

namespace forestcoll::stress {

/// How one packing went.
struct Attempt {
  std::string what = {};     ///< "uniform, k optimal, symmetry": the way it was packed
  std::string flaw = {};     ///< empty: complete, within the links, and at the rate it claims
  std::string refusal = {};  ///< why there is no forest: numbers beyond exact arithmetic
  bool balanced = true;      ///< as much capacity enters every switch as leaves it
  double raise = 1;          ///< the scale reached over that of the bound; 1 where nothing was lost
  double seconds = 0;        ///< processor time
};

/// As much enters every switch as leaves it.
[[nodiscard]] bool is_balanced(const Network& network, const IdVector<ArcId, Capacity>& capacity);

/// Packs the fabric of this seed at the optimal k and at a fixed one, with equal and with random
/// weights, with and without symmetry. The rate is compared with all cuts where there are few
/// nodes, else with bisection.
/// A balanced fabric must reach the scale of the bound.
[[nodiscard]] std::vector<Attempt> try_fabric(Kind kind, std::uint64_t seed);

}  // namespace forestcoll::stress
