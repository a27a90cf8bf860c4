// The paths between GPUs and NICs through PCIe switches and CPUs.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "topology/readers/machine.hpp"

namespace forestcoll::importing {

/// A part of the machine that PCIe joins.
struct PciePart {
  enum class Type { gpu, nic, bridge } type;
  std::size_t index;  ///< in the machine's list
  auto operator<=>(const PciePart&) const = default;
};

struct PcieEdge {
  PciePart a, b;
  std::optional<Ratio> bandwidth;  ///< GB/s each way; nothing: not narrower than the NIC
  bool cpu = false;                ///< between two CPUs
};

/// What of the PCIe tree is used, bridges on the path between two parts alone being left out.
struct PcieGraph {
  std::vector<PcieEdge> edges;
  std::vector<std::string> guesses;  ///< bandwidths on the path that the file does not say
  /// For every edge, the group of parts that it belongs to: groups do not touch each other.
  std::vector<std::size_t> group_of;
  std::size_t groups = 0;
};

/// The paths from every GPU to the nearest NICs and from every NIC to the nearest GPUs: below their
/// lowest common PCIe switch, or CPU, or across the CPUs. Cost: O(parts × depth).
[[nodiscard]] PcieGraph nic_paths(const Machine& machine);

/// How the guess of the link between CPUs is told.
[[nodiscard]] std::string cpu_guess(const Machine& machine);

/// Everything that joins the GPUs with each other, and with the NICs if wanted.
[[nodiscard]] PcieGraph all_paths(const Machine& machine, bool with_nics);

}  // namespace forestcoll::importing
