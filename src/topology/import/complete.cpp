// Clouds ship files for NCCL that describe PCIe, NUMA and NICs, and leave to NCCL what it finds on
// the machine: the NVLinks, and some of them even the GPUs.
#include "topology/import/complete.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "forestcoll/text.hpp"
#include "forestcoll/topology.hpp"
#include "topology/readers/constants.hpp"

namespace forestcoll::importing {
namespace {

// The GPUs of a box, by number, and their links.
struct BoxGpus {
  std::size_t count = 0;
  std::vector<GpuLink> links = {};
  std::map<std::string, std::string> assumed = {};  ///< as of machines
  std::vector<std::string> nvswitches = {};
  std::vector<SwitchLink> switch_links = {};
  bool in_network = false;  ///< its NVSwitches copy and combine
};

bool is_gpu_link(std::string_view kind) {
  return kind == "nvlink" || kind == "xgmi";
}

// The links of kind nvlink or xgmi between the nodes of a topology file.
class TopologyReader {
 public:
  TopologyReader(const Context& context, const Topology& topology, Findings& findings)
      : context_(context), topology_(topology), findings_(findings) {
    for (std::size_t rank = 0; rank < topology.ranks.size(); ++rank) {
      gpu_of_.emplace(topology.ranks[rank], rank);
    }
  }

  std::optional<BoxGpus> read() {
    gpus_.count = topology_.ranks.size();
    for (const TopologyLink& link : topology_.links) {
      const bool used = link.enabled && topology_.nodes[link.src].enabled &&
                        topology_.nodes[link.dst].enabled && is_gpu_link(link.kind);
      if (!used) continue;
      if (!add(link)) return std::nullopt;
    }
    gpus_.in_network = std::ranges::all_of(switch_of_, [&](const auto& nvswitch) {
      const TopologyNode& node = topology_.nodes[nvswitch.first];
      return node.multicast && node.reduce;
    });
    return std::move(gpus_);
  }

 private:
  bool add(const TopologyLink& link) {
    const auto from = gpu_of_.find(link.src), to = gpu_of_.find(link.dst);
    const auto of_one = context_.overridden(link.kind);
    const auto exact = of_one ? of_one : checked_div(link.bandwidth, Ratio(link.count));
    const auto sum = exact ? checked_mul(*exact, Ratio(link.count)) : std::nullopt;
    if (!sum) {
      findings_.error(Code::I09, "",
                      "`box`: a bandwidth is too large, or too fine, for exact arithmetic",
                      "Round it.");
      return false;
    }
    const Ratio bandwidth = *exact;
    const auto add_gpu_link = [&](std::size_t gpu, End end, std::size_t target) {
      gpus_.links.push_back({.gpu = gpu,
                             .end = end,
                             .target = target,
                             .count = link.count,
                             .bandwidth = bandwidth,
                             .kind = link.kind});
    };
    if (from != gpu_of_.end() && to != gpu_of_.end()) {
      add_gpu_link(from->second, End::gpu, to->second);
      if (link.full_duplex) add_gpu_link(to->second, End::gpu, from->second);
      return true;
    }
    if (from == gpu_of_.end() && to == gpu_of_.end()) {
      const std::size_t a = nvswitch(link.src), b = nvswitch(link.dst);
      gpus_.switch_links.push_back({.from = a, .to = b, .bandwidth = *sum});
      if (link.full_duplex) gpus_.switch_links.push_back({.from = b, .to = a, .bandwidth = *sum});
      return true;
    }
    if (!link.full_duplex) {
      findings_.error(Code::I08, "",
                      fmt::format("`box`: the link {} -> {} leads one way",
                                  topology_.nodes[link.src].id, topology_.nodes[link.dst].id),
                      "Give a box whose links between GPUs and switches lead both ways.");
      return false;
    }
    const bool gpu_first = from != gpu_of_.end();
    add_gpu_link(gpu_first ? from->second : to->second, End::nvswitch,
                 nvswitch(gpu_first ? link.dst : link.src));
    return true;
  }

  std::size_t nvswitch(NodeId node) {
    const auto [at, is_new] = switch_of_.emplace(node, gpus_.nvswitches.size());
    if (is_new) gpus_.nvswitches.push_back(topology_.nodes[node].id);
    return at->second;
  }

