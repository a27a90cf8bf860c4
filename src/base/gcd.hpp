// The greatest common divisor of products.
#pragma once

#include "forestcoll/ratio.hpp"

namespace forestcoll {

/// Of the magnitudes; that of 0 and `a` is |a|. std::gcd takes no such integers in standard C++.
[[nodiscard]] Int128 gcd(Int128 a, Int128 b);

}  // namespace forestcoll
