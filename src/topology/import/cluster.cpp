// A cluster: its network from one file, each of its hosts from the dump of one machine.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "forestcoll/text.hpp"
#include "topology/import/box.hpp"
#include "topology/import/build_cluster.hpp"
#include "topology/import/complete.hpp"
#include "topology/import/notes.hpp"
#include "topology/import/option_use.hpp"
#include "topology/import/ports.hpp"

namespace forestcoll::importing {
namespace {

// A NIC's speed is what its cables bring, at the host where that is most: a dump may not have it,
// or that of one port alone. NICs of which neither says a speed are no part of the network.
void take_speeds_of_cables(const Context& context, const ClusterNetwork& network,
                           Machine& machine) {
  std::map<std::pair<std::string, std::string>, Ratio> at_host;
  for (const NetworkCable& cable : network.cables) {
    if (cable.to || !is_machine(context.options, cable.host)) continue;
    const auto cables = checked_mul(*cable.bandwidth, Ratio(cable.count));
    Ratio& sum = at_host[{cable.host, cable.nic}];
    sum = cables ? checked_add(sum, *cables).value_or(sum) : sum;
  }
  std::map<std::string, Ratio> most;
  for (const auto& [adapter, sum] : at_host) {
    Ratio& speed = most[adapter.second];
    speed = std::max(speed, sum);
  }
  std::vector<std::string> unknown;
  bool any = false;
  for (Nic& nic : machine.nics) {
    const auto speed = most.find(nic.name);
    if (speed != most.end()) {
      nic.bandwidth = speed->second;
      any = true;
    } else if (!nic.bandwidth) {
      unknown.push_back(nic.name);
    }
  }
  if (!any || unknown.empty()) return;
  std::erase_if(machine.nics, [](const Nic& nic) { return !nic.bandwidth; });
  context.report.left_out.push_back(fmt::format("{} without a cable in the network: {}",
                                                counted(unknown.size(), "NIC"), listed(unknown)));
}

// A cable's NICs: the one that it names, or all. Nothing where the box has none of that name.
std::optional<std::vector<std::size_t>> ports_of(const NetworkCable& cable, const Box& box) {
  std::vector<std::size_t> ports;
  for (std::size_t n = 0; n < box.ports.size(); ++n) {
    if (cable.nic.empty() || box.ports[n].name == cable.nic) ports.push_back(n);
  }
  if (ports.empty()) return std::nullopt;
  return ports;
}

// "node[0-3], login1"
std::string in_ranges(const std::vector<std::string>& names) {
  return listed(compress_ids(names));
}

// Hosts that are linked alike share an entry.
class Cabling {
 public:
  Cabling(const Context& context, const ClusterNetwork& network, const Box& box)
      : context_(context), network_(network), box_(box) {}

  bool connect(TopologyDocument& document) {
    for (const NetworkCable& cable : network_.cables) {
      if (cable.to) {
        between_.push_back({.src = network_.switches[cable.from].id,
                            .dst = network_.switches[*cable.to].id,
                            .bandwidth = *cable.bandwidth,
                            .count = cable.count,
                            .kind = "uplink"});
      } else {
        add_host(cable);
      }
    }
    if (!check_hosts()) return false;
    for (const auto& [key, hosts] : hosts_of_) {
      const auto& [from, ports, bandwidth, count] = key;
      append(box_.ports,
             {.boxes = hosts,
              .ports = ports,
              .switch_id = network_.switches[from].id,
              .bandwidth = bandwidth,
              .count = count},
             document.top.links);
    }
    for (LinkText& entry : compact(between_)) document.top.links.push_back(std::move(entry));
    for (const std::string& ids : compress_ids(hosts())) {
      document.boxes.push_back({.ids = ids, .template_name = "machine"});
    }
    return true;
  }

  [[nodiscard]] std::vector<std::string> hosts() const {
    std::vector<std::string> hosts;
    for (const std::string& host : network_.hosts) {
      if (linked_.contains(host)) hosts.push_back(host);
    }
    return hosts;
  }

 private:
  void add_host(const NetworkCable& cable) {
    if (!is_machine(context_.options, cable.host)) return;
    const auto ports = ports_of(cable, box_);
    if (!ports) {
      strangers_.insert(cable.host + " " + cable.nic);
      return;
    }
    linked_[cable.host] += ports->size() * static_cast<std::size_t>(cable.count);
    hosts_of_[{cable.from, *ports, cable.bandwidth, cable.count}].push_back(cable.host);
  }

