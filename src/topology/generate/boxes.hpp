// The machines that clusters are made of.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "forestcoll/topology_text.hpp"

namespace forestcoll::topology {

/// Prefixes of the ids of a box's ports, on the way out of it and on the way in.
struct Ports {
  std::string send, receive;
  bool of_gpus = false;  ///< the GPUs themselves: PCIe and NICs are not modelled
  [[nodiscard]] bool one_node() const { return send == receive; }
};

/// One kind of box: its GPUs with the links among them, and the NICs beside them.
struct BoxModel {
  std::string name;         ///< "dgx-a100": the generator's and the template's
  std::string summary;      ///< one line
  std::string gpu = "gpu";  ///< prefix of the GPUs' ids
  std::size_t gpus = 8;
  SectionText inside;              ///< without NICs
  std::size_t nics = 8;            ///< 0: none; else divides `gpus`: neighbours share one
  std::string nic_bandwidth = {};  ///< of one NIC, to the fabric
  std::string nic_kind = "ib";     ///< of a NIC's link to the fabric
  std::string nic_at = {};         ///< ids, one for each NIC: where it is plugged in; empty: GPUs
  std::string pcie = {};           ///< from a GPU to its NIC; empty: the GPUs themselves are ports
  /// What people should know: the source of the bandwidths, and more.
  std::vector<std::pair<std::string, std::string>> metadata = {};
};

/// All that clusters can be made of: those with NICs.
[[nodiscard]] const std::vector<BoxModel>& box_models();

/// REQUIRES: there is one of this name.
[[nodiscard]] const BoxModel& box_model(std::string_view name);

/// The box with its NICs, as a template.
[[nodiscard]] SectionText with_nics(const BoxModel& model);

/// What of the box is linked to the fabric: its NICs, or the GPUs themselves. A NIC that GPUs share
/// is a node for either direction, so that PCIe is no way from GPU to GPU.
[[nodiscard]] Ports ports_of(const BoxModel& model);

}  // namespace forestcoll::topology
