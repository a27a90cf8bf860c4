// What a process group gives away by not using the GPUs outside of it.
#pragma once

#include <optional>
#include <string>

#include "forestcoll/forest.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::cli {

/// GB/s: what trees of the forest's collective reach on the fabric with relays, both phases of an
/// allreduce at the same time, where that is more than the optimum without. Cost: that of `bound`,
/// and of `allreduce_optimum`.
[[nodiscard]] std::optional<Ratio> beside_relays(const Network& with_relays,
                                                 const CollectiveForest& forest);

/// A line of the summary, without its end.
[[nodiscard]] std::string relays_in_words(const Ratio& reached);

}  // namespace forestcoll::cli
