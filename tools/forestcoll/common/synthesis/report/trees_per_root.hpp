// How many trees each root has, for the reports.
#pragma once

#include "common/report/report.hpp"
#include "forestcoll/forest.hpp"

namespace forestcoll::cli {

/// {"least": 10, "most": 11}
[[nodiscard]] inline Json trees_per_root(const CollectiveForest& forest) {
  const auto [least, most] = range_of_trees(forest);
  return {{"least", least}, {"most", most}};
}

}  // namespace forestcoll::cli
