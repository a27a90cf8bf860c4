// Forests with more edges than the checker reads, known before they are written.
#pragma once

#include <cstddef>

#include "forestcoll/compile.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll::choose {

/// T10 where the trees are written one by one and even the fewest, one per root, are too many.
/// Known before anything is solved.
[[nodiscard]] Expected<void> refuse_large_fabric(const Network& network,
                                                 const CompileOptions& options);

/// T10 where this forest is too large to be checked in the format that is asked for.
[[nodiscard]] Expected<void> refuse_large_forest(const CollectiveForest& forest,
                                                 const CompileOptions& options);

/// T10 where its text is.
[[nodiscard]] Expected<void> refuse_large_text(std::size_t bytes, const CompileOptions& options);

}  // namespace forestcoll::choose
