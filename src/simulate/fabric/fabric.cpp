#include "simulate/fabric/fabric.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>

#include "audit/common/fabric_load.hpp"
#include "base/check.hpp"
#include "forestcoll/latency.hpp"

namespace forestcoll::simulate {

using audit::Findings;
using audit::GroupAccess;
using audit::Place;
using audit::Rule;

Expected<Fabric> Fabric::make(const Topology& topology) {
  auto network = to_digraph(topology);
  if (!network) return network.errors();
  Fabric fabric;
  fabric.network_ = *std::move(network);
  const Digraph& graph = fabric.network_.graph;
  for (std::size_t a = 0; a < graph.arc_count(); ++a) {
    const auto units = static_cast<double>(fabric.network_.capacity[ArcId(a)]);
    fabric.capacity_.push_back(units * fabric.network_.unit.to_double() * 1e9);
  }
  for (const ArcLimit& limit : fabric.network_.limits) {
    const auto units = static_cast<double>(limit.capacity);
    fabric.capacity_.push_back(units * fabric.network_.unit.to_double() * 1e9);
  }
  fabric.latency_us_.assign(graph.arc_count(), 0);
  const auto set_latency = [&](NodeId from, NodeId to, const Ratio& latency) {
    const ArcId arc = graph.find(from, to);
    if (!arc.valid()) return;
    double& slowest = fabric.latency_us_[arc.index()];
    slowest = std::max(slowest, latency.to_double());
  };
  const auto latencies = link_latencies(topology).us;
  for (std::size_t i = 0; i < topology.links.size(); ++i) {
    const TopologyLink& link = topology.links[LinkId(i)];
    if (!link.enabled) continue;
    set_latency(link.src, link.dst, latencies[LinkId(i)]);
    if (link.full_duplex) set_latency(link.dst, link.src, latencies[LinkId(i)]);
  }
  fabric.roles_ = switch_roles(topology);
  fabric.box_ = IdVector<NodeId, std::int32_t>(topology.nodes.size(), -1);
  const auto boxes = boxes_of_ranks(topology);
  for (std::size_t r = 0; r < topology.ranks.size(); ++r) {
    fabric.box_[topology.ranks[r]] = boxes[Rank(r)];
  }
  return fabric;
}

void SimulatedRoute::load(ArcId arc) {
  const auto same =
      std::ranges::find_if(parts, [&](const LinkPart& part) { return part.link == arc.value; });
  if (same == parts.end()) {
    parts.push_back({arc.value, 1});
  } else {
    same->part += 1;
  }
}

bool Fabric::differ_in_box(NodeId a, NodeId b) const {
  return box_[a] != box_[b];
}

void Fabric::add_limits(std::vector<LinkPart>& parts) const {
  const std::size_t links = parts.size();
  for (std::size_t l = 0; l < network_.limits.size(); ++l) {
    double part = 0;
    for (const auto& [arc, weight] : network_.limits[l].uses) {
      for (std::size_t i = 0; i < links; ++i) {
        if (parts[i].link == arc.value) part += static_cast<double>(weight) * parts[i].part;
      }
    }
    const auto number = static_cast<std::int32_t>(network_.graph.arc_count() + l);
    if (part > 0) parts.push_back({number, part});
  }
}

std::int32_t Fabric::add(SimulatedRoute route) {
  add_limits(route.parts);
  routes_.push_back(std::move(route));
  return static_cast<std::int32_t>(routes_.size() - 1);
}

// All paths have the same number of hops, so going through the links hop by hop finds the slowest.
void Fabric::measure(SimulatedRoute& route, NodeId from) const {
  std::map<NodeId, double> reached = {{from, 0}};
  while (!reached.empty()) {
    std::map<NodeId, double> next;
    for (const LinkPart& part : route.parts) {
      const ArcId arc(part.link);
      const auto at = reached.find(network_.graph.tail(arc));
      if (at == reached.end()) continue;
      double& latency = next[network_.graph.head(arc)];
      latency = std::max(latency, at->second + latency_us_[arc.index()]);
      route.latency_us = std::max(route.latency_us, latency);
    }
    if (!next.empty()) ++route.hops;
    reached = std::move(next);
  }
}

std::int32_t Fabric::between(Rank from, Rank to, Findings& findings) {
  const auto known = by_pair_.find({from, to});
  if (known != by_pair_.end()) return known->second;
  const std::size_t before = findings.count();
  const auto loads = route_transfer(network_, from, to, findings);
  if (findings.count() > before) return -1;
  if (!loads) {
    findings.add(Rule::fabric, Place{from.value, -1, -1, 0, {}},
                 "the ways to another rank are too many for exact arithmetic");
    return -1;
  }
  SimulatedRoute route;
  for (const auto& [arc, part] : *loads) route.parts.push_back({arc.value, part.to_double()});
  const NodeId source = network_.ranks[from.index()];
  route.between_boxes = differ_in_box(source, network_.ranks[to.index()]);
  measure(route, source);
  return by_pair_[{from, to}] = add(std::move(route));
}

std::int32_t Fabric::through_switches(const std::vector<GroupAccess>& accesses,
                                      Findings& findings) {
  const auto known = by_accesses_.find(accesses);
  if (known != by_accesses_.end()) return known->second;
  SimulatedRoute route;
  route.in_network = true;
  std::map<ArcId, double> parts;
  for (const GroupAccess& access : accesses) {
    const auto links = links_of_access(network_, roles_, access);
    if (links.empty()) {
      findings.add(
          Rule::fabric, Place{access.rank, -1, -1, 0, {}},
          fmt::format("{} through a switch, and none of the topology can", to_string(access)));
      return -1;
    }
    for (const auto& [link, part] : links) {
      parts[link] += part.to_double();
      route.latency_us = std::max(route.latency_us, 2 * latency_us_[link.index()]);
    }
    route.hops += 2;  // up to the switch and down
  }
  for (const auto& [link, part] : parts) route.parts.push_back({link.value, part});
  return by_accesses_[accesses] = add(std::move(route));
}

std::vector<ArcId> Fabric::arcs_along(std::span<const NodeId> path) const {
  std::vector<ArcId> arcs;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    arcs.push_back(network_.graph.find(path[i], path[i + 1]));
    FORESTCOLL_CHECK(arcs.back().valid(), "links join the nodes of a path");
  }
  return arcs;
}

