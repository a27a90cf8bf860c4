// One fabric with unbalanced switches at its optimal k, beside a linear program of another kind.
#pragma once

#include <cstdint>
#include <string>

namespace forestcoll::stress {

struct BalanceTrial {
  std::string flaw = {};    ///< empty: the rate is the oracle's, and a checked forest reaches it
  bool below_cuts = false;  ///< the rate is less than what the cuts of the fabric allow
};

/// The fabric, and equal or random shares, of this seed: random unbalanced ones, one-way failures
/// in fabrics of the other kinds. The oracle is `rate_by_flows`, to a millionth.
[[nodiscard]] BalanceTrial try_unbalanced(std::uint64_t seed);

}  // namespace forestcoll::stress
