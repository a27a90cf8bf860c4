// Shares of an optimum, from exact rates: one number and one text for every command.
#pragma once

#include <string>

#include "forestcoll/ratio.hpp"

namespace forestcoll::cli {

/// The double nearest to `part / whole`, but 1 only where the two are equal. REQUIRES: `part` is
/// not negative, `whole` is positive, the quotient is below 2^64.
[[nodiscard]] double share(const Ratio& part, const Ratio& whole);
/// The double nearest to `1 - part / whole`. REQUIRES: 0 <= part <= whole, and `whole` > 0.
[[nodiscard]] double share_lost(const Ratio& part, const Ratio& whole);

/// "80 %", "98.9 %": hundredths of a percent, rounded down exactly; "100 %" only where `part`
/// equals `whole`, and at least "100.01 %" where it is more. REQUIRES: as for `share`.
[[nodiscard]] std::string percent(const Ratio& part, const Ratio& whole);
/// The same of a `share` that was written down as a number.
[[nodiscard]] std::string percent(double written);

}  // namespace forestcoll::cli
