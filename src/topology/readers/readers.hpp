// The readers, one file each. Each returns nothing after it has reported an error.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "topology/readers/context.hpp"
#include "topology/readers/graph.hpp"
#include "topology/readers/machine.hpp"

namespace forestcoll::importing {

/// The machines of one file: more than one where NVLink spans hosts, which then share the NVSwitch.
using Machines = std::vector<Machine>;

[[nodiscard]] std::optional<Machines> read_nccl(const Context& context);
[[nodiscard]] std::optional<Machines> read_nvidia_smi(const Context& context);
[[nodiscard]] std::optional<Machines> read_hwloc(const Context& context);

[[nodiscard]] std::optional<Graph> read_astra_sim(const Context& context);
[[nodiscard]] std::optional<Graph> read_simai(const Context& context);
[[nodiscard]] std::optional<Graph> read_sccl(const Context& context);
[[nodiscard]] std::optional<Graph> read_optccl(const Context& context);
[[nodiscard]] std::optional<Graph> read_node_link(const Context& context);
[[nodiscard]] std::optional<Graph> read_json_graph(const Context& context);
[[nodiscard]] std::optional<Graph> read_graphml(const Context& context);
[[nodiscard]] std::optional<Graph> read_dot(const Context& context);
[[nodiscard]] std::optional<Graph> read_csv(const Context& context);

/// A switch or a host of the network between machines.
struct NetworkSwitch {
  std::string id;    ///< for the topology file
  std::string name;  ///< as the file has it
};
/// Cables of one speed between two switches, or between a switch and a NIC of a machine.
struct NetworkCable {
  std::size_t from = 0;                 ///< in `switches`
  std::optional<std::size_t> to = {};   ///< a switch; or else a NIC:
  std::string host = {}, nic = {};      ///< an empty `nic` means every NIC of the host
  std::optional<Ratio> bandwidth = {};  ///< GB/s of one; nothing: the NIC's own
  std::int64_t count = 1;
};
struct ClusterNetwork {
  std::vector<NetworkSwitch> switches;
  std::vector<std::string> hosts;  ///< in the order of their boxes
  std::vector<NetworkCable> cables;
};
/// True where a host of the network is taken for a machine of `--box`: all, or those that
/// `ImportOptions::compute` names.
[[nodiscard]] inline bool is_machine(const ImportOptions& options, const std::string& host) {
  return options.compute.empty() || matches(options.compute, host);
}

[[nodiscard]] std::optional<ClusterNetwork> read_ibnetdiscover(const Context& context);
[[nodiscard]] std::optional<ClusterNetwork> read_slurm(const Context& context);

}  // namespace forestcoll::importing
