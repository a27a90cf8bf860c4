// GPUs on networks of switches.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "topology/generate/jellyfish.hpp"
#include "topology/generate/makers.hpp"
#include "topology/generate/nodes.hpp"

namespace forestcoll::topology {
namespace {

constexpr std::int64_t kMostNetworkNodes = 1'000'000;
// Of a hop in one hall, and of a cable between groups, µs: those of the bundled files.
constexpr const char *kHopLatency = "0.5", *kGlobalLatency = "1";

std::string range(const std::string& prefix, std::int64_t first, std::int64_t last) {
  return first == last ? fmt::format("{}{}", prefix, first)
                       : fmt::format("{}[{}-{}]", prefix, first, last);
}

LinkText link(std::string src, std::string dst, std::string bandwidth, std::string kind) {
  return {.src = std::move(src),
          .dst = std::move(dst),
          .bandwidth = std::move(bandwidth),
          .kind = std::move(kind),
          .latency = kHopLatency};
}

// Each of `count` switches with the `hosts` GPUs next to it: "gpu[0-3]" on "r0", and so on.
void add_hosts(SectionText& section, const std::string& prefix, std::int64_t count,
               std::int64_t hosts, const std::string& bandwidth) {
  for (std::int64_t i = 0; i < count; ++i) {
    section.links.push_back(link(range("gpu", i * hosts, (i + 1) * hosts - 1),
                                 fmt::format("{}{}", prefix, i), bandwidth, "host"));
  }
}

TopologyDocument fat_tree(Parameters& parameters) {
  const std::int64_t ports = parameters.integer("ports", 4, 128);
  const NamedBandwidth bandwidth = parameters.bandwidth("bandwidth");
  const Ratio taper = parameters.factor("oversubscription");
  if (ports % 2 != 0) {
    parameters.refuse("ports", fmt::format("{} ports have no half", ports),
                      "Give an even number: half of a switch's ports lead up.");
  }
  if (!parameters.ok()) return {};
  const std::int64_t half = ports / 2;
  SectionText pod{.nodes = {{.ids = range("gpu", 0, half * half - 1)},
                            switches(range("edge", 0, half - 1)),
                            switches(range("agg", 0, half - 1))},
                  .links = {}};
  add_hosts(pod, "edge", half, half, bandwidth.text);
  const std::string uplink =
      taper == Ratio(1) ? bandwidth.text : exact_text(bandwidth.value / taper);
  pod.links.push_back(link(range("edge", 0, half - 1), range("agg", 0, half - 1), uplink, "pod"));

  TopologyDocument document;
  document.name = fmt::format("fat-tree k={}", ports);
  document.description = fmt::format(
      "The three-level fat-tree of Al-Fares et al. (SIGCOMM 2008) with {}-port switches: {} pods "
      "of {} GPUs, links of {}, {}.",
      ports, ports, half * half, bandwidth.text,
      taper == Ratio(1) ? "non-blocking"
                        : fmt::format("edge switches oversubscribed {}:1", taper.to_string()));
  document.templates = {{"pod", std::move(pod)}};
  document.boxes = {{range("pod", 0, ports - 1), "pod"}};
  document.top.nodes = {switches(range("core", 0, half * half - 1))};
  for (std::int64_t i = 0; i < half; ++i) {
    document.top.links.push_back(link(fmt::format("pod[0-{}]/agg{}", ports - 1, i),
                                      range("core", i * half, (i + 1) * half - 1), bandwidth.text,
                                      "core"));
  }
  return document;
}

// "g[3-8,0-2]": the groups `offset` further on.
std::string groups_after(std::int64_t groups, std::int64_t offset) {
  const std::string low =
      offset == groups - 1 ? fmt::format("{}", offset) : fmt::format("{}-{}", offset, groups - 1);
  return fmt::format("g[{},{}]", low, offset == 1 ? "0" : fmt::format("0-{}", offset - 1));
}

// Router r of a group has the global links to the groups r·h + 1 … r·h + h further on; they arrive
// at the routers counted from the other end, so that every pair of groups has one link.
void add_global_links(TopologyDocument& document, std::int64_t routers, std::int64_t global,
                      const std::string& bandwidth) {
  const std::int64_t links = routers * global;
  const std::int64_t groups = links + 1;
  for (std::int64_t offset = 1; 2 * offset <= groups; ++offset) {
    const bool half = 2 * offset == groups;  // there and back is the same link
    const std::string from = half ? range("g", 0, offset - 1) : range("g", 0, groups - 1);
    const std::string to = half ? range("g", offset, groups - 1) : groups_after(groups, offset);
    LinkText entry =
        link(fmt::format("{}/r{}", from, (offset - 1) / global),
             fmt::format("{}/r{}", to, (links - offset) / global), bandwidth, "global");
    entry.zip = true;
    entry.latency = kGlobalLatency;
    document.top.links.push_back(std::move(entry));
  }
}

TopologyDocument dragonfly(Parameters& parameters) {
  const std::int64_t hosts = parameters.integer("hosts", 1, 256);
  const std::int64_t routers = parameters.integer("routers", 1, 256);
  const std::int64_t global = parameters.integer("global", 1, 256);
  const NamedBandwidth bandwidth = parameters.bandwidth("bandwidth");
  const std::int64_t groups = routers * global + 1;
  if (groups * routers * (hosts + 1) > kMostNetworkNodes) {
    parameters.refuse("routers", "more than a million nodes", "Give smaller numbers.");
  }
  if (!parameters.ok()) return {};
  SectionText group{.nodes = {{.ids = range("gpu", 0, routers * hosts - 1)},
                              switches(range("r", 0, routers - 1))},
                    .links = {}};
  add_hosts(group, "r", routers, hosts, bandwidth.text);
  for (std::int64_t r = 0; r + 1 < routers; ++r) {
    group.links.push_back(
        link(fmt::format("r{}", r), range("r", r + 1, routers - 1), bandwidth.text, "local"));
  }
  TopologyDocument document;
  document.name = fmt::format("dragonfly (p = {}, a = {}, h = {})", hosts, routers, global);
  document.description = fmt::format(
      "The dragonfly of Kim et al. (ISCA 2008): {} groups of {} routers with {} GPUs and {} global "
      "links each, every link {}.",
      groups, routers, hosts, global, bandwidth.text);
  document.templates = {{"group", std::move(group)}};
  document.boxes = {{range("g", 0, groups - 1), "group"}};
  add_global_links(document, routers, global, bandwidth.text);
  return document;
}

// All addresses of `digits` digits below `base`, with one of them fixed.
std::string addresses(std::int64_t base, std::int64_t digits, std::int64_t fixed,
                      std::int64_t value) {
  std::string ids;
  for (std::int64_t d = 0; d < digits; ++d) {
    if (d > 0) ids += "-";
    ids += d == fixed ? fmt::format("{}", value) : fmt::format("[0-{}]", base - 1);
  }
  return ids;
}

TopologyDocument bcube(Parameters& parameters) {
  const std::int64_t ports = parameters.integer("ports", 2, 256);
  const std::int64_t levels = parameters.integer("levels", 1, 16);
  const NamedBandwidth bandwidth = parameters.bandwidth("bandwidth");
  std::int64_t nodes = levels;  // switches: levels · ports^(levels − 1); fewer than GPUs · levels
  for (std::int64_t i = 0; i < levels && nodes <= kMostNetworkNodes; ++i) nodes *= ports;
  if (nodes > kMostNetworkNodes) {
    parameters.refuse("levels", "more than a million nodes", "Give smaller numbers.");
  }
  if (!parameters.ok()) return {};
  TopologyDocument document;
  document.name = fmt::format("BCube({}, {})", ports, levels - 1);
  document.description = fmt::format(
      "BCube of Guo et al. (SIGCOMM 2009): GPUs with {} digits below {} as their address, and for "
      "each digit a {}-port switch that joins those who differ in it alone; links of {}.",
      levels, ports, ports, bandwidth.text);
  document.top.nodes = {{.ids = "gpu" + addresses(ports, levels, levels, 0)}};
  for (std::int64_t level = 0; level < levels; ++level) {
    // A switch's address has the digits of its GPUs but the one of its level.
    const std::string rest = levels == 1 ? "" : "-" + addresses(ports, levels - 1, levels, 0);
    const std::string name = fmt::format("sw{}{}", level, rest);
    document.top.nodes.push_back(switches(name));
    for (std::int64_t value = 0; value < ports; ++value) {
      LinkText entry = link("gpu" + addresses(ports, levels, level, value), name, bandwidth.text,
                            fmt::format("level{}", level));
      entry.zip = true;
      document.top.links.push_back(std::move(entry));
    }
  }
  return document;
}

TopologyDocument jellyfish(Parameters& parameters) {
  const std::int64_t count = parameters.integer("switches", 2, 100'000);
  const std::int64_t degree = parameters.integer("degree", 1, 256);
  const std::int64_t hosts = parameters.integer("hosts", 1, 256);
  const std::int64_t seed = parameters.integer("seed", 0, INT64_MAX);
  const NamedBandwidth bandwidth = parameters.bandwidth("bandwidth");
  if (degree >= count || degree * count % 2 != 0) {
    parameters.refuse("degree",
                      fmt::format("{} switches cannot have {} links to others each", count, degree),
                      "Give a smaller number; it or the number of switches must be even.");
  }
  if (count * (hosts + 1) > kMostNetworkNodes) {
    parameters.refuse("switches", "more than a million nodes", "Give smaller numbers.");
  }
  if (!parameters.ok()) return {};
  const auto neighbours =
      random_regular_graph(static_cast<std::size_t>(count), static_cast<std::size_t>(degree),
                           static_cast<std::uint64_t>(seed));
  if (!neighbours) {
    parameters.refuse(
        "degree",
        fmt::format("found no connected network of {} switches with {} links each", count, degree),
        "Give a larger degree, or another `seed`.");
    return {};
  }
  TopologyDocument document;
  document.name = fmt::format("jellyfish {}x{}, seed {}", count, hosts, seed);
  document.description = fmt::format(
      "Jellyfish (Singla et al., NSDI 2012): {} switches with {} GPUs each, joined by a random "
      "regular graph of degree {} (seed {}); links of {}.",
      count, hosts, degree, seed, bandwidth.text);
  document.templates = {
      {"switch",
       {.nodes = {{.ids = range("gpu", 0, hosts - 1)}, switches("sw")},
        .links = {link(range("gpu", 0, hosts - 1), "sw", bandwidth.text, "host")}}}};
  document.boxes = {{range("s", 0, count - 1), "switch"}};
  for (std::size_t i = 0; i < neighbours->size(); ++i) {
    std::string others;
    for (const std::size_t j : (*neighbours)[i]) {
      if (i < j) others += fmt::format("{}{}", others.empty() ? "" : ",", j);
    }
    if (others.empty()) continue;
    document.top.links.push_back(
        link(fmt::format("s{}/sw", i), fmt::format("s[{}]/sw", others), bandwidth.text, "network"));
  }
  return document;
}

const char* const kPort = "25";

}  // namespace

std::vector<Maker> network_makers() {
  const GeneratorParameter bandwidth = {"bandwidth", "of each link, per direction", kPort};
  return {
      {{"fat-tree",
        "GPUs on the three-level fat-tree of k-port switches",
        {{"ports", "k: even; k³/4 GPUs", "4"},
         bandwidth,
         {"oversubscription", "of the edge switches, as 2 or 2:1", "1"}}},
       fat_tree},
      {{"dragonfly",
        "GPUs on a dragonfly: groups of routers, each pair of groups linked",
        {{"hosts", "GPUs per router", "2"},
         {"routers", "per group", "4"},
         {"global", "links to other groups per router", "2"},
         bandwidth}},
       dragonfly},
      {{"bcube",
        "GPUs with a port in every digit of their address",
        {{"ports", "of a switch", "4"}, {"levels", "digits: ports^levels GPUs", "2"}, bandwidth}},
       bcube},
      {{"jellyfish",
        "GPUs on a random regular graph of switches",
        {{"switches", "how many", "16"},
         {"degree", "links to other switches per switch", "4"},
         {"hosts", "GPUs per switch", "2"},
         {"seed", "of the random graph", "1"},
         bandwidth}},
       jellyfish}};
}

}  // namespace forestcoll::topology
