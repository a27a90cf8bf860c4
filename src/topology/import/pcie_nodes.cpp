#include "topology/import/pcie_nodes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "base/check.hpp"

namespace forestcoll::importing {
namespace {

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

  // Of what is drawn more than once. `suffixes`: of the nodes that a bridge is.
  void add_limits(const std::vector<std::string_view>& suffixes,
                  const std::map<std::size_t, std::string>& socket_of, SectionText& section) const {
    for (const PcieEdge& edge : graph_.edges) {
      const bool is_socket =
          edge.cpu && socket_of.contains(edge.a.index) && socket_of.contains(edge.b.index);
      if (!is_socket && (suffixes.size() == 1 || !is_used_in_both(edge))) continue;
      for (const auto& [a, b] : {std::pair(edge.a, edge.b), std::pair(edge.b, edge.a)}) {
        const std::string from = is_socket ? socket_of.at(a.index) : id(a, "");
        const std::string to = is_socket ? socket_of.at(b.index) : id(b, "");
        LimitText limit{.name = fmt::format("{} to {}", from, to),
                        .links = {},
                        .weights = {},
                        .bandwidth = exact_text(edge.bandwidth.value_or(Ratio(0)))};
        if (is_socket) limit.links.push_back(fmt::format("{}->{}", from, to));
        for (const std::string_view suffix : suffixes) {
          limit.links.push_back(fmt::format("{}->{}", id(a, suffix), id(b, suffix)));
        }
        section.limits.push_back(std::move(limit));
      }
    }
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
        return machine_.gpus[part.index].id();
      case PciePart::Type::nic:
        return fmt::format("nic{}{}", suffix, part.index);
      case PciePart::Type::bridge:
        break;
    }
    return bridge_id(part.index, suffix);
  }

  // Whether data crosses it in one direction both to NICs and from NICs: GPUs and NICs are on
  // either side.
  [[nodiscard]] bool is_used_in_both(const PcieEdge& edge) const {
    for (const PciePart side : {edge.a, edge.b}) {
      if (side.type != PciePart::Type::bridge) return false;
      const std::set<PciePart> parts = parts_beside(edge, side);
      for (const auto type : {PciePart::Type::gpu, PciePart::Type::nic}) {
        if (std::ranges::find(parts, type, &PciePart::type) == parts.end()) return false;
      }
    }
    return true;
  }

  // What is joined to `from` without the edge.
  [[nodiscard]] std::set<PciePart> parts_beside(const PcieEdge& edge, PciePart from) const {
    std::set<PciePart> parts = {from};
    for (bool grows = true; grows;) {
      grows = false;
      for (const PcieEdge& other : graph_.edges) {
        if (&other == &edge || parts.contains(other.a) == parts.contains(other.b)) continue;
        parts.insert({other.a, other.b});
        grows = true;
      }
    }
    return parts;
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
    FORESTCOLL_CHECK(nic.type == PciePart::Type::nic, "PCIe links between others have a bandwidth");
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
      for (const std::string_view direction : {"_out", "_in"}) {
        const bool out = direction == "_out";
        // Nothing goes out into a GPU or comes in from one, and the other way about for NICs.
        const auto from = out ? PciePart::Type::nic : PciePart::Type::gpu;
        const auto to = out ? PciePart::Type::gpu : PciePart::Type::nic;
        if (a.type == from || b.type == to) continue;
        link.src = id(a, direction);
        link.dst = id(b, direction);
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

}  // namespace

void add_pcie_nodes(const Machine& machine, PcieGraph graph, bool p2p,
                    const std::map<std::size_t, std::string>& socket_of, SectionText& section,
                    std::vector<FlatLink>& links, std::vector<NicPort>& ports) {
  const PcieNodes nodes(machine, std::move(graph));
  if (p2p) {
    nodes.add_plain(section, links, ports);
    nodes.add_limits({""}, socket_of, section);
  } else {
    nodes.add_directed(section, links, ports);
    nodes.add_limits({"_out", "_in"}, socket_of, section);
  }
}

}  // namespace forestcoll::importing
