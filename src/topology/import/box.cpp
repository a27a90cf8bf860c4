#include "topology/import/box.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "forestcoll/text.hpp"
#include "graph/joined_items.hpp"
#include "topology/import/box_links.hpp"
#include "topology/import/notes.hpp"
#include "topology/import/pcie.hpp"
#include "topology/import/pcie_nodes.hpp"

namespace forestcoll::importing {
namespace {

std::vector<NicPort> ports_of(const Context& context, const Machine& machine) {
  std::vector<NicPort> ports;
  for (const Nic& nic : machine.nics) {
    NicPort port{.send = "", .receive = "", .name = nic.name, .bandwidth = nic.bandwidth};
    const bool doubtful = !nic.bandwidth || *nic.bandwidth > kMaxNicBandwidth;
    if (const auto given = context.overridden("nic")) {
      port.bandwidth = given;
    } else if (doubtful && context.options.nic_bandwidth) {
      port.bandwidth = context.options.nic_bandwidth;
      port.by_option = true;
    }
    ports.push_back(std::move(port));
  }
  return ports;
}

std::vector<std::size_t> device_order(const Machine& machine) {
  std::vector<std::size_t> order(machine.gpus.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t gpu) { return machine.gpus[gpu].dev; });
  return order;
}

// The order of the ranks where the file gives each GPU its own. That it gives two the same is said.
std::vector<std::size_t> rank_order(const Context& context, const Machine& machine) {
  std::vector<std::size_t> order = device_order(machine);
  std::set<std::int64_t> ranks;
  bool have_all = true;
  for (const Gpu& gpu : machine.gpus) {
    have_all = have_all && gpu.rank.has_value();
    if (!gpu.rank || ranks.insert(*gpu.rank).second) continue;
    context.report.guesses.push_back(
        fmt::format("the order of the ranks: that of the GPUs' numbers, for the file gives two of "
                    "them rank {}",
                    *gpu.rank));
    return order;
  }
  if (!have_all) return order;
  std::ranges::sort(order, {}, [&](std::size_t gpu) { return *machine.gpus[gpu].rank; });
  return order;
}

void describe_parts(const Machine& machine, Box& box) {
  for (std::size_t g = 0; g < machine.gpus.size(); ++g) {
    const Gpu& gpu = machine.gpus[g];
    std::string text = gpu.name;
    if (gpu.rank) text += fmt::format("{}rank {}", text.empty() ? "" : ", ", *gpu.rank);
    if (!text.empty()) box.metadata.emplace_back(machine.gpus[g].id(), text);
  }
  for (std::size_t n = 0; n < box.ports.size(); ++n) {
    box.metadata.emplace_back(fmt::format("nic{}", n), box.ports[n].name);
  }
}

void report_links(const Context& context, const Machine& machine,
                  const std::vector<FlatLink>& links) {
  std::map<std::pair<std::string, Ratio>, std::int64_t> counts;
  for (const FlatLink& link : links) {
    if (link.kind != "pcie" && link.kind != "cpu")
      counts[{link.kind, link.bandwidth}] += link.count;
  }
  for (const auto& [kind, count] : counts) {
    const auto assumed = machine.assumed.find(kind.first);
    context.report.understood.push_back(fmt::format(
        "{} of {} GB/s{}", counted(static_cast<std::size_t>(count), kind.first + " link"),
        shown(kind.second),
        assumed == machine.assumed.end() ? "" : fmt::format(" (assumed: {})", assumed->second)));
  }
}

void report_nics(const Context& context, const std::vector<NicPort>& ports) {
  std::map<std::optional<Ratio>, std::size_t> counts;
  for (const NicPort& port : ports) ++counts[port.bandwidth];
  for (const auto& [bandwidth, count] : counts) {
    context.report.understood.push_back(
        counted(count, "NIC") + (bandwidth ? fmt::format(" of {} GB/s", shown(*bandwidth)) : ""));
  }
}

// The islands that links and switches make of the GPUs.
GpuGroups islands(const Machine& machine, const std::vector<FlatLink>& links) {
  std::map<std::string, std::size_t> node;
  const auto node_of = [&](const std::string& id) {
    return node.emplace(id, node.size()).first->second;
  };
  graph::JoinedItems joined(machine.gpus.size() + 2 * links.size());
  for (const FlatLink& link : links) joined.join(node_of(link.src), node_of(link.dst));
  std::map<std::size_t, std::size_t> number;
  GpuGroups islands;
  for (std::size_t g = 0; g < machine.gpus.size(); ++g) {
    const auto [at, is_new] =
        number.emplace(joined.first(node_of(machine.gpus[g].id())), islands.size());
    if (is_new) islands.emplace_back();
    islands[at->second].push_back(machine.gpus[g].id());
  }
  return islands;
}

// NVLink is ten times as wide as PCIe: which of them joins the GPUs must not be guessed.
void refuse_unknown(const Context& context, const Machine& machine, const GpuGroups& groups) {
  // Files that have some links are not completed.
  const std::string give =
      machine.links.empty() ? fmt::format("Give them: {}. ", links_to_give(machine.nvlink_bandwidth,
                                                                           machine.nvlink_box))
                            : "";
  context.report.left_apart = true;
  context.findings.error(
      Code::I07, "", fmt::format("no link joins {}: {}", in_words(groups), machine.links_unknown),
      fmt::format("{}Where the GPUs have {}, `pcie_p2p` takes PCIe and the CPUs for the way. Or "
                  "dump the topology on the machine, with NCCL_TOPO_DUMP_FILE.",
                  give, machine.links.empty() ? "none" : "no others"));
}

void refuse_apart(const Context& context, const Machine& machine, const GpuGroups& groups) {
  context.report.left_apart = true;
  context.findings.error(
      Code::I07, "", fmt::format("no link joins {}", in_words(groups)),
      fmt::format(
          "The file does not describe how PCIe joins them: dump NCCL's topology "
          "(NCCL_TOPO_DUMP_FILE), which does. `boxes=N, fabric=NAME` joins them by "
          "their NICs{}.",
          machine.links.empty()
              ? fmt::format("; `nvswitch={}` (GB/s) says that they have NVSwitches",
                            machine.nvlink_bandwidth ? shown(*machine.nvlink_bandwidth) : "RATE")
              : ""));
}

// Whether bridges lead up from every GPU to a CPU, and CPUs to each other.
bool has_pcie_tree(const Machine& machine) {
  return std::ranges::all_of(machine.gpus, [&](const Gpu& gpu) {
    std::size_t at = gpu.slot.parent;
    while (at != kNone && !machine.bridges[at].cpu) at = machine.bridges[at].slot.parent;
    return at != kNone;
  });
}

// Between GPUs, NVSwitches and sockets.
std::vector<FlatLink> fabric_links(const BoxLinks& fabric, const Machine& machine,
                                   bool shared_nvswitch, std::vector<FlatLink>& shared) {
  std::vector<FlatLink> links = fabric.inside;
  auto& to_switches = shared_nvswitch ? shared : links;
  to_switches.insert(to_switches.end(), fabric.to_switches.begin(), fabric.to_switches.end());
  for (const SwitchLink& link : machine.switch_links) {
    links.push_back({.src = machine.nvswitch_id(link.from),
                     .dst = machine.nvswitch_id(link.to),
                     .bandwidth = link.bandwidth,
                     .kind = "nvlink",
                     .full_duplex = false});
  }
  return join_directions(links);
}

void add_nodes(SectionText& section, const std::vector<std::string>& ids, NodeType type,
               bool in_network = false) {
  for (const std::string& list : compress_ids(ids)) {
    section.nodes.push_back(
        {.ids = list, .type = type, .multicast = in_network, .reduce = in_network});
  }
}

void add_pcie(const Context& context, const Machine& machine, bool with_nics, bool p2p,
              const BoxLinks& fabric, Box& box, std::vector<FlatLink>& links) {
  if (!p2p && !with_nics) return;
  PcieGraph graph = p2p ? all_paths(machine, with_nics) : nic_paths(machine);
  auto& guesses = context.report.guesses;
  guesses.insert(guesses.end(), graph.guesses.begin(), graph.guesses.end());
  add_pcie_nodes(machine, std::move(graph), p2p, fabric.socket_of, box.section, links, box.ports);
}

// Whether PCIe and the CPUs are ways between the GPUs: where the options say so, and where the
// links do not join them. Nothing where the GPUs are left apart.
std::optional<bool> ways_of_pcie(const Context& context, const Machine& machine,
                                 const std::vector<FlatLink>& links, const BoxOptions& options) {
  if (context.options.pcie_p2p) return true;
  GpuGroups groups = islands(machine, links);
  if (groups.size() < 2) return false;
  if (!machine.links_unknown.empty()) {
    refuse_unknown(context, machine, groups);
    return std::nullopt;
  }
  if (!has_pcie_tree(machine)) {
    const bool linked_outside = options.with_nics || options.shared_nvswitch;
    if (linked_outside) return false;
    refuse_apart(context, machine, groups);
    return std::nullopt;
  }
  // Of several hosts, the first speaks for all.
  auto& joined = context.report.joined_by_pcie;
  if (joined.empty()) {
    joined = std::move(groups);
    context.report.nvlink_expected = machine.nvlink_expected;
    context.report.nvlink_box = machine.nvlink_box;
    context.report.nvlink_bandwidth = machine.nvlink_bandwidth;
  }
  return true;
}

}  // namespace

