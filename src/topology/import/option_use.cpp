#include "topology/import/option_use.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string_view>

namespace forestcoll::importing {
namespace {

bool is_one_of(Source source, std::initializer_list<Source> sources) {
  return std::ranges::find(sources, source) != sources.end();
}

bool is_network(Source source) {
  return is_one_of(source, {Source::ibnetdiscover, Source::slurm});
}

bool is_machine(Source source) {
  return is_one_of(source, {Source::nccl, Source::nvidia_smi, Source::hwloc});
}

struct Use {
  std::string_view option;
  bool given, useful;
  std::string_view of;  ///< what the option is for
};

}  // namespace

bool check_options(const Context& context) {
  const ImportOptions& options = context.options;
  const bool network = is_network(context.source);
  // Of a network, the machine is that of --box; without it, another error says so.
  const Source machine =
      network ? detect_source(options.box_text).value_or(Source::nvidia_smi) : context.source;
  const Use uses[] = {
      {"`gpu`", !options.gpu.empty(), machine == Source::nvidia_smi, "nvidia-smi topo -m"},
      {"`nic_bandwidth`", options.nic_bandwidth.has_value(),
       is_machine(machine) || machine == Source::optccl, "machines whose NICs have no speed"},
      {"`bandwidths`", options.constants != LinkConstants::by_source,
       is_one_of(machine, {Source::nccl, Source::nvidia_smi}),
       "links that a file counts and does not size"},
      {"`bandwidths` of host-bridge", context.overridden(kHostBridge).has_value(),
       is_one_of(machine, {Source::hwloc, Source::nvidia_smi}),
       "machines whose file tells which devices are behind one host bridge: hwloc XML, and "
       "nvidia-smi topo -m (PHB)"},
      {"`split_nvswitch`", options.split_nvswitch,
       is_one_of(machine, {Source::nccl, Source::hwloc}), "machines whose file names NVSwitches"},
      {"`pcie_p2p`", options.pcie_p2p, is_machine(machine), "machines"},
      {"`host`", !options.host.empty(), is_machine(context.source), "machines"},
      {"`box`", !options.box_text.empty(), network || is_machine(context.source),
       "ibnetdiscover, Slurm, and machines whose file lacks GPUs or their links"},
      {"`nvswitch`", options.nvswitch.has_value(), is_machine(machine),
       "machines whose file lacks the GPUs' links"},
      {"`uplinks`", options.uplinks != 1, context.source == Source::slurm, "Slurm"},
      {"`uplink_bandwidth`", options.uplink_bandwidth.has_value(), context.source == Source::slurm,
       "Slurm"},
      {"`compute`", !options.compute.empty(), !is_machine(context.source),
       "graphs, and hosts of a network"},
  };
  bool fits = true;
  for (const Use& use : uses) {
    if (!use.given || use.useful) continue;
    fits = false;
    context.findings.error(Code::I08, "",
                           fmt::format("{}: this file has no use for it", use.option),
                           fmt::format("Leave it out: it is for {}.", use.of));
  }
  return fits;
}

bool check_nic_bandwidth(const Context& context, const std::vector<Box>& boxes) {
  const auto takes_it = [](const NicPort& port) { return port.by_option; };
  const bool used = std::ranges::any_of(
      boxes, [&](const Box& box) { return std::ranges::any_of(box.ports, takes_it); });
  if (used || !context.options.nic_bandwidth) return true;
  const bool linked = std::ranges::any_of(boxes, [](const Box& box) { return !box.ports.empty(); });
  context.findings.error(
      Code::I08, "",
      linked ? "`nic_bandwidth`: the speeds of all NICs are known without it"
             : "`nic_bandwidth`: no NIC is linked on",
      linked
          ? "Leave it out, or overrule them: `bandwidths=FILE.csv` with a line \"nic,25\" (GB/s)."
          : "Leave it out, or add `fabric=NAME`, which links the NICs.");
  return false;
}

}  // namespace forestcoll::importing
