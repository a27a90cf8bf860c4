// Which GPUs of a fabric a job takes that needs fewer.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "forestcoll/job.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

/// Sets of GPUs, each as ranks in ascending order.
struct GpuChoices {
  std::vector<std::vector<Rank>> sets;
  bool all = false;  ///< whether these are all sets of so many GPUs
};

/// All sets of `count` GPUs, where there are no more than `most`; nothing else.
/// REQUIRES: 1 <= count <= the number of ranks.
[[nodiscard]] GpuChoices all_gpu_choices(const Network& network, std::size_t count,
                                         std::size_t most);

/// Up to `most` of these: as many GPUs of each of some boxes, and the rest of one more, where the
/// boxes follow one another or are evenly spread, and so are the GPUs within them, the same of each
/// box; from as many as a box has down to one of each. They are taken of all GPUs, and again
/// without those of a class that colour refinement (Weisfeiler, Leman 1968) tells from the others,
/// so that a weak box or rail is left out. Blocks of ranks take the place of boxes where there are
/// none. Sets that colour refinement cannot tell apart stand for one another.
/// Cost: one refinement for each set, of which there are up to some thousands on small fabrics.
[[nodiscard]] GpuChoices gpu_choices_by_boxes(const Topology& topology, const Network& network,
                                              std::size_t count, std::size_t most);

/// Of these placements of the job's ranks (`placed`) those that differ, by their indices: ranks of
/// a group may change places, but for its root and where it has a demand. `by_symmetry`: those that
/// one automorphism of the fabric maps onto an earlier one are left out, too.
/// Cost: linear in the groups of all placements for each generator that `find_fabric_group` finds.
[[nodiscard]] std::vector<std::size_t> distinct_placements(
    const Network& network, const Job& job, std::span<const std::vector<Rank>> placements,
    bool by_symmetry);

}  // namespace forestcoll
