// The report of `forestcoll bound`.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bound/answer.hpp"
#include "common/group_rates.hpp"
#include "common/report/figures/price_report.hpp"
#include "common/report/report.hpp"

namespace forestcoll::cli {

/// All that a report is of.
struct BoundFindings {
  BoundAnswer answer;
  std::optional<QuickAlltoall> alltoall;
  std::vector<FailurePrice> prices;  ///< of --drop and --derate; empty where nothing has failed
  std::optional<GroupRates> group = {};
};

/// With why nothing is reached, where no target is named.
[[nodiscard]] ThreeFigures three_figures(const RateFigures& rates,
                                         const std::optional<Expected<Ratio>>& reached);

/// A table of the rates, and below it what bounds them.
[[nodiscard]] std::string bound_in_words(const BoundFindings& found, const Fabric& fabric,
                                         const BoundArguments& options);
/// The format forestcoll-bound, version 2.
[[nodiscard]] Json bound_to_json(const BoundFindings& found, const Fabric& fabric,
                                 const BoundArguments& options);

}  // namespace forestcoll::cli
