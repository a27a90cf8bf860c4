// A packing, or as much of one as there was time for.
#pragma once

#include "forestcoll/pack.hpp"
#include "solver/height/height.hpp"

namespace forestcoll::solver {

/// What to do with a packing that is not finished when somebody asks to stop.
enum class IfStopped {
  give_up,
  finish_at_once,  ///< what is still owed goes beyond the capacities
};

struct PackingSoFar {
  Packing packing;
  /// Asked to stop before the end: `packing.scaling.scale` is what the trees need that were packed,
  /// and those beyond the capacities that were still owed.
  bool stopped = false;
};

/// `pack`, for what `search` says; and where that is asked to stop and `if_stopped` says so, the
/// best that it has, finished at once at a lower rate. Errors: those of `pack`; R01 also where
/// there is nothing yet, or too much still to be done.
[[nodiscard]] Expected<PackingSoFar> pack_so_far(const Network& network, const Weights& weights,
                                                 const Scaling& scaling, const PackOptions& options,
                                                 IfStopped if_stopped,
                                                 const HeightSearch& search = {});

}  // namespace forestcoll::solver
