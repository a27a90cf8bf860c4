// How long a schedule takes for a message.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <string_view>

#include "forestcoll/fabric.hpp"

namespace forestcoll {

/// Seconds for 1 GiB, as `simulate` has it, with the figures of the fabric's GPU: a model, not a
/// measurement. Nothing where the schedule cannot be simulated within 5 million operations, or
/// `stop` asks to give up before the end. Cost: of `verify`, and of those operations.
[[nodiscard]] std::optional<double> large_message_time(std::string_view schedule,
                                                       const Fabric& fabric,
                                                       const std::stop_token& stop = {});
/// The same for so many bytes of the whole buffer.
[[nodiscard]] std::optional<double> simulated_time(std::string_view schedule, const Fabric& fabric,
                                                   std::int64_t bytes,
                                                   const std::stop_token& stop = {});

}  // namespace forestcoll
