// Prices of switches and cables.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::cli {

struct SwitchPrice {
  std::string name;
  std::size_t ports = 0;
  Ratio bandwidth;  ///< GB/s of a port
  Ratio price;
};

/// Prices of a file, in its own currency.
struct ClusterCosts {
  std::string currency;
  std::string note;  ///< where the prices are from; said in every report
  std::vector<SwitchPrice> switches;
  Ratio box_cable, row_cable, hall_cable;  ///< each with the optics of both ends
};

/// Reads the format forestcoll-costs, version 1. Errors: K02 with the place, K03 where there is no
/// switch, or no price for one of the lengths of cables.
[[nodiscard]] Expected<ClusterCosts> parse_costs(std::string_view text, const std::string& file);

}  // namespace forestcoll::cli