std::optional<Box> make_box(const Context& context, const Machine& machine,
                            const BoxOptions& options) {
  Box box;
  const BoxLinks fabric = box_links(context, machine);
  std::vector<FlatLink> links = fabric_links(fabric, machine, options.shared_nvswitch, box.shared);
  std::vector<FlatLink> all = links;
  all.insert(all.end(), box.shared.begin(), box.shared.end());
  context.report.understood.push_back(counted(machine.gpus.size(), "GPU"));
  report_links(context, machine, all);

  std::vector<std::string> gpus, switches;
  for (const std::size_t gpu : device_order(machine)) gpus.push_back(machine.gpus[gpu].id());
  for (std::size_t s = 0; s < machine.nvswitches.size(); ++s) {
    switches.push_back(machine.nvswitch_id(s));
  }
  add_nodes(box.section, gpus, NodeType::compute);
  if (!options.shared_nvswitch) {
    add_nodes(box.section, switches, NodeType::switch_node, machine.in_network);
  }
  add_nodes(box.section, fabric.sockets, NodeType::switch_node);
  if (options.with_nics) box.ports = ports_of(context, machine);
  report_nics(context, box.ports);
  const auto p2p = ways_of_pcie(context, machine, all, options);
  if (!p2p) return std::nullopt;
  add_pcie(context, machine, options.with_nics, *p2p, fabric, box, links);
  box.section.links = compact(links);
  for (const std::size_t gpu : rank_order(context, machine))
    box.gpus.push_back(machine.gpus[gpu].id());
  box.ranks_differ = box.gpus != gpus;
  describe_parts(machine, box);
  return box;
}

}  // namespace forestcoll::importing
