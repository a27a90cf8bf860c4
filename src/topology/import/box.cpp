#include "topology/import/box.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "topology/import/pcie.hpp"

namespace forestcoll::importing {
namespace {

std::string gpu_id(const Machine& machine, std::size_t gpu) {
  return fmt::format("gpu{}", machine.gpus[gpu].dev);
}

std::string nvswitch_id(const Machine& machine, std::size_t index) {
  return machine.nvswitches.size() == 1 ? "nvsw" : fmt::format("nvsw{}", index);
}

// The links that are no PCIe: NVLink, xGMI, and of GPUs to NVSwitches and POWER CPUs.
class Fabric {
 public:
  Fabric(const Context& context, const Machine& machine) : context_(context), machine_(machine) {
    for (const GpuLink& link : machine.links) {
      counts_[link.gpu][link.kind] += link.count;
      if (link.end == End::gpu) {
        add_to_pair(link);
      } else {
        add_to_switch(link);
      }
    }
  }

  // Between two GPUs; both ends state a link, and should state the same.
  std::vector<FlatLink> between_gpus() {
    std::vector<FlatLink> links;
    for (const auto& [ends, stated] : pairs_) {
      const auto [a, b] = ends;
      const auto back = pairs_.find({b, a});
      const bool equal = back != pairs_.end() && same_bundles(stated, back->second);
      if (equal && a > b) continue;  // stated from the other end
      if (!equal && (a < b || back == pairs_.end())) {
        warn_of_difference(a, b, sum(stated), back == pairs_.end() ? 0 : sum(back->second));
      }
      for (const GpuLink& link : stated) {
        links.push_back({.src = gpu_id(machine_, a),
                         .dst = gpu_id(machine_, b),
                         .bandwidth = link.bandwidth,
                         .count = link.count,
                         .kind = link.kind,
                         .full_duplex = equal});
      }
    }
    return links;
  }

  [[nodiscard]] const std::vector<FlatLink>& to_switches() const { return to_switches_; }

  // The CPUs that NVLink leads to, and what joins them.
  [[nodiscard]] const std::vector<std::string>& sockets() const { return sockets_; }
  [[nodiscard]] std::vector<FlatLink> between_sockets() const {
    std::vector<FlatLink> links;
    for (std::size_t i = 0; i < sockets_.size(); ++i) {
      for (std::size_t j = i + 1; j < sockets_.size(); ++j) {
        links.push_back({.src = sockets_[i],
                         .dst = sockets_[j],
                         .bandwidth = machine_.cpu_link.value_or(Ratio(6)),
                         .kind = "cpu"});
      }
    }
    return links;
  }

  // W05: NCCL accepts a dead link in silence.
  void warn_of_missing_links() const {
    std::set<std::string> kinds;
    for (const GpuLink& link : machine_.links) kinds.insert(link.kind);
    for (const std::string& kind : kinds) {
      std::int64_t most = 0;
      for (std::size_t g = 0; g < machine_.gpus.size(); ++g) most = std::max(most, count(g, kind));
      std::vector<std::string> fewer;
      for (std::size_t g = 0; g < machine_.gpus.size(); ++g) {
        if (count(g, kind) < most) {
          fewer.push_back(fmt::format("{} ({})", gpu_id(machine_, g), count(g, kind)));
        }
      }
      // Where most of them have fewer, the board is made like that.
      if (fewer.empty() || 2 * fewer.size() > machine_.gpus.size()) continue;
      context_.findings.warning(
          "W05", "",
          fmt::format("fewer {} links than the {} of other GPUs: {}", kind, most, listed(fewer)),
          "Dead links? NCCL accepts them in silence. Some boards are made like this.");
    }
  }

 private:
  // Several elements of a file may state parts of one bundle.
  void add_to_pair(const GpuLink& link) {
    auto& stated = pairs_[{link.gpu, link.target}];
    for (GpuLink& other : stated) {
      if (other.kind != link.kind || other.bandwidth != link.bandwidth) continue;
      other.count += link.count;
      return;
    }
    stated.push_back(link);
  }

