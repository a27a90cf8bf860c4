// Whether words about process groups are wrong for every topology of a batch.
#pragma once

#include "batch/items/words.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli::batch {

/// Errors that no other number of ranks mends: those of `job_of` without ranks that a fabric lacks,
/// groups that come out too small, and roots beyond these.
[[nodiscard]] Expected<void> check_group_words(const Asked& asked);

}  // namespace forestcoll::cli::batch
