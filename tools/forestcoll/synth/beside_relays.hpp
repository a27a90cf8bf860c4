// What a process group gives away by not using the GPUs outside of it.
#pragma once

#include <optional>
#include <string>

#include "forestcoll/forest.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::cli {

/// GB/s: the optimum of the forest's collective on the fabric with relays, where that is higher
/// than without. Cost: that of `bound`.
[[nodiscard]] std::optional<Ratio> beside_relays(const Network& with_relays,
                                                 const CollectiveForest& forest);

/// A line of the summary, without its end.
[[nodiscard]] std::string relays_in_words(const Ratio& reached);

}  // namespace forestcoll::cli
