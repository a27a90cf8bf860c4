// Forests at a fixed k, one of which may be copies of a forest with fewer trees.
#pragma once

#include "forestcoll/pack.hpp"

namespace forestcoll::solver {

/// The same trees `times` over, at as many times the scale. REQUIRES: that fits (2^62).
[[nodiscard]] Packing copied(Packing packing, std::int64_t times);

/// `pack`; and where that had to raise the scale, which balanced switches do not, the fastest of it
/// and of copies of forests whose k divides this one. So no k is slower than one of its divisors.
/// Errors: those of `pack`. Cost: that of `pack`, once more per divisor where the scale was raised.
[[nodiscard]] Expected<Packing> pack_or_copy(const Network& network, const Weights& weights,
                                             const Rate& rate, const Scaling& scaling,
                                             const PackOptions& options);

}  // namespace forestcoll::solver