  void add_to_switch(const GpuLink& link) {
    const std::string id = gpu_id(machine_, link.gpu);
    const std::string end =
        link.end == End::cpu ? socket(link.target) : nvswitch_id(machine_, link.target);
    const auto [at, is_new] =
        bundles_.emplace(std::tuple(id, end, link.kind, link.bandwidth), to_switches_.size());
    if (!is_new) {
      to_switches_[at->second].count += link.count;
      return;
    }
    to_switches_.push_back({.src = id,
                            .dst = end,
                            .bandwidth = link.bandwidth,
                            .count = link.count,
                            .kind = link.kind});
  }

  const std::string& socket(std::size_t bridge) {
    const auto [at, is_new] = socket_of_.emplace(bridge, sockets_.size());
    if (is_new) sockets_.push_back(fmt::format("socket{}", at->second));
    return sockets_[at->second];
  }

  static bool same_bundles(const std::vector<GpuLink>& one, const std::vector<GpuLink>& other) {
    return std::ranges::is_permutation(one, other, [](const GpuLink& a, const GpuLink& b) {
      return a.count == b.count && a.bandwidth == b.bandwidth && a.kind == b.kind;
    });
  }

  // For people.
  static double sum(const std::vector<GpuLink>& links) {
    double total = 0;
    for (const GpuLink& link : links) {
      total += link.bandwidth.to_double() * static_cast<double>(link.count);
    }
    return total;
  }

  [[nodiscard]] std::int64_t count(std::size_t gpu, const std::string& kind) const {
    const auto of_gpu = counts_.find(gpu);
    if (of_gpu == counts_.end()) return 0;
    const auto found = of_gpu->second.find(kind);
    return found == of_gpu->second.end() ? 0 : found->second;
  }

  void warn_of_difference(std::size_t a, std::size_t b, double there, double back) {
    context_.findings.warning(
        "I22", "",
        fmt::format("{} has {:.6g} GB/s to {}, which has {:.6g} GB/s back", gpu_id(machine_, a),
                    there, gpu_id(machine_, b), back),
        "Each direction is taken as the file has it. A dead link? Dump the topology anew.");
  }

  const Context& context_;
  const Machine& machine_;
  std::map<std::pair<std::size_t, std::size_t>, std::vector<GpuLink>> pairs_;
  std::map<std::size_t, std::map<std::string, std::int64_t>> counts_;
  std::vector<FlatLink> to_switches_;
  std::map<std::tuple<std::string, std::string, std::string, Ratio>, std::size_t> bundles_;
  std::map<std::size_t, std::size_t> socket_of_;  // of a CPU among the bridges
  std::vector<std::string> sockets_;
};

// The nodes and links that a PCIe graph becomes.
class PcieNodes {
 public:
  PcieNodes(const Machine& machine, PcieGraph graph) : machine_(machine), graph_(std::move(graph)) {
    number_bridges();
  }

  // Every part is a node, and every edge a link both ways: GPUs may reach each other.
  void add_plain(SectionText& section, std::vector<FlatLink>& links,
                 std::vector<NicPort>& ports) const {
    add_switches(section, bridge_ids(""));
    std::vector<std::string> nics;
    for (std::size_t n = 0; n < ports.size(); ++n) {
      ports[n].send = ports[n].receive = fmt::format("nic{}", n);
      nics.push_back(ports[n].send);
    }
    add_switches(section, nics);
    for (const PcieEdge& edge : graph_.edges) {
      links.push_back({.src = id(edge.a, ""),
                       .dst = id(edge.b, ""),
                       .bandwidth = bandwidth(edge, ports),
                       .kind = edge.cpu ? "cpu" : "pcie"});
    }
  }

  // GPUs reach NICs and NICs reach GPUs, but PCIe is no way from GPU to GPU: each bridge, and each
  // NIC that several GPUs share, is a node for either direction.
  void add_directed(SectionText& section, std::vector<FlatLink>& links,
                    std::vector<NicPort>& ports) const {
    const std::vector<bool> pair = is_pair();
    std::vector<std::string> nics, senders, receivers;
    for (std::size_t e = 0; e < graph_.edges.size(); ++e) {
      if (pair[graph_.group_of[e]]) {
        add_pair(graph_.edges[e], links, ports);
      } else {
        add_both_directions(graph_.edges[e], links, ports);
      }
    }
    for (const NicPort& port : ports) {
      if (port.is_one_node()) {
        nics.push_back(port.send);
      } else {
        senders.push_back(port.send);
        receivers.push_back(port.receive);
      }
    }
    add_switches(section, bridge_ids("_out"));
    add_switches(section, bridge_ids("_in"));
    add_switches(section, nics);
    add_switches(section, senders);
    add_switches(section, receivers);
  }

