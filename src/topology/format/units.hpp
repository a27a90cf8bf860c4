// Bandwidths and latencies as people write them, as exact numbers of one unit.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "forestcoll/ratio.hpp"

namespace forestcoll::topology {

enum class Quantity {
  bandwidth,  ///< in GB/s (10^9 bytes a second): GB/s Gb/s Gbps GBps Gbit/s GiB/s; M, G, T
  latency,    ///< in µs: us µs ns ms
  number,     ///< without a unit
};

/// The size of a unit by name; nothing where the quantity has no such unit.
[[nodiscard]] std::optional<Ratio> find_unit(Quantity quantity, std::string_view name);

/// The usual names, as a message lists them.
[[nodiscard]] std::string known_units(Quantity quantity);

/// Reads "25", "370.8", "1e3" or "1000/3", with or without a unit after it, which otherwise is
/// `default_unit`. Nothing where it is not such a text or its exact value does not fit.
[[nodiscard]] std::optional<Ratio> parse_quantity(Quantity quantity, std::string_view text,
                                                  const Ratio& default_unit);

/// What to write for a text that is no bandwidth: both readings of "200 gb", which may be bits or
/// bytes, else what a bandwidth is.
[[nodiscard]] std::string remedy_of_bandwidth(std::string_view text);

}  // namespace forestcoll::topology
