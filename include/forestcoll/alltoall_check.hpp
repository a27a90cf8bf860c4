// The proof of an all-to-all's rate, checked by a stranger.
#pragma once

#include <string>

#include "forestcoll/alltoall.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll {

/// Whether a proof holds, by definition and in exact arithmetic of any size: symmetries map the
/// fabric and the demand onto themselves; flows start and end where the demand says, and their
/// average over the symmetries keeps every capacity at the rate that they are to reach; the
/// lengths, by shortest paths, or the cut allow no more than what they are to prove. Shares nothing
/// with what finds proofs. Empty where all holds, else what does not. Cost: O(sources · m log n)
/// for the sources that the flows are of.
[[nodiscard]] std::string find_alltoall_flaw(const Network& network, const Demand& demand,
                                             const AlltoallProof& proof);

}  // namespace forestcoll
