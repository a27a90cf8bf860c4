// What an allreduce gives away by not copying and combining in switches.
#pragma once

#include <optional>
#include <string>

#include "common/fabric.hpp"
#include "common/report/report.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::cli {

/// GB/s: what trees reach that branch at switches, where the fabric has some that can and all trees
/// that do not, reach less. Cost: that of `allreduce_optimum`.
[[nodiscard]] std::optional<Ratio> beside_switches(const Fabric& fabric,
                                                   const CollectiveForest& forest);

/// A line of the summary, without its end.
[[nodiscard]] std::string switches_in_words(const Ratio& reached, const CollectiveForest& forest);

}  // namespace forestcoll::cli
