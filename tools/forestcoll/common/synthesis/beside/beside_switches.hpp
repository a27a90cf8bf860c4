// What an allreduce gives away by not copying and combining in switches.
#pragma once

#include <optional>
#include <string>

#include "common/fabric.hpp"
#include "common/report/report.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::cli {

/// GB/s, of trees that branch at switches.
struct BesideSwitches {
  std::optional<Ratio> reached = {};  ///< where that is more than all trees that do not
  std::optional<Ratio> at_most = {};  ///< what nothing exceeds, where trees may reach more still
};

/// Nothing where the fabric has no such switches, or trees that branch there are no faster. Cost:
/// that of `allreduce_optimum`.
[[nodiscard]] std::optional<BesideSwitches> beside_switches(const Fabric& fabric,
                                                            const CollectiveForest& forest);

/// A line of the summary, without its end.
[[nodiscard]] std::string switches_in_words(const BesideSwitches& beside,
                                            const CollectiveForest& forest);

/// For the summary in JSON: "in_network", "in_network_at_most".
void put_switches(Json& json, const BesideSwitches& beside);

}  // namespace forestcoll::cli
