// Do all compute nodes reach one another? Strong components tell; where there are several that hold
// compute nodes, the message says of each how large it is and which way is missing.
#include <fmt/format.h>

#include <algorithm>
#include <boost/graph/compressed_sparse_row_graph.hpp>
#include <boost/graph/strong_components.hpp>
#include <string>
#include <utility>
#include <vector>

#include "topology/arcs.hpp"
#include "topology/validate.hpp"

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

class ConnectionCheck {
 public:
  ConnectionCheck(const Document& document, const Expansion& expansion, Findings& findings)
      : document_(document),
        expansion_(expansion),
        topology_(expansion.topology),
        findings_(findings) {}

  void run() {
    for (std::size_t i = 0; i < topology_.nodes.size(); ++i) {
      const TopologyNode& node = topology_.nodes[NodeId(i)];
      if (node.enabled && node.type == NodeType::compute) compute_.push_back(NodeId(i));
    }
    if (document_.nodes_complete && compute_.size() < 2) report_too_few();
    if (!expansion_.complete || compute_.size() < 2) return;
    arcs_ = enabled_arcs(topology_);
    check_ends();
    check_components();
  }

 private:
  void report_too_few() {
    const std::string found =
        compute_.empty() ? "none" : "only " + quote(topology_.nodes[compute_.front()].id);
    findings_.error("E07", document_.top.nodes.empty() ? "" : "/nodes",
                    fmt::format("expected at least two enabled compute nodes, found {}", found),
                    "Data moves between nodes of \"type\": \"compute\"; declare two or more.");
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
      } else if (!loose.empty() && origin(loose.back().first) == origin(node) &&
                 topology_.nodes[loose.back().first].box == topology_.nodes[node].box) {
        ++loose.back().second;
      } else {
        loose.emplace_back(node, 0);
      }
    }
    for (const auto& [node, more] : loose) {
      const char* missing = has_out[node]  ? "no link in"
                            : has_in[node] ? "no link out"
                                           : "no link in and none out";
      findings_.error("E08", where_node(document_, origin(node)),
                      fmt::format("compute node {} has {}{}", quote(topology_.nodes[node].id),
                                  missing, and_more(more)),
                      "Link it in both directions, or set \"enabled\": false.");
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
    findings_.error("E09", document_.top.links.empty() ? "" : "/links",
                    fmt::format("the compute nodes do not all reach one another; they fall into {} "
                                "components: {}",
                                order.size(), list),
                    "Add the missing links, or the missing directions of one-way links.");
  }

  [[nodiscard]] Origin origin(NodeId node) const { return expansion_.node_origin[node]; }

  const Document& document_;
  const Expansion& expansion_;
  const Topology& topology_;
  Findings& findings_;
  std::vector<NodeId> compute_;
  std::vector<DirectedLink> arcs_;
};

}  // namespace

void check_connection(const Document& document, const Expansion& expansion, Findings& findings) {
  ConnectionCheck(document, expansion, findings).run();
}

}  // namespace forestcoll::topology