  const Context& context_;
  const Topology& topology_;
  Findings& findings_;
  std::map<NodeId, std::size_t> gpu_of_, switch_of_;
  BoxGpus gpus_;
};

std::optional<BoxGpus> gpus_of_topology(const Context& context, Findings& findings) {
  const auto parsed = parse_topology(context.options.box_text, context.options.box_file);
  if (!parsed) {
    for (const Diagnostic& error : parsed.errors()) {
      findings.error(*error.code, error.where, error.message, error.remedy);
    }
    return std::nullopt;
  }
  std::set<std::string> boxes;
  for (const NodeId gpu : parsed->topology.ranks) boxes.insert(parsed->topology.nodes[gpu].box);
  if (boxes.size() > 1) {
    findings.error(Code::I08, "", fmt::format("`box`: the topology has {} boxes", boxes.size()),
                   "Give that of one box.");
    return std::nullopt;
  }
  return TopologyReader(context, parsed->topology, findings).read();
}

std::optional<BoxGpus> gpus_of_dump(const Context& context, Findings& findings) {
  ImportOptions options = context.options;
  options.box_text.clear();
  ImportReport unused;  // of the dump's NICs and PCIe, which are not taken
  const Context inside{.text = context.options.box_text,
                       .source = *detect_source(context.options.box_text),
                       .options = options,
                       .findings = findings,
                       .report = unused};
  auto machine = read_box(inside);
  if (!machine) return std::nullopt;
  return BoxGpus{.count = machine->gpus.size(),
                 .links = std::move(machine->links),
                 .assumed = std::move(machine->assumed),
                 .nvswitches = std::move(machine->nvswitches),
                 .switch_links = std::move(machine->switch_links),
                 .in_network = machine->in_network};
}

std::optional<BoxGpus> read_gpus(const Context& context, Findings& findings) {
  auto gpus = detect_source(context.options.box_text) ? gpus_of_dump(context, findings)
                                                      : gpus_of_topology(context, findings);
  if (!gpus) return std::nullopt;
  const bool to_cpus = std::ranges::find(gpus->links, End::cpu, &GpuLink::end) != gpus->links.end();
  if (gpus->links.empty() || to_cpus) {
    findings.error(Code::I08, "",
                   to_cpus ? "`box`: NVLinks lead to CPUs, which another file cannot take over"
                           : "`box`: it has no links of the kinds nvlink and xgmi",
                   "Give a box whose GPUs are joined by such links, or `nvswitch=300` (GB/s "
                   "of each GPU).");
    return std::nullopt;
  }
  return gpus;
}

// The PCIe switches that have devices of their own, in the order of the file.
std::vector<std::size_t> switches_with_devices(const Machine& machine) {
  std::set<std::size_t> found;
  for (const Nic& nic : machine.nics) {
    if (nic.slot.parent != kNone && !machine.bridges[nic.slot.parent].cpu) {
      found.insert(nic.slot.parent);
    }
  }
  return {found.begin(), found.end()};
}

PcieSlot slot_beside(const Machine& machine, std::size_t bridge) {
  PcieSlot slot{.parent = bridge, .guess = "is taken for that of the devices beside it"};
  for (const Nic& nic : machine.nics) {
    if (nic.slot.parent != bridge || !nic.slot.bandwidth) continue;
    slot.bandwidth = std::max(slot.bandwidth.value_or(*nic.slot.bandwidth), *nic.slot.bandwidth);
  }
  return slot;
}

bool place_gpus(const Context& context, std::size_t count, Machine& machine) {
  const auto switches = switches_with_devices(machine);
  if (switches.empty() || count % switches.size() != 0) {
    context.findings.error(
        Code::I08, "",
        fmt::format("`box`: the file says nothing of GPUs, and {} do not go evenly below its {} "
                    "with devices",
                    counted(count, "GPU"), counted(switches.size(), "PCIe switch")),
        "Is it the box of this file? Dump the topology on the machine, with NCCL_TOPO_DUMP_FILE.");
    return false;
  }
  const std::size_t each = count / switches.size();
  for (const std::size_t bridge : switches) {
    for (std::size_t i = 0; i < each; ++i) {
      const auto dev = static_cast<std::int64_t>(machine.gpus.size());
      machine.gpus.push_back(
          {.dev = dev, .name = fmt::format("GPU {}", dev), .slot = slot_beside(machine, bridge)});
    }
  }
  context.report.guesses.push_back(
      fmt::format("where the GPUs of `box` are: {} below each of the {} with devices, in the order "
                  "of the file",
                  each, counted(switches.size(), "PCIe switch")));
  return true;
}

bool refuse_links(const Context& context, const Machine& machine, std::string_view option) {
  if (machine.links.empty()) return false;
  context.findings.error(Code::I08, "", fmt::format("{}: the file has the GPUs' links", option),
                         "Leave it out; `bandwidths=FILE.csv` overrules their bandwidths.");
  return true;
}

bool add_box(const Context& context, Machine& machine, Findings& box_findings) {
  if (refuse_links(context, machine, "`box`")) return false;
  auto gpus = read_gpus(context, box_findings);
  if (!gpus) return false;
  const bool none = machine.gpus.empty();
  if (none && !place_gpus(context, gpus->count, machine)) return false;
  if (machine.gpus.size() != gpus->count) {
    context.findings.error(Code::I08, "",
                           fmt::format("`box`: it has {}, and the file {}",
                                       counted(gpus->count, "GPU"), machine.gpus.size()),
                           "Give a box of as many GPUs as the machine has.");
    return false;
  }
  const bool direct = std::ranges::find(gpus->links, End::gpu, &GpuLink::end) != gpus->links.end();
  if (direct) {
    context.report.guesses.emplace_back(
        "which GPU of `box` each GPU of the file is: the first is the first, and so on");
  }
  machine.links = std::move(gpus->links);
  machine.assumed = std::move(gpus->assumed);
  machine.nvswitches = std::move(gpus->nvswitches);
  machine.switch_links = std::move(gpus->switch_links);
  machine.in_network = gpus->in_network;
  machine.links_unknown.clear();
  context.report.understood.push_back(
      fmt::format("{} of {}", none ? "GPUs and their links" : "links of the GPUs",
                  quote(context.options.box_file)));
  return true;
}

// Of all links of each GPU together; nothing where that is beyond exact arithmetic.
std::vector<std::optional<Ratio>> bandwidths_of_links(const Machine& machine) {
  std::vector<std::optional<Ratio>> sums(machine.gpus.size(), Ratio(0));
  for (const GpuLink& link : machine.links) {
    auto& sum = sums[link.gpu];
    const auto bandwidth = checked_mul(link.bandwidth, Ratio(link.count));
    sum = sum && bandwidth ? checked_add(*sum, *bandwidth) : std::nullopt;
  }
  return sums;
}

// The machine that an option speaks of may be another one than the file's.
void doubt_links(const Context& context, const Machine& machine) {
  if (context.overridden("nvlink")) return;
  const auto sums = bandwidths_of_links(machine);
  for (std::size_t g = 0; g < machine.gpus.size(); ++g) {
    const Gpu& gpu = machine.gpus[g];
    const auto part = nvlink_part(gpu.device);
    const auto& given = sums[g];
    if (!part || !given) continue;
    const LinkSpeed& has = part->bandwidth;
    if (*given == has.nominal || *given == has.nccl) continue;
    const std::string box = part->box.empty() ? "" : fmt::format(", or `box={}`", part->box);
    context.findings.warning(
        Code::I21, "",
        fmt::format("{} gives GPU {} {} GB/s of links; its device id {} is that of the {}, which "
                    "has {} GB/s of NVLink",
                    context.options.nvswitch ? "`nvswitch`" : "`box`", gpu.dev, shown(*given),
                    gpu.device, part->name, shown(has.nominal)),
        fmt::format("Is it this machine? Else give `nvswitch={}`{}, where its GPUs are "
                    "joined in that way.",
                    shown(has.nominal), box));
    return;
  }
}

}  // namespace

std::optional<Machine> read_box(const Context& context) {
  const auto source = detect_source(context.text);
  std::optional<Machines> machines;
  if (source == Source::nccl) machines = read_nccl(context);
  if (source == Source::nvidia_smi) machines = read_nvidia_smi(context);
  if (source == Source::hwloc) machines = read_hwloc(context);
  const bool machine_source =
      source == Source::nccl || source == Source::nvidia_smi || source == Source::hwloc;
  if (!machine_source) {
    context.findings.error(Code::I08, "", "`box`: expected the dump of a machine",
                           "Give NCCL's topology XML, nvidia-smi topo -m or hwloc's XML.");
    return std::nullopt;
  }
  if (!machines) return std::nullopt;
  if (machines->size() > 1) {
    context.findings.error(Code::I08, "", "`box`: the dump holds several hosts",
                           "Give the dump of one machine.");
    return std::nullopt;
  }
  return std::move(machines->front());
}

bool add_nvswitch(const Context& context, Machine& machine) {
  if (!context.options.nvswitch) return true;
  if (refuse_links(context, machine, "`nvswitch`")) return false;
  for (std::size_t gpu = 0; gpu < machine.gpus.size(); ++gpu) {
    machine.links.push_back({.gpu = gpu,
                             .end = End::nvswitch,
                             .target = 0,
                             .bandwidth = *context.options.nvswitch,
                             .kind = "nvlink"});
  }
  machine.nvswitches = {"NVSwitch"};
  machine.links_unknown.clear();
  return true;
}

bool complete(const Context& context, Machines& machines, Findings& box_findings) {
  const ImportOptions& options = context.options;
  if (options.box_text.empty() && !options.nvswitch) return true;
  if (!options.box_text.empty() && options.nvswitch) {
    context.findings.error(Code::I08, "", "`nvswitch` and `box` both say which links the GPUs have",
                           "Leave one of them out.");
    return false;
  }
  if (machines.size() > 1) {
    context.findings.error(
        Code::I08, "",
        fmt::format("`nvswitch` and `box`: the file holds {} hosts", machines.size()),
        "Import the file of a single machine.");
    return false;
  }
  Machine& machine = machines.front();
  const bool added =
      options.nvswitch ? add_nvswitch(context, machine) : add_box(context, machine, box_findings);
  if (added) doubt_links(context, machine);
  return added;
}

}  // namespace forestcoll::importing
