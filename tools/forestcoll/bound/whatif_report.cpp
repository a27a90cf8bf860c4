#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "bound/report.hpp"
#include "common/report/rate_report.hpp"
#include "forestcoll/topology_text.hpp"

namespace forestcoll::cli {
namespace {

std::string name_of(LinkId id, const Topology& topology) {
  const TopologyLink& link = topology.links[id];
  return fmt::format("{} {} {}", topology.nodes[link.src].id, link.full_duplex ? "~" : "->",
                     topology.nodes[link.dst].id);
}

// "nvlink 300 GB/s = 12 x 25", "16 pcie 25 GB/s and 16 ib 25 GB/s"
std::string kinds_of(const std::vector<LinkId>& links, const Topology& topology, bool counts) {
  std::map<std::tuple<std::string, Ratio, std::int64_t>, std::size_t> kinds;
  for (const LinkId id : links) {
    const TopologyLink& link = topology.links[id];
    ++kinds[{link.kind, link.bandwidth, link.count}];
  }
  std::string text;
  std::size_t listed = 0;
  for (const auto& [kind_of, number_of] : kinds) {
    if (listed == 3) return text + ", …";
    ++listed;
    if (!text.empty()) text += ", ";
    if (counts) text += fmt::format("{} ", number_of);
    const auto& [kind, bandwidth, cables] = kind_of;
    if (!kind.empty()) text += kind + " ";
    text += bandwidth_in_words(bandwidth, cables);
  }
  return text;
}

std::string or_another(std::size_t count) {
  return count > 1 ? fmt::format(", or another of {}", count) : "";
}

// Where no text for --drop means this link alone, its ends.
std::string name_of(const FailureEffect& failure, const Topology& topology) {
  if (auto text = drop_text(failure, topology)) return *std::move(text);
  const LinkId first = failure.links.front();
  return fmt::format("{}{}, of several links between them", failure.one_cable ? "a cable of " : "",
                     name_of(first, topology));
}

// "box0/gpu0~box0/nvsw (nvlink 300 GB/s = 12 x 25), or another of 16",
// "box0/gpu0~box0/nvsw*1 (one of 12 cables, nvlink 25 GB/s), or another of 16"
std::string in_words(const FailureEffect& failure, const Topology& topology) {
  const LinkId first = failure.links.front();
  const TopologyLink& link = topology.links[first];
  const std::string what =
      failure.one_cable
          ? fmt::format("one of {} cables, {}{}{} GB/s", link.count, link.kind,
                        link.kind.empty() ? "" : " ", cable_bandwidth(link.bandwidth, link.count))
          : kinds_of({first}, topology, false);
  return fmt::format("{} ({}){}", name_of(failure, topology), what,
                     or_another(failure.links.size()));
}

// "box0/nic0 (switch), or another of 16"
std::string any_of(const NodeFailureEffect& effect, const Topology& topology) {
  const bool gpu = topology.nodes[effect.nodes.front()].type != NodeType::switch_node;
  return fmt::format("{} ({}){}", names_of(effect, topology).front(), gpu ? "GPU" : "switch",
                     or_another(effect.nodes.size()));
}

// Upgrades that read alike: of one size, on links of the same kinds.
struct Line {
  Ratio algbw;
  std::string kinds;
  std::vector<LinkId> links;  ///< of the first; of all where any one of them is meant
  bool together = false;
  std::size_t sets = 1;
};

void add(std::vector<Line>& lines, Line line) {
  const auto alike = std::ranges::find_if(lines, [&](const Line& other) {
    return other.algbw == line.algbw && other.kinds == line.kinds &&
           other.together == line.together;
  });
  if (alike == lines.end()) {
    lines.push_back(std::move(line));
  } else if (line.together) {
    ++alike->sets;
  } else {
    alike->links.insert(alike->links.end(), line.links.begin(), line.links.end());
  }
}

// Failures that read alike are one line: as dear, of links as wide and of one kind.
std::vector<FailureEffect> failure_lines(const std::vector<FailureEffect>& failures,
                                         const WhatIf& what_if, const Topology& topology) {
  std::vector<FailureEffect> lines;
  const auto kind = [&](const FailureEffect& failure) {
    return kinds_of({failure.links.front()}, topology, false);
  };
  for (const FailureEffect& failure : failures) {
    if (failure.algbw == what_if.algbw) continue;
    const auto alike = std::ranges::find_if(lines, [&](const FailureEffect& other) {
      return other.algbw == failure.algbw && kind(other) == kind(failure) &&
             other.ways_back.empty() == failure.ways_back.empty();
    });
    if (alike == lines.end()) {
      lines.push_back(failure);
    } else {
      alike->links.insert(alike->links.end(), failure.links.begin(), failure.links.end());
    }
  }
  return lines;
}

// Nodes of one sort whose loss leaves as much are one line.
std::vector<NodeFailureEffect> node_lines(const WhatIf& what_if, const Topology& topology) {
  std::vector<NodeFailureEffect> lines;
  const auto type = [&](const NodeFailureEffect& effect) {
    return topology.nodes[effect.nodes.front()].type;
  };
  for (const NodeFailureEffect& failure : what_if.node_failures) {
    if (!(failure.algbw < what_if.algbw)) continue;
    const auto alike = std::ranges::find_if(lines, [&](const NodeFailureEffect& other) {
      return other.algbw == failure.algbw && type(other) == type(failure) &&
             other.ways_in.empty() == failure.ways_in.empty();
    });
    if (alike == lines.end()) {
      lines.push_back(failure);
    } else {
      alike->nodes.insert(alike->nodes.end(), failure.nodes.begin(), failure.nodes.end());
      alike->ways_in.insert(alike->ways_in.end(), failure.ways_in.begin(), failure.ways_in.end());
    }
  }
  return lines;
}

std::vector<Line> upgrade_lines(const WhatIf& what_if, const Topology& topology) {
  std::vector<Line> lines;
  for (const UpgradeEffect& upgrade : what_if.upgrades) {
    const bool together = upgrade.together && upgrade.links.size() > 1;
    const std::vector<LinkId> first = {upgrade.links.front()};
    add(lines, {upgrade.algbw, kinds_of(together ? upgrade.links : first, topology, together),
                upgrade.links, together});
  }
  return lines;
}

std::string in_words(const Line& line, const Topology& topology) {
  if (!line.together) {
    return fmt::format("{} ({}){}", name_of(line.links.front(), topology), line.kinds,
                       or_another(line.links.size()));
  }
  std::string text = fmt::format("{} together, such as {}: {}", counted(line.links.size(), "link"),
                                 name_of(line.links.front(), topology), line.kinds);
  if (line.sets > 1) text += fmt::format(", or another of {} such sets", line.sets);
  return text;
}

// "  -25.0 %      200  WHAT"
std::string effect_line(const Ratio& after, const Ratio& before, const std::string& what) {
  const bool cut_off = after == Ratio(0);
  return fmt::format("  {:>9} {:>20}  {}\n", change_in_words(before, after),
                     cut_off ? "" : number(after), what);
}

std::string of_no_cost(std::size_t count, std::string_view what) {
  return count == 0 ? "" : fmt::format("  no cost:  {}\n", counted(count, what));
}

std::string link_failures_in_words(const std::vector<FailureEffect>& failures,
                                   const WhatIf& what_if, const Topology& topology,
                                   std::size_t count) {
  std::string text;
  const std::vector<FailureEffect> lines = failure_lines(failures, what_if, topology);
  for (std::size_t i = 0; i < std::min(count, lines.size()); ++i) {
    text += effect_line(lines[i].algbw, what_if.algbw, in_words(lines[i], topology));
  }
  std::size_t harmless = 0;
  for (const FailureEffect& failure : failures) {
    if (failure.algbw == what_if.algbw) harmless += failure.links.size();
  }
  return text + of_no_cost(harmless, "link");
}

// Of links, and of nodes and boxes, whose loss leaves a collective among fewer GPUs.
std::string failures_in_words(const WhatIf& what_if, const Topology& topology,
                              const WhatIfOptions& options, std::size_t count) {
  std::string text =
      fmt::format("what if one link fails, with all of its cables ({} at {} GB/s):\n",
                  to_string(options.collective), number(what_if.algbw));
  text += link_failures_in_words(what_if.failures, what_if, topology, count);
  if (!what_if.cable_failures.empty()) {
    text += "what if one cable fails, of a link that has several:\n";
    text += link_failures_in_words(what_if.cable_failures, what_if, topology, count);
  }

  text += "what if one node fails (among the GPUs that are left):\n";
  const std::vector<NodeFailureEffect> nodes = node_lines(what_if, topology);
  for (std::size_t i = 0; i < std::min(count, nodes.size()); ++i) {
    text += effect_line(nodes[i].algbw, what_if.algbw, any_of(nodes[i], topology));
  }
  std::size_t harmless = 0;
  for (const NodeFailureEffect& failure : what_if.node_failures) {
    if (!(failure.algbw < what_if.algbw)) harmless += failure.nodes.size();
  }
  text += of_no_cost(harmless, "node");

  if (what_if.box_failures.empty()) return text;
  text += "what if one box fails (among the GPUs that are left):\n";
  for (std::size_t i = 0; i < std::min(count, what_if.box_failures.size()); ++i) {
    const auto& [boxes, algbw] = what_if.box_failures[i];
    text += effect_line(algbw, what_if.algbw, boxes.front() + or_another(boxes.size()));
  }
  return text;
}

Json names(const std::vector<LinkId>& links, const Topology& topology) {
  Json list = Json::array();
  for (const LinkId id : links) {
    const TopologyLink& link = topology.links[id];
    list.push_back({{"src", topology.nodes[link.src].id},
                    {"dst", topology.nodes[link.dst].id},
                    {"kind", link.kind},
                    {"bandwidth", exact(link.bandwidth)},
                    {"count", link.count}});
  }
  return list;
}

Json to_json(const std::vector<FailureEffect>& failures, const Topology& topology) {
  Json list = Json::array();
  for (const FailureEffect& failure : failures) {
    Json entry = {{"links", names(failure.links, topology)}};
    if (!failure.ways_back.empty()) entry["ways_back"] = names(failure.ways_back, topology);
    entry["algbw"] = exact(failure.algbw);
    if (auto text = drop_text(failure, topology)) entry["drop"] = *std::move(text);
    list.push_back(std::move(entry));
  }
  return list;
}

}  // namespace

std::string in_words(const RoleFailures& roles, const Topology& topology, std::size_t count) {
  std::string text =
      fmt::format("what if one switch lost multicast or reduction (allreduce at {} GB/s):\n",
                  number(roles.algbw));
  for (std::size_t i = 0; i < std::min(count, roles.effects.size()); ++i) {
    const RoleFailureEffect& effect = roles.effects[i];
    text += effect_line(effect.algbw, roles.algbw,
                        fmt::format("{} (no {}){}", effect.drop_text(topology),
                                    effect.multicast ? "multicast" : "reduction",
                                    or_another(effect.switches.size())));
  }
  return text;
}

Json to_json(const RoleFailures& roles, const Topology& topology) {
  Json effects = Json::array();
  for (const RoleFailureEffect& effect : roles.effects) {
    Json switches = Json::array();
    for (const NodeId node : effect.switches) switches.push_back(topology.nodes[node].id);
    effects.push_back({{"switches", std::move(switches)},
                       {"role", effect.multicast ? "multicast" : "reduce"},
                       {"algbw", exact(effect.algbw)},
                       {"drop", effect.drop_text(topology)}});
  }
  return {{"algbw", exact(roles.algbw)}, {"effects", std::move(effects)}};
}

// Where links share capacities.
std::string limit_upgrades_in_words(const WhatIf& what_if, const Topology& topology,
                                    const WhatIfOptions& options, std::size_t count) {
  if (topology.limits.empty()) return "";
  std::string text = fmt::format("what if limits were {} times as wide:\n", number(options.factor));
  for (std::size_t i = 0; i < std::min(count, what_if.limit_upgrades.size()); ++i) {
    const auto& [limits, algbw] = what_if.limit_upgrades[i];
    const SharedLimit& first = topology.limits[limits.front()];
    const std::string each =
        fmt::format("{} of {} GB/s", name_of(first, topology), number(first.bandwidth));
    text += effect_line(algbw, what_if.algbw,
                        limits.size() == 1
                            ? fmt::format("limit {}", each)
                            : fmt::format("{} limits together, such as {}", limits.size(), each));
  }
  if (what_if.limit_upgrades.empty()) text += "  no limit raises the rate by itself\n";
  return text;
}

Json limit_upgrades_json(const WhatIf& what_if, const Topology& topology) {
  Json list = Json::array();
  for (const LimitUpgradeEffect& upgrade : what_if.limit_upgrades) {
    Json limits = Json::array();
    for (const std::size_t limit : upgrade.limits) {
      limits.push_back(name_of(topology.limits[limit], topology));
    }
    list.push_back({{"limits", std::move(limits)}, {"algbw", exact(upgrade.algbw)}});
  }
  return list;
}

std::string in_words(const WhatIf& what_if, const Topology& topology, const WhatIfOptions& options,
                     std::size_t count) {
  std::string text = failures_in_words(what_if, topology, options, count);
  text += fmt::format("what if links were {} times as wide:\n", number(options.factor));
  const std::vector<Line> upgrades = upgrade_lines(what_if, topology);
  for (std::size_t i = 0; i < std::min(count, upgrades.size()); ++i) {
    text += effect_line(upgrades[i].algbw, what_if.algbw, in_words(upgrades[i], topology));
  }
  if (what_if.upgrades.empty()) {
    text += "  no link, class of links or kind of link raises the rate by itself\n";
  }
  return text + limit_upgrades_in_words(what_if, topology, options, count);
}

Json to_json(const WhatIf& what_if, const Topology& topology, const WhatIfOptions& options) {
  Json node_failures = Json::array();
  for (const NodeFailureEffect& failure : what_if.node_failures) {
    node_failures.push_back(
        {{"nodes", names_of(failure, topology)}, {"algbw", exact(failure.algbw)}});
  }
  Json box_failures = Json::array();
  for (const BoxFailureEffect& failure : what_if.box_failures) {
    box_failures.push_back({{"boxes", failure.boxes}, {"algbw", exact(failure.algbw)}});
  }
  Json upgrades = Json::array();
  for (const UpgradeEffect& upgrade : what_if.upgrades) {
    upgrades.push_back({{"links", names(upgrade.links, topology)},
                        {"together", upgrade.together},
                        {"algbw", exact(upgrade.algbw)}});
  }
  Json report = {{"collective", to_string(options.collective)},
                 {"algbw", exact(what_if.algbw)},
                 {"factor", exact(options.factor)},
                 {"failures", to_json(what_if.failures, topology)},
                 {"cable_failures", to_json(what_if.cable_failures, topology)},
                 {"node_failures", std::move(node_failures)},
                 {"box_failures", std::move(box_failures)},
                 {"upgrades", std::move(upgrades)}};
  if (!topology.limits.empty()) report["limit_upgrades"] = limit_upgrades_json(what_if, topology);
  return report;
}

}  // namespace forestcoll::cli
