// Cables from the NICs of boxes to switches, as entries of the topology file.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "forestcoll/topology_text.hpp"
#include "topology/import/box.hpp"
#include "topology/readers/context.hpp"

namespace forestcoll::importing {

/// False, and I03 or I05, where a NIC has no bandwidth to be linked on with, or one that no NIC
/// has. The machine is the one that the ports were made from.
[[nodiscard]] bool check_bandwidths(const Context& context, const Machine& machine,
                                    const std::vector<NicPort>& ports);

/// Warns of NICs that are left out and whose figures are wrong.
void report_left_out(const Context& context, const Machine& machine);

/// Cables from these NICs of each of these boxes to a switch.
struct PortLink {
  std::vector<std::string> boxes;
  std::vector<std::size_t> ports;  ///< in the box's list
  std::string switch_id;
  std::optional<Ratio> bandwidth = {};  ///< GB/s; nothing: each NIC's own
  std::int64_t count = 1;
};
void append(const std::vector<NicPort>& ports, const PortLink& link,
            std::vector<LinkText>& entries);

}  // namespace forestcoll::importing
