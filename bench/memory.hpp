// How much memory a piece of work takes: every allocation of this program is counted.
#pragma once

#include <cstddef>

namespace forestcoll::bench {

/// Bytes that are allocated now, by what the allocator really set aside.
[[nodiscard]] std::size_t live_bytes();

/// The most that was allocated at once since the last call of `forget_peak`.
[[nodiscard]] std::size_t peak_bytes();
void forget_peak();

}  // namespace forestcoll::bench