std::int32_t Fabric::along(std::span<const NodeId> path) {
  std::vector<ArcId> arcs = arcs_along(path);
  const auto known = by_path_.find(arcs);
  if (known != by_path_.end()) return known->second;
  SimulatedRoute route;
  for (const ArcId arc : arcs) {
    route.latency_us += latency_us_[arc.index()];
    route.load(arc);
  }
  route.hops = static_cast<std::int32_t>(arcs.size());
  route.between_boxes = differ_in_box(path.front(), path.back());
  const std::int32_t number = add(std::move(route));
  by_path_.emplace(std::move(arcs), number);
  return number;
}

// What a rank gives to a switch to be copied comes back to it, and what a rank reads from one
// combined takes the rank's own part there. Invalid: no such link.
ArcId Fabric::echo_of(std::span<const NodeId> path, bool inward) const {
  const NodeId end = inward ? path.front() : path.back();
  const NodeId beside = inward ? path[1] : path[path.size() - 2];
  if (roles_.empty() || !roles_[end].echoes || !network_.is_compute(beside)) return {};
  return inward ? network_.graph.find(beside, end) : network_.graph.find(end, beside);
}

// Of the slowest path from one end to another.
void Fabric::measure(SimulatedRoute& route, std::span<const std::vector<NodeId>> paths,
                     bool inward) const {
  struct Depth {
    double latency_us = 0;
    std::int32_t hops = 0;
  };
  std::map<NodeId, Depth> depth;
  std::optional<NodeId> first;
  for (const std::vector<NodeId>& path : paths) {
    Depth here = depth[inward ? path.back() : path.front()];
    for (const ArcId arc : arcs_along(path)) here.latency_us += latency_us_[arc.index()];
    here.hops += static_cast<std::int32_t>(path.size()) - 1;
    depth[inward ? path.front() : path.back()] = here;
    route.latency_us = std::max(route.latency_us, here.latency_us);
    route.hops = std::max(route.hops, here.hops);
    for (const NodeId end : {path.front(), path.back()}) {
      if (!network_.is_compute(end)) continue;
      if (!first) first = end;
      route.between_boxes |= differ_in_box(*first, end);
    }
  }
}

std::int32_t Fabric::branching(std::span<const std::vector<NodeId>> paths, bool inward) {
  std::vector<ArcId> arcs;
  bool echoes = false;
  for (const std::vector<NodeId>& path : paths) {
    std::ranges::copy(arcs_along(path), std::back_inserter(arcs));
    const ArcId echo = echo_of(path, inward);
    if (!echo.valid()) continue;
    arcs.push_back(echo);
    echoes = true;
  }
  const auto known = by_path_.find(arcs);
  if (known != by_path_.end()) return known->second;
  SimulatedRoute route;
  for (const ArcId arc : arcs) route.load(arc);
  route.in_network = echoes;
  measure(route, paths, inward);
  const std::int32_t number = add(std::move(route));
  by_path_.emplace(std::move(arcs), number);
  return number;
}

}  // namespace forestcoll::simulate
