// Packing again after a failure, around the trees that it did not touch.
#pragma once

#include <cstdint>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/pack.hpp"
#include "forestcoll/rate.hpp"

namespace forestcoll {

/// How much of a previous forest is left. Trees are counted without their multiplicities: a kept
/// tree has the edges and paths that it had, and may have another multiplicity.
struct RepackStatistics {
  std::int64_t previous = 0;  ///< trees of the previous forest
  std::int64_t kept = 0;      ///< of those, in the new one
  std::int64_t touched = 0;   ///< not kept: a link that they use is gone
  std::int64_t added = 0;     ///< trees of the new forest that the previous one has not
  std::int64_t kept_multiplicity = 0, total_multiplicity = 0;  ///< of the new forest
};

struct Repacking {
  Packing packing;
  RepackStatistics repack;
};

/// Packs k·weight trees per rank into the scaled capacities, as `pack` does, and keeps as many of
/// the trees of `previous` as the capacities and the demand of all other trees allow: trees whose
/// links all exist are placed first, in proportion to what they had; where a cut then lacks room
/// for what is still owed, they give way. What is left is packed as ever. The rate is that of
/// `scaling`, just as from scratch. On fabrics with unbalanced switches, of which no theorem
/// speaks, the rest may not work out: then the rate is what packing from scratch reaches, and half
/// of all data stays on kept trees, a quarter and so on, or none.
///
/// A rank that `previous` has and `network` has not is cut off where it is a leaf.
/// REQUIRES: out-trees on nodes with the same NodeIds; every rank of `network` is one of
/// `previous`. Errors: those of `pack`. Cost: a pass over the previous forest, a flow per rank and
/// released tree at most, and the packing of the rest; up to six times that, and a packing from
/// scratch, where the rest does not work out.
[[nodiscard]] Expected<Repacking> repack(const Network& network, const Weights& weights,
                                         const Scaling& scaling, const Forest& previous,
                                         const PackOptions& options = {});

}  // namespace forestcoll
