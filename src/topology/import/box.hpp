// From a machine to a template of the topology file.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/topology_text.hpp"
#include "topology/readers/context.hpp"
#include "topology/readers/links.hpp"
#include "topology/readers/machine.hpp"

namespace forestcoll::importing {

/// Where a NIC's cable goes in: one node, or one for each direction.
struct NicPort {
  std::string send, receive;       ///< ids in the template
  std::string name;                ///< "mlx5_0"
  std::optional<Ratio> bandwidth;  ///< GB/s, as the file or the options have it
  bool by_option = false;          ///< it is that of --nic-bandwidth
  [[nodiscard]] bool is_one_node() const { return send == receive; }
};

struct Box {
  SectionText section;
  std::vector<NicPort> ports;     ///< by number of the NIC; empty without NICs
  std::vector<std::string> gpus;  ///< ids, in the order of ranks
  bool ranks_differ = false;      ///< … which is not the order of appearance
  std::vector<FlatLink> shared;   ///< links to the NVSwitch that several boxes share
  std::vector<std::pair<std::string, std::string>> metadata;
};

struct BoxOptions {
  bool with_nics = false;        ///< the NICs will be linked on
  bool shared_nvswitch = false;  ///< the NVSwitch stands outside of the box
};

/// The machine as a template. Where its own links do not join its GPUs, PCIe and the CPUs do.
/// Nothing after an error: nothing joins its GPUs, or the file does not say what does (I07).
/// Warnings: I21, I22, W05. What was understood and left out goes to the report.
[[nodiscard]] std::optional<Box> make_box(const Context& context, const Machine& machine,
                                          const BoxOptions& options);

}  // namespace forestcoll::importing
