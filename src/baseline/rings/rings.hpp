// Rings through all ranks, and the trees that they are.
#pragma once

#include <string>
#include <vector>

#include "baseline/implicit_forest.hpp"

namespace forestcoll::baseline {

/// A cyclic order of all ranks. `paths[i]` leads from `order[i]` to the one after it.
struct Ring {
  std::vector<Rank> order;
  std::vector<Path> paths;
};

/// The ring in the other direction, on the fabric turned round.
[[nodiscard]] Ring turned_round(const Ring& ring);

/// Each root has one path per ring, which leaves out the hop into the root; each ring carries the
/// same share of the data.
[[nodiscard]] ImplicitForest implicit_forest_of(const Request& request, std::vector<Ring> rings);

/// Carries out the request's collective on rings of its network. Data goes round them in the same
/// direction in both phases, as it does in NCCL.
[[nodiscard]] Expected<BaselineResult> carry_out_on_rings(const Request& request,
                                                          const std::vector<Ring>& rings,
                                                          const std::string& note);

}  // namespace forestcoll::baseline
