// The three figures of a collective, under the same names in every report: the optimum, the optimum
// by trees, and what a schedule reaches.
#pragma once

#include <string>

#include "common/report/report.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/figures.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::cli {

struct ThreeFigures {
  RateFigures rates;
  Expected<Ratio> reached;  ///< GB/s: what is written reaches, in its format on its target
};

/// {"exact", "value"} of what nothing exceeds, and "at_least" where it is not known that it is
/// reached; {"not_computed"} where it is not known.
[[nodiscard]] Json to_json(const Expected<RateFigure>& figure);
[[nodiscard]] Json to_json(const Expected<Ratio>& reached);

/// "optimum", "optimum_by_trees" and "reached".
void put_figures(Json& json, const ThreeFigures& figures);

/// "266.667 (800/3)"; "333.333 (1000/3) to 400" where it is not known; why not where it is not
/// computed.
[[nodiscard]] std::string in_words(const Expected<RateFigure>& figure);
[[nodiscard]] std::string in_words(const Expected<Ratio>& reached);

/// "99.64 % of the optimum 258.065 GB/s", or where that is not known exactly "… of 400 GB/s, which
/// nothing exceeds; …".
[[nodiscard]] std::string of_optimum(const Ratio& algbw, const Expected<RateFigure>& optimum);

/// Whether the two figures differ, so that a text names both.
[[nodiscard]] bool differ(const RateFigures& figures);

/// "-7.7 %": 0 after is "cut off".
[[nodiscard]] std::string change_in_words(const Ratio& before, const Ratio& after);

}  // namespace forestcoll::cli
