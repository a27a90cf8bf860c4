// Hosts of a network's dump are boxes of the same name, as `ibnetdiscover` is imported. Their
// adapters are known by the order of their names: the first of all names that hosts have is the
// first port of a box. A port that another host has, and this one not, is down at both ends.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/words.hpp"
#include "forestcoll/text.hpp"
#include "forestcoll/topology_text.hpp"
#include "topology/health/apply.hpp"
#include "topology/model/pcie_direction.hpp"

namespace forestcoll::health {
namespace {

// A device of a box that is cabled to the network: a NIC, or both halves of one.
struct NetworkPort {
  std::vector<LinkId> links;
  std::optional<Ratio> bandwidth = Ratio(0);  ///< GB/s that leave the box; nothing: too fine
};

// mlx5_2 before mlx5_10.
std::pair<std::string, std::int64_t> name_in_order(const std::string& name) {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  return {name.substr(0, digits), natural(std::string_view(name).substr(digits)).value_or(-1)};
}

class NetworkHealth {
 public:
  NetworkHealth(const Topology& topology, const NetworkState& state, Findings& findings,
                HealthReport& report)
      : topology_(topology), findings_(findings), report_(report) {
    for (const PortState& port : state.ports) take(port);
    for (const std::string& doubt : state.doubts) {
      findings_.warning(Code::I21, "", fmt::format("{} ({})", doubt, state.source),
                        "It may be meant so; the topology's own speed decides.");
    }
  }

  bool apply() {
    find_ports();
    std::vector<std::string> known, unknown;
    for (const auto& [host, adapters] : hosts_) {
      (ports_.contains(host) ? known : unknown).push_back(host);
    }
    if (known.empty()) {
      findings_.error(
          Code::I02, "",
          fmt::format("none of its {} is a box of the topology", counted(hosts_.size(), "host")),
          "Boxes have the names of their hosts where the network is imported from "
          "ibnetdiscover.");
      return false;
    }
    for (const std::string& host : known) apply_host(host);
    report_missing_hosts();
    return true;
  }

 private:
  void take(const PortState& port) {
    const auto words = words_of(port.node);
    const auto others = words_of(port.other);
    const auto host_of = [](const auto& parts) { return std::string(parts[0]); };
    // Each cable stands at both of its ends; that of the host counts, whichever has it.
    if (words.size() == 2) {
      add(host_of(words), std::string(words[1]), port);
    } else if (others.size() == 2) {
      from_switch_[{std::string(others[0]), std::string(others[1])}].push_back(port.bandwidth);
    }
  }
  void add(const std::string& host, const std::string& adapter, const PortState& port) {
    Ratio& sum = hosts_[host][adapter];
    sum = sum + port.bandwidth;
    adapters_.insert(adapter);
  }

  void find_ports() {
    for (const auto& [key, speeds] : from_switch_) {
      if (hosts_.contains(key.first) && hosts_[key.first].contains(key.second)) continue;
      PortState port;
      for (const Ratio& speed : speeds) port.bandwidth = port.bandwidth + speed;
      add(key.first, key.second, port);
    }
    // Ports of a box in the order of the nodes.
    std::map<std::string, std::map<std::string, std::size_t>> index;
    for (std::size_t i = 0; i < topology_.links.size(); ++i) {
      const TopologyLink& link = topology_.links[LinkId(i)];
      if (!link.enabled) continue;
      for (const NodeId end : {link.src, link.dst}) {
        const TopologyNode& node = topology_.nodes[end];
        const TopologyNode& other = topology_.nodes[end == link.src ? link.dst : link.src];
        if (node.box.empty() || node.box == other.box) continue;
        const auto device = topology::device_of(node.id);
        const std::string name = device ? std::string(*device) : node.id;
        auto& ports = ports_[node.box];
        const auto [at, is_new] = index[node.box].emplace(name, ports.size());
        if (is_new) ports.emplace_back();
        NetworkPort& port = ports[at->second];
        port.links.push_back(LinkId(i));
        if (!link.full_duplex && end == link.dst) continue;
        if (port.bandwidth) port.bandwidth = checked_add(*port.bandwidth, link.bandwidth);
      }
    }
  }

  void apply_host(const std::string& host) {
    const auto& ports = ports_[host];
    std::vector<std::string> names(adapters_.begin(), adapters_.end());
    std::ranges::sort(names, {}, name_in_order);
    // Adapters of other uses, such as storage, are at most hosts, too: then nobody knows.
    if (names.size() != ports.size()) {
      findings_.warning(Code::I21, "",
                        fmt::format("{}: hosts have {}, and the box {}: it is left as it is",
                                    topology::quote(host), counted(names.size(), "adapter"),
                                    counted(ports.size(), "port")),
                        "Take the lines of other adapters out of the dump.");
      return;
    }
    for (std::size_t i = 0; i < names.size(); ++i) {
      const auto found = hosts_[host].find(names[i]);
      apply_port(host, names[i], ports[i], found == hosts_[host].end() ? Ratio(0) : found->second);
    }
  }

  void apply_port(const std::string& host, const std::string& adapter, const NetworkPort& port,
                  const Ratio& bandwidth) {
    const auto part = port.bandwidth ? checked_div(bandwidth, *port.bandwidth) : std::nullopt;
    if (!part || *part >= Ratio(1)) return;
    std::set<std::string> items;
    for (const LinkId id : port.links) {
      const TopologyLink& link = topology_.links[id];
      items.insert(link_item(topology_.nodes[link.src].id, topology_.nodes[link.dst].id));
    }
    const std::string left = exact_text(*part);
    for (const std::string& item : items) {
      if (bandwidth == Ratio(0)) {
        report_.failures.drop.push_back(item);
      } else {
        report_.failures.derate.push_back(fmt::format("{}={}", item, left));
      }
    }
    report_.found.push_back(bandwidth == Ratio(0)
                                ? fmt::format("{}: {} is down", host, adapter)
                                : fmt::format("{}: {} has {} of {} GB/s", host, adapter,
                                              exact_text(bandwidth), exact_text(*port.bandwidth)));
  }

  void report_missing_hosts() {
    std::vector<std::string> missing;
    for (const auto& [box, ports] : ports_) {
      if (!hosts_.contains(box)) missing.push_back(box);
    }
    if (missing.empty()) return;
    findings_.warning(Code::I21, "",
                      fmt::format("the dump does not name {} of the topology, such as {}; {} left "
                                  "as they are",
                                  missing.size() == 1 ? std::string("1 box")
                                                      : fmt::format("{} boxes", missing.size()),
                                  topology::quote(missing.front()),
                                  missing.size() == 1 ? "its links are" : "their links are"),
                      "Drop a box that is gone: `drop`.");
  }

  const Topology& topology_;
  Findings& findings_;
  HealthReport& report_;
  std::map<std::string, std::map<std::string, Ratio>> hosts_;  // by host and adapter: GB/s
  std::map<std::pair<std::string, std::string>, std::vector<Ratio>> from_switch_;
  std::set<std::string> adapters_;                         // of all hosts
  std::map<std::string, std::vector<NetworkPort>> ports_;  // by box
};

}  // namespace

bool apply_network(const Topology& topology, const NetworkState& state, Findings& findings,
                   HealthReport& report) {
  return NetworkHealth(topology, state, findings, report).apply();
}

}  // namespace forestcoll::health
