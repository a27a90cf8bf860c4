// An all-to-all on a fabric, with what its symmetries make equal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forestcoll/alltoall.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "solver/symmetry/network_orbits.hpp"

namespace forestcoll::solver::alltoall {

/// A rank that stands for its orbit.
struct Source {
  Rank rank;
  std::int64_t members = 1;  ///< ranks of its orbit
};

struct Instance {
  const Network& network;
  const Demand& demand;
  std::int64_t unit = 1;  ///< greatest common divisor of all demands; 0: there are none
  std::vector<NodeImage> symmetries;
  NetworkOrbits orbits;
  std::vector<std::int64_t> arc_members;  ///< by orbit of arcs
  std::vector<Source> sources;            ///< of the orbits that send something

  /// What every node is to receive from a rank, in units.
  [[nodiscard]] IdVector<NodeId, std::int64_t> needs(Rank source) const;
};

/// `network` and `demand` must outlive the result. Symmetries that change the demand are left out.
/// Cost: that of `find_symmetries`; O(ranks²) per symmetry where the demand is not uniform.
[[nodiscard]] Instance make_instance(const Network& network, const Demand& demand);

}  // namespace forestcoll::solver::alltoall
