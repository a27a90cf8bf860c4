// What dumps of health say, before a topology is looked at. Each reader takes the text whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forestcoll/ratio.hpp"
#include "topology/model/findings.hpp"

namespace forestcoll::health {

using topology::Findings;

/// One GPU, by the number that the tool gives it.
struct GpuState {
  /// NVLinks: GB/s, at most 10,000 and in four decimals, or nothing where down.
  std::map<std::int64_t, std::optional<Ratio>> links = {};
  std::string off_fabric = {};           ///< why none of its NVLinks can be used; empty: they can
  std::vector<std::string> doubts = {};  ///< what is wrong without changing the fabric
};

/// One machine.
struct MachineState {
  std::string source;
  std::map<std::size_t, GpuState> gpus = {};
  /// The tool lists the links of each GPU: one without any is cut off.
  bool lists_links = false;
  /// Pairs of GPUs, the lesser first, that reach each other by PCIe.
  std::vector<std::pair<std::size_t, std::size_t>> by_pcie = {};
};

/// One end of a cable of InfiniBand.
struct PortState {
  std::string node;   ///< as described: "node4 mlx5_0", "MF0;leaf1:MQM8700/U1"
  std::string other;  ///< of the other end; empty: the port is down, or the dump does not say
  Ratio bandwidth;    ///< GB/s of data; 0: down
};
struct NetworkState {
  std::string source;
  std::vector<PortState> ports = {};
  std::vector<std::string> doubts = {};  ///< cables that could be faster
};

/// The text of a dump, and where findings go.
struct Dump {
  std::string_view text;
  Findings& findings;
};

// Each returns nothing after it has reported an error (I02).
[[nodiscard]] std::optional<MachineState> read_nvlink(const Dump& dump);
[[nodiscard]] std::optional<MachineState> read_dcgmi(const Dump& dump);
[[nodiscard]] std::optional<MachineState> read_fabric(const Dump& dump);
[[nodiscard]] std::optional<MachineState> read_health_mask(const Dump& dump);
[[nodiscard]] std::optional<MachineState> read_rocm(const Dump& dump);
[[nodiscard]] std::optional<NetworkState> read_iblinkinfo(const Dump& dump);
[[nodiscard]] std::optional<NetworkState> read_ibdiagnet(const Dump& dump);
[[nodiscard]] std::optional<NetworkState> read_ibdiagnet_list(const Dump& dump);

/// More of them in one machine, or at one GPU, are a damaged file.
inline constexpr std::int64_t kMostGpus = 4096, kMostLinks = 1024;

}  // namespace forestcoll::health
