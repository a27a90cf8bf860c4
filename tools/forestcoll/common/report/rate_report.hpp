// The figures of a collective, under the same names in every report: the optimum, the optimum by
// trees, and what a schedule reaches; what a failure costs of them, and the cut that limits them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/report/report.hpp"
#include "forestcoll/bottleneck.hpp"
#include "forestcoll/collective.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/figures.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/simulate.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {

/// "not computed: why [E14]".
[[nodiscard]] std::string not_computed(const Diagnostic& error);

/// The busbw of a collective over all ranks. Errors: E14.
[[nodiscard]] Expected<Ratio> busbw_of(const Ratio& algbw, Collective collective,
                                       const Network& network);

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

/// Of one fabric; none where no schedules were made.
using Reached = std::optional<Expected<Ratio>>;

/// One collective. Times are those of schedules, by size; empty where none are simulated.
struct FailurePrice {
  std::string collective;
  RateFigures before, after;
  Reached reached_before = {}, reached_after = {};
  std::vector<SimulatedTime> times_before = {}, times_after = {};
};

/// A table with a line for each figure, the optimum by trees only where it differs from the
/// optimum, and for each size. Its last line is ended.
[[nodiscard]] std::string in_words(const std::vector<FailurePrice>& prices);
/// Of one collective, indented, the last line not ended.
[[nodiscard]] std::string in_words(const FailurePrice& price);

/// {"optimum", "optimum_by_trees"} and of schedules {"reached"}, each {"before", "after",
/// "change"}; "times", if any, of {"bytes", "before", "after", "change"} in seconds. "change" is a
/// part of what was before, and not there where one of the two is not known.
[[nodiscard]] Json to_json(const FailurePrice& price);

/// The "bottleneck" of the bound report.
[[nodiscard]] Json to_json(const Bottleneck& bottleneck, const Topology& topology);

}  // namespace forestcoll::cli
