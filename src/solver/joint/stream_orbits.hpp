// What symmetries of the fabric and of a demand leave to be planned.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "forestcoll/commodity.hpp"
#include "forestcoll/network.hpp"
#include "solver/joint/streams.hpp"

namespace forestcoll::solver {

/// Classes of parts of streams that automorphisms exchange which map every operation onto itself: a
/// joint linear program has an optimum that is the same on all of a class, the average of an
/// optimum's images. Without symmetries every part is a class of its own.
struct StreamOrbits {
  std::vector<bool> is_first;                      ///< by stream: the first of its orbit
  std::vector<std::vector<std::size_t>> of_arcs;   ///< by stream and place in its `arcs`
  std::vector<std::vector<std::size_t>> of_roots;  ///< by commodity and member
  std::size_t arc_classes = 0, root_classes = 0;
};

/// Looks for symmetries where the streams have many arcs. REQUIRES: the streams are of the demand.
/// Cost: that of `find_fabric_group`, and near to linear in the streams' arcs per generator.
[[nodiscard]] StreamOrbits find_stream_orbits(const Network& network, const JointDemand& demand,
                                              std::span<const Stream> streams);

}  // namespace forestcoll::solver
