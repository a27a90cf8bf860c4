// What a cluster is worth: exact optima, and what its dearest failure leaves.
#pragma once

#include <string>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/generate.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/wiring_figures.hpp"

namespace forestcoll {

/// GB/s of algbw.
struct ClusterFigures {
  Ratio allgather;  ///< exact
  Ratio allreduce;  ///< reduce-scatter, then allgather; exact
  ProvedInterval alltoall;
  Ratio after_failure;  ///< allgather without the switch whose failure costs most; 0: it cuts
                        ///< GPUs off
  std::string failed;   ///< that switch, an id of the topology
};

/// Only switches fail, one of each kind that colour refinement tells apart: a cable takes no more
/// with it than the switch at its end. What is inside of boxes is the same in all shapes and does
/// not fail. Errors: those of the topology, E14. Cost: a rate per kind of switch, and one more each
/// way.
[[nodiscard]] Expected<ClusterFigures> cluster_figures(const ClusterShape& shape);

}  // namespace forestcoll