 private:
  void number_bridges() {
    std::set<std::size_t> used;
    for (const PcieEdge& edge : graph_.edges) {
      for (const PciePart part : {edge.a, edge.b}) {
        if (part.type == PciePart::Type::bridge) used.insert(part.index);
      }
    }
    std::size_t pcies = 0, cpus = 0;
    for (const std::size_t bridge : used) {
      number_[bridge] = machine_.bridges[bridge].cpu ? cpus++ : pcies++;
    }
  }

  [[nodiscard]] std::string bridge_id(std::size_t bridge, std::string_view suffix) const {
    return fmt::format("{}{}{}", machine_.bridges[bridge].cpu ? "cpu" : "pcie", suffix,
                       number_.at(bridge));
  }

  [[nodiscard]] std::vector<std::string> bridge_ids(std::string_view suffix) const {
    std::vector<std::string> ids;
    for (const bool cpu : {false, true}) {
      for (const auto& [bridge, number] : number_) {
        if (machine_.bridges[bridge].cpu == cpu) ids.push_back(bridge_id(bridge, suffix));
      }
    }
    return ids;
  }

  // `suffix`: "_out" on the way to the NICs, "_in" on the way from them.
  [[nodiscard]] std::string id(PciePart part, std::string_view suffix) const {
    switch (part.type) {
      case PciePart::Type::gpu:
        return gpu_id(machine_, part.index);
      case PciePart::Type::nic:
        return fmt::format("nic{}{}", suffix, part.index);
      case PciePart::Type::bridge:
        break;
    }
    return bridge_id(part.index, suffix);
  }

  static void add_switches(SectionText& section, const std::vector<std::string>& ids) {
    for (const std::string& list : compress_ids(ids)) {
      section.nodes.push_back({.ids = list, .type = NodeType::switch_node});
    }
  }

  // A NIC straight on a CPU has no PCIe link to be narrower than itself. One without a bandwidth
  // is an error where it is linked on.
  [[nodiscard]] static Ratio bandwidth(const PcieEdge& edge, const std::vector<NicPort>& ports) {
    if (edge.bandwidth) return *edge.bandwidth;
    const PciePart nic = edge.a.type == PciePart::Type::nic ? edge.a : edge.b;
    return ports[nic.index].bandwidth.value_or(Ratio(1));
  }

  [[nodiscard]] std::vector<bool> is_pair() const {
    std::vector<std::size_t> edges(graph_.groups);
    for (const std::size_t group : graph_.group_of) ++edges[group];
    std::vector<bool> pair;
    for (const std::size_t count : edges) pair.push_back(count == 1);
    return pair;
  }

  void add_pair(const PcieEdge& edge, std::vector<FlatLink>& links,
                std::vector<NicPort>& ports) const {
    const bool gpu_first = edge.a.type == PciePart::Type::gpu;
    const PciePart gpu = gpu_first ? edge.a : edge.b, nic = gpu_first ? edge.b : edge.a;
    ports[nic.index].send = ports[nic.index].receive = id(nic, "");
    links.push_back({.src = id(gpu, ""),
                     .dst = id(nic, ""),
                     .bandwidth = bandwidth(edge, ports),
                     .kind = "pcie"});
  }

  void add_both_directions(const PcieEdge& edge, std::vector<FlatLink>& links,
                           std::vector<NicPort>& ports) const {
    for (const auto& [a, b] : {std::pair(edge.a, edge.b), std::pair(edge.b, edge.a)}) {
      FlatLink link{.bandwidth = bandwidth(edge, ports),
                    .kind = edge.cpu ? "cpu" : "pcie",
                    .full_duplex = false};
      for (const std::string_view way : {"_out", "_in"}) {
        const bool out = way == "_out";
        // Nothing goes out into a GPU or comes in from one, and the other way about for NICs.
        const auto from = out ? PciePart::Type::nic : PciePart::Type::gpu;
        const auto to = out ? PciePart::Type::gpu : PciePart::Type::nic;
        if (a.type == from || b.type == to) continue;
        link.src = id(a, way);
        link.dst = id(b, way);
        links.push_back(link);
      }
    }
    for (const PciePart part : {edge.a, edge.b}) {
      if (part.type != PciePart::Type::nic) continue;
      ports[part.index].send = id(part, "_out");
      ports[part.index].receive = id(part, "_in");
    }
  }

