#include "common/synthesis/report/price_times.hpp"

#include <cstdint>
#include <vector>

namespace forestcoll::cli {

void add_times(FailurePrice& price, const std::string& schedule_before,
               const forestcoll::Fabric& before, const std::string& schedule_after,
               const forestcoll::Fabric& after) {
  std::vector<SimulatedTime> first, second;
  for (const std::int64_t bytes :
       {std::int64_t{1} << 20, std::int64_t{64} << 20, std::int64_t{1} << 30}) {
    const auto from = simulated_time(schedule_before, before, bytes);
    const auto to = from ? simulated_time(schedule_after, after, bytes) : from;
    if (!to) return;
    first.push_back({.bytes = static_cast<double>(bytes), .seconds = *from});
    second.push_back({.bytes = static_cast<double>(bytes), .seconds = *to});
  }
  price.times_before = std::move(first);
  price.times_after = std::move(second);
}

}  // namespace forestcoll::cli
