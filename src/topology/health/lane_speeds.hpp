// Speeds of InfiniBand, as tools name them.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace forestcoll::health {

struct LaneSpeed {
  std::string_view name;
  std::int64_t code = 0;       ///< in ibdiagnet: LinkSpeedActv, and a bit of LinkSpeedSup
  std::string_view signalled;  ///< in iblinkinfo: on a lane, Gb/s
  std::string_view listed;     ///< in ibdiagnet2.lst
  std::int64_t tenths = 0;     ///< of a GB/s of data, on four lanes
};

/// Ascending.
inline constexpr std::array<LaneSpeed, 9> kLaneSpeeds = {
    {{"SDR", 1, "2.5", "2.5", 10},
     {"DDR", 2, "5.0", "5", 20},
     {"QDR", 4, "10.0", "10", 40},
     {"FDR10", 1 << 16, "10.3125", "FDR10", 50},
     {"FDR", 1 << 8, "14.0625", "14", 68},
     {"EDR", 1 << 9, "25.78125", "25", 125},
     {"HDR", 1 << 10, "53.125", "50", 250},
     {"NDR", 1 << 11, "106.25", "100", 500},
     {"XDR", 1 << 24, "212.5", "200", 1000}}};

}  // namespace forestcoll::health
