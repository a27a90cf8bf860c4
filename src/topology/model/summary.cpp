#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "base/check.hpp"
#include "forestcoll/convert.hpp"
#include "graph/joined_items.hpp"
#include "graph/sink_flow.hpp"

namespace forestcoll {
namespace {

bool is_usable(const Topology& topology, const TopologyLink& link) {
  return link.enabled && topology.nodes[link.src].enabled && topology.nodes[link.dst].enabled;
}

void add_nodes(const Topology& topology, TopologySummary& summary) {
  struct Box {
    std::string name;
    std::size_t gpus = 0, switches = 0;
  };
  std::vector<Box> boxes;
  std::map<std::string, std::size_t> index;
  for (const TopologyNode& node : topology.nodes) {
    if (!node.enabled) {
      ++summary.disabled_nodes;
      continue;
    }
    const bool gpu = node.type == NodeType::compute;
    if (node.type == NodeType::relay) {
      ++summary.relays;
      continue;
    }
    ++(gpu ? summary.gpus : summary.switches);
    summary.multicast += node.multicast ? 1 : 0;
    summary.reduce += node.reduce ? 1 : 0;
    if (node.box.empty()) {
      summary.gpus_without_box += gpu ? 1 : 0;
      continue;
    }
    const auto [at, is_new] = index.emplace(node.box, boxes.size());
    if (is_new) boxes.push_back({node.box});
    ++(gpu ? boxes[at->second].gpus : boxes[at->second].switches);
  }
  for (Box& box : boxes) {
    auto alike = std::ranges::find_if(summary.boxes, [&](const BoxSummary& other) {
      return other.gpus == box.gpus && other.switches == box.switches;
    });
    if (alike == summary.boxes.end()) {
      alike = summary.boxes.insert(alike, {{}, box.gpus, box.switches});
    }
    alike->names.push_back(std::move(box.name));
  }
}

void add_links(const Topology& topology, TopologySummary& summary) {
  std::map<std::tuple<std::string, Ratio, std::int64_t>, LinkSummary> links;
  for (const TopologyLink& link : topology.links) {
    if (!is_usable(topology, link)) {
      ++summary.disabled_links;
      continue;
    }
    LinkSummary& of_kind = links[{link.kind, Ratio(0) - link.bandwidth, link.count}];
    of_kind.kind = link.kind;
    of_kind.bandwidth = link.bandwidth;
    of_kind.cables = link.count;
    ++of_kind.count;
    of_kind.one_way += link.full_duplex ? 0 : 1;
  }
  for (auto& [key, of_kind] : links) summary.links.push_back(std::move(of_kind));
}

void add_islands(const Topology& topology, TopologySummary& summary) {
  std::map<std::string, std::vector<std::pair<std::size_t, std::size_t>>> pairs_by_kind;
  for (const TopologyLink& link : topology.links) {
    if (!is_usable(topology, link)) continue;
    pairs_by_kind[link.kind].emplace_back(link.src.index(), link.dst.index());
  }
  for (const auto& [kind, pairs] : pairs_by_kind) {
    graph::JoinedItems groups(topology.nodes.size());
    for (const auto& [a, b] : pairs) groups.join(a, b);
    std::vector<std::size_t> roots;
    for (const NodeId gpu : topology.ranks) roots.push_back(groups.first(gpu.index()));
    std::ranges::sort(roots);
    roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
    if (roots.size() < topology.ranks.size()) summary.islands[kind] = roots.size();
  }
}

}  // namespace

TopologySummary summarize(const Topology& topology) {
  TopologySummary summary;
  add_nodes(topology, summary);
  add_links(topology, summary);
  add_islands(topology, summary);
  return summary;
}

Ratio bandwidth_between(const Network& network, std::span<const NodeId> from,
                        std::span<const NodeId> to) {
  FORESTCOLL_CHECK(!from.empty() && !to.empty(), "bandwidth between nodes");
  const std::size_t n = network.graph.node_count();
  std::vector<bool> ends(n, false);
  for (const NodeId node : to) ends[node.index()] = true;
  // The second set becomes one sink, the node n; what enters one of its nodes enters the sink.
  std::vector<Arc> arcs;
  std::vector<Capacity> given;
  for (std::size_t i = 0; i < network.graph.arc_count(); ++i) {
    Arc arc{network.graph.tail(ArcId(i)), network.graph.head(ArcId(i))};
    if (ends[arc.tail.index()]) continue;
    if (ends[arc.head.index()]) arc.head = NodeId(n);
    arcs.push_back(arc);
    given.push_back(network.capacity[ArcId(i)]);
  }
  std::vector<std::size_t> order;
  const Digraph graph(n + 1, arcs, &order);
  std::vector<Capacity> capacity;
  for (const std::size_t at : order) capacity.push_back(given[at]);
  const Capacity all = std::accumulate(given.begin(), given.end(), Capacity{0});
  graph::SinkFlow flow(graph);
  flow.reset(capacity, std::vector<std::int64_t>(n + 1, 0));
  // Merged, sources supply what their arcs carry: with boundless supplies a search would end at the
  // first that it meets, and there would be one for every source.
  for (const NodeId node : from) {
    FORESTCOLL_CHECK(!ends[node.index()], "the sets have no node in common");
    flow.merge(node);
  }
  const bool beyond = flow.send(NodeId(n), all + 1);
  FORESTCOLL_CHECK(!beyond, "no more than all capacities");
  const auto sink_side = flow.tight_sink_side(NodeId(n));
  Capacity exit = 0;
  for (std::size_t i = 0; i < graph.arc_count(); ++i) {
    if (!sink_side[graph.tail(ArcId(i)).index()] && sink_side[graph.head(ArcId(i)).index()]) {
      exit += capacity[i];
    }
  }
  return Ratio(exit) * network.unit;
}

}  // namespace forestcoll
