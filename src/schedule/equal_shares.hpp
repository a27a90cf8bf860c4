// Programs whose ranks all own as much: what the MSCCL format can express.
#pragma once

#include <optional>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/forest.hpp"

namespace forestcoll::schedule {

/// T09 where the ranks own unequal shares: the chunks of a buffer are divided evenly among them.
[[nodiscard]] Expected<void> refuse_unequal_shares(const CollectiveForest& forest);

}  // namespace forestcoll::schedule
