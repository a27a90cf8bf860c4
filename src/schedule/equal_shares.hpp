// What cannot be said of ranks that own unequal shares.
#pragma once

#include <string>
#include <string_view>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/forest.hpp"

namespace forestcoll::schedule {

/// T09 where the ranks own unequal shares, for this reason. In an allreduce nobody owns anything.
[[nodiscard]] Expected<void> refuse_unequal_shares(const CollectiveForest& forest,
                                                   std::string_view why, std::string remedy);

}  // namespace forestcoll::schedule
