// Forests at a fixed k, one of which may be copies of a forest with fewer trees.
#pragma once

#include "solver/pack/pack_so_far.hpp"

namespace forestcoll::solver {

/// Is what is packed at `scaling` within exact arithmetic (2^62) `times` over?
[[nodiscard]] bool is_copied_exactly(const Scaling& scaling, std::int64_t times);
/// The same trees `times` over, at as many times the scale. REQUIRES: that fits (2^62).
[[nodiscard]] Packing copied(Packing packing, std::int64_t times);

/// `pack_so_far`; and where that had to raise the scale, which balanced switches do not, the
/// fastest of it and of copies of forests whose k divides this one. So no k is slower than one of
/// its divisors. Errors: those of `pack_so_far`. Cost: that of `pack`, once more per divisor where
/// the scale was raised.
[[nodiscard]] Expected<PackingSoFar> pack_or_copy(const Network& network, const Weights& weights,
                                                  const Rate& rate, const Scaling& scaling,
                                                  const PackOptions& options, IfStopped if_stopped);

}  // namespace forestcoll::solver
