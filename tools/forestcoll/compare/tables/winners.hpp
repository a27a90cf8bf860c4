// Who wins where, and by how much.
#pragma once

#include <string>
#include <vector>

#include "compare/comparison.hpp"

namespace forestcoll::cli {

/// Sentences, the first of which compares our rate with NCCL's algorithms: an allreduce with the
/// best of ring, tree and NVLS, anything else with the rings. Further ones are about the other
/// rows, and about who is fastest at which sizes: trees against trees, programs against programs.
/// They say so where we are not ahead. Empty where we are not among the rows.
[[nodiscard]] std::vector<std::string> who_wins(const Comparison& comparison);

}  // namespace forestcoll::cli
