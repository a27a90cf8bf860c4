// Trees for the threadblocks that there are.
#pragma once

#include "forestcoll/compile.hpp"
#include "forestcoll/fabric.hpp"

namespace forestcoll::choose {

/// A forest that may be chosen.
struct FittedForest {
  ChosenForest chosen;
  bool fits = false;  ///< its schedule or plan the target; where none is asked for, its text
};

/// Where the forest's XML or plan is refused for threadblocks or channels (T01, T03), of which a
/// GPU needs some per peer: as many trees at the same rate, taller, with fewer peers, where those
/// fit; `why` says what it costs. Those also where they do not fit for another reason, which is
/// then the one that stands in the way. The forest as it was where it fits, where nothing else
/// does, and where no schedule is asked for. Cost: that of lowering it, and where that is refused
/// that of `with_fewer_peers`.
[[nodiscard]] FittedForest fit_threadblocks(Synthesis synthesis, const Fabric& fabric,
                                            const CompileOptions& options);

}  // namespace forestcoll::choose
