// What the label of a link says about it. Labels are free; those in use are recognised.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace forestcoll::topology {

/// Whether links of a kind stay within a box.
enum class Reach {
  inside,   ///< NVLink, xGMI, PCIe, …
  leaves,   ///< InfiniBand, RoCE, Ethernet, …
  unknown,  ///< no label, or one that says nothing of it
};

/// What kinds have in common that take about as long.
enum class Medium {
  nvlink,      ///< and its like between accelerators: UALink, NeuronLink, HCCS
  xgmi,        ///< AMD's Infinity Fabric
  pcie,        ///< a lane to a NIC or a bridge
  cpu,         ///< between sockets
  infiniband,  ///< and networks of which the label says no more than that
  ethernet,    ///< RoCE, EFA, Slingshot
  unknown,     ///< no label, or one that says nothing of it
};

/// "nvlink4", "PCIe 5.0" and "ib-ndr" are known by a word of theirs, whatever its case and the
/// digits around it. Cost: O(length).
[[nodiscard]] Reach reach_of(std::string_view kind);

/// The words by which kinds are known, in lower case.
[[nodiscard]] std::vector<std::string_view> known_kinds();

[[nodiscard]] Medium medium_of(std::string_view kind);

/// The most that one cable, or one GPU's links where these are usually summed, carries of this
/// kind, in GB/s per direction; nothing where the kind is not known.
[[nodiscard]] std::optional<std::int64_t> most_of_kind(std::string_view kind);

}  // namespace forestcoll::topology
