// Forests that are low enough, made to need less of the fabric.
#pragma once

#include <cstdint>
#include <stop_token>

#include "forestcoll/network.hpp"
#include "forestcoll/pack.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::solver {

/// `copies` times the trees of `packing`, at the least scale found, no less than `least` per tree
/// and root: the part that loads the fullest links most moves elsewhere, tree by tree, and no tree
/// gets higher than `max_height`. At worst copies of the same. REQUIRES: no tree is higher now;
/// `copies` times k fits 32 bits. Cost: bounded in steps, some 10 to 50 ms.
[[nodiscard]] Packing squeeze(const Network& network, const Packing& packing, std::int64_t copies,
                              const Ratio& least, std::int32_t max_height,
                              const std::stop_token& stop);

}  // namespace forestcoll::solver
