// Do all compute nodes reach one another? Strong components tell; where there are several that hold
// compute nodes, the message says of each how large it is and which way is missing.
#include <fmt/format.h>

#include <algorithm>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/strong_components.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "topology/check/validate.hpp"
#include "topology/model/arcs.hpp"

namespace forestcoll::topology {
namespace {

constexpr std::size_t kMaxListed = 10;

struct Component {
  std::size_t compute_nodes = 0;
  NodeId example;
  bool left = false, entered = false;  ///< by arcs from or to other components
};

// The component of every node, numbered from 0.
std::vector<std::size_t> components_of(std::size_t nodes, const std::vector<DirectedLink>& arcs) {
  using Graph = boost::compressed_sparse_row_graph<boost::directedS>;
  std::vector<std::pair<std::size_t, std::size_t>> edges;
  edges.reserve(arcs.size());
  for (const DirectedLink& link : arcs) {
    edges.emplace_back(link.arc.tail.index(), link.arc.head.index());
  }
  const Graph graph(boost::edges_are_unsorted_multi_pass, edges.begin(), edges.end(), nodes);
  std::vector<std::size_t> component(nodes);
  boost::strong_components(
      graph, boost::make_iterator_property_map(component.begin(), get(boost::vertex_index, graph)));
  return component;
}

std::string describe_component(const Topology& topology, const Component& component) {
  const std::string id = quote(topology.nodes[component.example].id);
  const char* way = component.left && component.entered ? "no way out and back in"
                    : component.left                    ? "no way in"
                    : component.entered                 ? "no way out"
                                                        : "no way in or out";
  return component.compute_nodes == 1
             ? fmt::format("{} ({})", id, way)
             : fmt::format("{} with {} more ({})", id, component.compute_nodes - 1, way);
}

/// Where findings stand, and what can be done about them there.
struct Places {
  std::string nodes, links;                        ///< of findings about all of them
  std::function<std::string(NodeId)> node;         ///< of a finding about one
  std::function<bool(NodeId, NodeId)> same_entry;  ///< one finding stands for both
  std::string too_few, loose, apart;               ///< remedies
};

class ConnectionCheck {
 public:
  ConnectionCheck(const Topology& topology, const Places& places, Findings& findings)
      : topology_(topology), places_(places), findings_(findings) {}

  // `all_nodes`, `all`: the topology has all nodes, and all links, that its file means.
  void run(bool all_nodes, bool all) {
    for (std::size_t i = 0; i < topology_.nodes.size(); ++i) {
      const TopologyNode& node = topology_.nodes[NodeId(i)];
      if (node.enabled && node.type == NodeType::compute) compute_.push_back(NodeId(i));
    }
    if (all_nodes && compute_.size() < 2) report_too_few();
    if (!all || compute_.size() < 2) return;
    arcs_ = enabled_arcs(topology_);
    check_ends();
    check_components();
  }

 private:
  void report_too_few() {
    const std::string found =
        compute_.empty() ? "none" : "only " + quote(topology_.nodes[compute_.front()].id);
    findings_.error(Code::E07, places_.nodes,
                    fmt::format("expected at least two enabled compute nodes, found {}", found),
                    places_.too_few);
  }

  // E08, one finding per entry of the file.
  void check_ends() {
    IdVector<NodeId, char> has_out(topology_.nodes.size()), has_in(topology_.nodes.size());
    for (const DirectedLink& link : arcs_) {
      has_out[link.arc.tail] = 1;
      has_in[link.arc.head] = 1;
    }
    std::vector<NodeId> joined;
    std::vector<std::pair<NodeId, std::size_t>> loose;  // the first of an entry, and how many more
    for (const NodeId node : compute_) {
      if (has_out[node] && has_in[node]) {
        joined.push_back(node);
      } else if (!loose.empty() && places_.same_entry(loose.back().first, node)) {
        ++loose.back().second;
      } else {
        loose.emplace_back(node, 0);
      }
    }
    for (const auto& [node, more] : loose) {
      const char* missing = has_out[node]  ? "no link in"
                            : has_in[node] ? "no link out"
                                           : "no link in and none out";
      findings_.error(Code::E08, places_.node(node),
                      fmt::format("compute node {} has {}{}", quote(topology_.nodes[node].id),
                                  missing, and_more(more)),
                      places_.loose);
    }
    compute_ = std::move(joined);
  }

  // E09, among the compute nodes that have links both ways.
  void check_components() {
    const auto component_of = components_of(topology_.nodes.size(), arcs_);
    std::vector<Component> components(topology_.nodes.size());
    std::vector<std::size_t> order;  // of components, by their first compute node
    for (const NodeId node : compute_) {
      const std::size_t c = component_of[node.index()];
      if (components[c].compute_nodes++ > 0) continue;
      components[c].example = node;
      order.push_back(c);
    }
    if (order.size() < 2) return;
    for (const DirectedLink& link : arcs_) {
      const std::size_t from = component_of[link.arc.tail.index()];
      const std::size_t to = component_of[link.arc.head.index()];
      if (from != to) components[from].left = components[to].entered = true;
    }
    std::string list;
    for (std::size_t i = 0; i < std::min(order.size(), kMaxListed); ++i) {
      list += (i == 0 ? "" : ", ") + describe_component(topology_, components[order[i]]);
    }
    if (order.size() > kMaxListed) {
      list += fmt::format(" and {} more components", order.size() - kMaxListed);
    }
    findings_.error(Code::E09, places_.links,
                    fmt::format("not all compute nodes reach each other: there are {} "
                                "components: {}",
                                order.size(), list),
                    places_.apart);
  }

  const Topology& topology_;
  const Places& places_;
  Findings& findings_;
  std::vector<NodeId> compute_;
  std::vector<DirectedLink> arcs_;
};

}  // namespace

void check_connection(const Document& document, const Expansion& expansion, Findings& findings) {
  const Topology& topology = expansion.topology;
  const auto origin = [&](NodeId node) { return expansion.node_origin[node]; };
  const Places places{
      .nodes = document.top.nodes.empty() ? "" : "/nodes",
      .links = document.top.links.empty() ? "" : "/links",
      .node = [&](NodeId node) { return where_node(document, origin(node)); },
      .same_entry =
          [&](NodeId a, NodeId b) {
            return origin(a) == origin(b) && topology.nodes[a].box == topology.nodes[b].box;
          },
      .too_few = "Data moves between nodes of \"type\": \"compute\"; declare two or more.",
      .loose = "Link it in both directions, or set \"enabled\": false.",
      .apart = "Add the missing links, or the missing directions of one-way links."};
  ConnectionCheck(topology, places, findings).run(document.nodes_complete, expansion.complete);
}

void check_connection(const Topology& topology, const std::string& where, Findings& findings) {
  const Places places{.nodes = where,
                      .links = where,
                      .node = [&](NodeId) { return where; },
                      .same_entry = [](NodeId, NodeId) { return false; },
                      .too_few = "Leave at least two compute nodes.",
                      .loose = "Drop the node as well, or leave it a link in each direction.",
                      .apart = "Drop the disconnected nodes as well, or keep links to them."};
  ConnectionCheck(topology, places, findings).run(true, true);
}

}  // namespace forestcoll::topology
