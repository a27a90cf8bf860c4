// Where there is time for more than one search.
#pragma once

#include <cstddef>

namespace forestcoll::solver {

/// Ranks up to which a packing takes milliseconds, so that what other searches would find can be
/// looked for, too: with other numbers of trees, lower, or with less effort.
inline constexpr std::size_t kFewRanks = 64;

}  // namespace forestcoll::solver