  const Machine& machine_;
  PcieGraph graph_;
  std::map<std::size_t, std::size_t> number_;  // of a bridge among those of its sort
};

std::vector<NicPort> ports_of(const Context& context, const Machine& machine) {
  std::vector<NicPort> ports;
  for (const Nic& nic : machine.nics) {
    auto bandwidth = context.overridden("nic");
    if (!bandwidth) bandwidth = nic.bandwidth ? nic.bandwidth : context.options.nic_bandwidth;
    ports.push_back({.send = "", .receive = "", .name = nic.name, .bandwidth = bandwidth});
  }
  return ports;
}

std::vector<std::size_t> device_order(const Machine& machine) {
  std::vector<std::size_t> order(machine.gpus.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, {}, [&](std::size_t gpu) { return machine.gpus[gpu].dev; });
  return order;
}

// The order of the ranks where the file gives each GPU its own.
std::vector<std::size_t> rank_order(const Machine& machine) {
  std::vector<std::size_t> order = device_order(machine);
  std::set<std::int64_t> ranks;
  for (const Gpu& gpu : machine.gpus) {
    if (!gpu.rank || !ranks.insert(*gpu.rank).second) return order;
  }
  std::ranges::sort(order, {}, [&](std::size_t gpu) { return *machine.gpus[gpu].rank; });
  return order;
}

void describe_parts(const Machine& machine, Box& box) {
  for (std::size_t g = 0; g < machine.gpus.size(); ++g) {
    const Gpu& gpu = machine.gpus[g];
    std::string text = gpu.name;
    if (gpu.rank) text += fmt::format("{}rank {}", text.empty() ? "" : ", ", *gpu.rank);
    if (!text.empty()) box.metadata.emplace_back(gpu_id(machine, g), text);
  }
  for (std::size_t n = 0; n < box.ports.size(); ++n) {
    box.metadata.emplace_back(fmt::format("nic{}", n), box.ports[n].name);
  }
}

void report_links(const Context& context, const std::vector<FlatLink>& links) {
  std::map<std::pair<std::string, Ratio>, std::int64_t> counts;
  for (const FlatLink& link : links) {
    if (link.kind != "pcie" && link.kind != "cpu")
      counts[{link.kind, link.bandwidth}] += link.count;
  }
  for (const auto& [kind, count] : counts) {
    context.report.understood.push_back(
        fmt::format("{} of {} GB/s", counted(static_cast<std::size_t>(count), kind.first + " link"),
                    shown(kind.second)));
  }
}

// The islands that links and switches make of the GPUs.
std::vector<std::vector<std::string>> islands(const Machine& machine,
                                              const std::vector<FlatLink>& links) {
  std::map<std::string, std::string> parent;
  for (std::size_t g = 0; g < machine.gpus.size(); ++g) {
    parent.emplace(gpu_id(machine, g), gpu_id(machine, g));
  }
  for (const FlatLink& link : links) {
    parent.emplace(link.src, link.src);
    parent.emplace(link.dst, link.dst);
  }
  const auto find = [&](std::string id) {
    while (parent[id] != id) id = parent[id] = parent[parent[id]];
    return id;
  };
  for (const FlatLink& link : links) parent[find(link.src)] = find(link.dst);
  std::map<std::string, std::size_t> number;
  std::vector<std::vector<std::string>> islands;
  for (std::size_t g = 0; g < machine.gpus.size(); ++g) {
    const auto [at, is_new] = number.emplace(find(gpu_id(machine, g)), islands.size());
    if (is_new) islands.emplace_back();
    islands[at->second].push_back(gpu_id(machine, g));
  }
  return islands;
}

bool check_joined(const Context& context, const Machine& machine,
                  const std::vector<FlatLink>& links) {
  const auto found = islands(machine, links);
  if (found.size() < 2) return true;
  std::vector<std::string> texts;
  for (const auto& island : found)
    texts.push_back(fmt::format("{}", fmt::join(compress_ids(island), ",")));
  const bool none = found.size() == machine.gpus.size();
  context.findings.error(
      "I07", "",
      none ? fmt::format("no link joins any two of the {} GPUs", machine.gpus.size())
           : fmt::format("no link joins these groups of GPUs: {}", listed(texts)),
      "--pcie-p2p takes the PCIe for a way between them (where the file describes it), --boxes N "
      "--fabric NAME the NICs; or dump the topology where the links are seen.");
  return false;
}

// Between GPUs, NVSwitches and sockets.
std::vector<FlatLink> fabric_links(Fabric& fabric, const Machine& machine, bool shared_nvswitch,
                                   std::vector<FlatLink>& shared) {
  std::vector<FlatLink> links = fabric.between_gpus();
  auto& to_switches = shared_nvswitch ? shared : links;
  to_switches.insert(to_switches.end(), fabric.to_switches().begin(), fabric.to_switches().end());
  for (const SwitchLink& link : machine.switch_links) {
    links.push_back({.src = nvswitch_id(machine, link.from),
                     .dst = nvswitch_id(machine, link.to),
                     .bandwidth = link.bandwidth,
                     .kind = "nvlink",
                     .full_duplex = false});
  }
  const auto sockets = fabric.between_sockets();
  links.insert(links.end(), sockets.begin(), sockets.end());
  return join_directions(links);
}

void add_nodes(SectionText& section, const std::vector<std::string>& ids, NodeType type) {
  for (const std::string& list : compress_ids(ids)) {
    section.nodes.push_back({.ids = list, .type = type});
  }
}

void add_pcie(const Context& context, const Machine& machine, bool with_nics, Box& box,
              std::vector<FlatLink>& links) {
  const bool p2p = context.options.pcie_p2p;
  if (!p2p && !with_nics) return;
  PcieGraph graph = p2p ? all_ways(machine, with_nics) : nic_ways(machine);
  auto& guesses = context.report.guesses;
  guesses.insert(guesses.end(), graph.guesses.begin(), graph.guesses.end());
  const PcieNodes nodes(machine, std::move(graph));
  if (p2p) {
    nodes.add_plain(box.section, links, box.ports);
  } else {
    nodes.add_directed(box.section, links, box.ports);
  }
}

}  // namespace

std::optional<Box> make_box(const Context& context, const Machine& machine,
                            const BoxOptions& options) {
  Box box;
  Fabric fabric(context, machine);
  std::vector<FlatLink> links = fabric_links(fabric, machine, options.shared_nvswitch, box.shared);
  fabric.warn_of_missing_links();
  std::vector<FlatLink> all = links;
  all.insert(all.end(), box.shared.begin(), box.shared.end());
  context.report.understood.push_back(counted(machine.gpus.size(), "GPU"));
  report_links(context, all);

  std::vector<std::string> gpus, switches;
  for (const std::size_t gpu : device_order(machine)) gpus.push_back(gpu_id(machine, gpu));
  for (std::size_t s = 0; s < machine.nvswitches.size(); ++s) {
    switches.push_back(nvswitch_id(machine, s));
  }
  add_nodes(box.section, gpus, NodeType::compute);
  if (!options.shared_nvswitch) add_nodes(box.section, switches, NodeType::switch_node);
  add_nodes(box.section, fabric.sockets(), NodeType::switch_node);
  if (options.with_nics) box.ports = ports_of(context, machine);
  add_pcie(context, machine, options.with_nics, box, links);

  const bool linked_outside = options.with_nics || options.shared_nvswitch;
  if (!linked_outside && !check_joined(context, machine, links)) return std::nullopt;
  box.section.links = compact(links);
  for (const std::size_t gpu : rank_order(machine)) box.gpus.push_back(gpu_id(machine, gpu));
  box.ranks_differ = box.gpus != gpus;
  describe_parts(machine, box);
  return box;
}

}  // namespace forestcoll::importing
