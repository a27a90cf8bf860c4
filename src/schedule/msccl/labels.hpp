// Operands that a step does not use, and what others make of them.
#pragma once

#include "forestcoll/schedule.hpp"

namespace forestcoll::schedule {

/// Gives every step that receives without reading, and waits for no flag, the place that its
/// message is sent from as its source. Runtimes ignore it but for its bounds, so what the
/// receiver's own buffer does not reach stays as it was; other checkers pair messages by it.
/// REQUIRES: one threadblock sends, and one receives, on each connection, in the same order.
/// Cost: O(steps log connections).
void name_senders(IdVector<Rank, RankProgram>& programs);

}  // namespace forestcoll::schedule