  bool check_hosts() {
    std::vector<std::string> unnamed;
    for (const std::string& host : network_.hosts) {
      if (!is_machine(context_.options, host)) unnamed.push_back(host);
    }
    if (!unnamed.empty()) {
      context_.report.left_out.push_back("hosts that `compute` does not name: " +
                                         in_ranges(unnamed));
    }
    if (linked_.empty() && strangers_.empty()) {
      context_.findings.error(Code::I08, "",
                              fmt::format("`compute`: no host of the fabric is called {}",
                                          quote(context_.options.compute)),
                              fmt::format("The hosts are {}; * and ? stand for any text and any "
                                          "letter.",
                                          in_ranges(network_.hosts)));
      return false;
    }
    if (!strangers_.empty()) {
      context_.report.left_out.push_back(
          fmt::format("adapters that the machine of `box` has none of the name: {}",
                      listed({strangers_.begin(), strangers_.end()})));
    }
    if (linked_.empty()) {
      std::vector<std::string> names;
      for (const NicPort& port : box_.ports) names.push_back(port.name);
      context_.findings.error(
          Code::I08, "", "no adapter of the fabric is one of the machine of `box`",
          fmt::format("The NICs of the machine are called {}; the fabric has {}.", listed(names),
                      listed({strangers_.begin(), strangers_.end()})));
      return false;
    }
    std::size_t most = 0;
    std::vector<std::string> fewer;
    for (const auto& [host, count] : linked_) most = std::max(most, count);
    for (const auto& [host, count] : linked_) {
      if (count < most) fewer.push_back(fmt::format("{} ({})", host, count));
    }
    if (!fewer.empty()) {
      context_.findings.warning(
          Code::W05, "",
          fmt::format("fewer cables than the {} of other hosts: {}", most, listed(fewer)),
          "A dead cable or NIC? The hosts are taken as the file has them.");
    }
    return true;
  }

  using Key = std::tuple<std::size_t, std::vector<std::size_t>, std::optional<Ratio>, std::int64_t>;
  const Context& context_;
  const ClusterNetwork& network_;
  const Box& box_;
  std::map<Key, std::vector<std::string>> hosts_of_;
  std::map<std::string, std::size_t> linked_;
  std::set<std::string> strangers_;
  std::vector<FlatLink> between_;
};

}  // namespace

std::optional<TopologyDocument> join_cluster(const Context& context, const ClusterNetwork& network,
                                             Findings& box_findings) {
  const ImportOptions& options = context.options;
  if (options.boxes != 1 || !options.fabric.empty()) {
    context.findings.error(Code::I08, "",
                           "`boxes` and `fabric`: the file says which hosts there are",
                           "Leave them out.");
    return std::nullopt;
  }
  if (options.box_text.empty()) {
    context.findings.error(
        Code::I05, "", "the file describes the network between hosts, and not what is in them",
        "Add `box=FILE`: the dump of one of the machines (NCCL's topology XML, for example).");
    return std::nullopt;
  }
  const bool speeds_known = std::ranges::all_of(network.cables, [](const NetworkCable& cable) {
    return cable.to.has_value() || cable.bandwidth.has_value();
  });
  ImportOptions of_box = options;
  of_box.box_text.clear();  // it is the file itself
  // Given for a kind, it is each cable's already.
  if (speeds_known)
    std::erase_if(of_box.bandwidths, [](const auto& b) { return b.first == "nic"; });
  const Context inside{.text = options.box_text,
                       .source = detect_source(options.box_text).value_or(context.source),
                       .options = of_box,
                       .findings = box_findings,
                       .report = context.report};
  auto machine = read_box(inside);
  if (machine && !add_nvswitch(inside, *machine)) machine.reset();
  if (machine && speeds_known) take_speeds_of_cables(inside, network, *machine);
  auto box = machine ? make_box(inside, *machine, {.with_nics = true}) : std::nullopt;
  if (box && box->ports.empty()) {
    box_findings.error(Code::I08, "", "`box`: the machine has no NICs",
                       "Give the dump of a machine of the fabric, with its NICs.");
    box.reset();
  }
  if (box && speeds_known && options.nic_bandwidth) {
    context.findings.error(
        Code::I08, "", "`nic_bandwidth`: the file has the speed of every cable",
        "Leave it out, or overrule it: `bandwidths=FILE.csv` with a line \"nic,25\" (GB/s).");
    box.reset();
  }
  if (box && !speeds_known) {
    const bool known = check_bandwidths(inside, *machine, box->ports);
    if (!known || !check_nic_bandwidth(inside, {*box})) box.reset();
  }
  if (!box) return std::nullopt;

  TopologyDocument document;
  document.templates.push_back({.name = "machine", .section = box->section});
  Cabling cabling(context, network, *box);
  if (!cabling.connect(document)) return std::nullopt;
  for (const NetworkSwitch& entry : network.switches) {
    document.top.nodes.push_back({.ids = entry.id, .type = NodeType::switch_node});
    if (entry.name != entry.id) document.metadata.emplace_back(entry.id, entry.name);
  }
  if (box->ranks_differ) {
    for (const std::string& host : cabling.hosts()) {
      for (const std::string& gpus : compress_ids(box->gpus)) {
        document.rank_order.push_back(host + "/" + gpus);
      }
    }
  }
  if (options.compute.empty()) {
    context.report.guesses.push_back(
        fmt::format("every host is a machine as that of `box`: {} (`compute=PATTERN` names those "
                    "that are)",
                    in_ranges(cabling.hosts())));
  }
  context.report.understood.push_back(fmt::format("{} and {}",
                                                  counted(cabling.hosts().size(), "host"),
                                                  counted(network.switches.size(), "switch")));
  add_notes(context.report, document);
  return document;
}

}  // namespace forestcoll::importing
