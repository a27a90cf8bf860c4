// The report of `forestcoll bound`, and what failures cost and upgrades bring.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "bound/answer.hpp"
#include "common/group_rates.hpp"
#include "common/report/rate_report.hpp"
#include "common/report/report.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/whatif.hpp"

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

/// The `count` dearest failures and best upgrades, a line each.
[[nodiscard]] std::string in_words(const WhatIf& what_if, const Topology& topology,
                                   const WhatIfOptions& options, std::size_t count);

/// The "what_if" of the bound report: everything.
[[nodiscard]] Json to_json(const WhatIf& what_if, const Topology& topology,
                           const WhatIfOptions& options);

/// The same of switches that lose a role: `count` lines, and "role_failures".
[[nodiscard]] std::string in_words(const RoleFailures& roles, const Topology& topology,
                                   std::size_t count);
[[nodiscard]] Json to_json(const RoleFailures& roles, const Topology& topology);

}  // namespace forestcoll::cli
