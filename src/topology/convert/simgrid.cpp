// A platform of SimGrid: a host per GPU in rank order, a link per direction of what joins two
// nodes, and a route for every ordered pair of hosts. SimGrid knows one route for a pair: of those
// with the fewest hops through switches, one that the two ranks choose, so that pairs spread over
// equal ones. GPUs that no switches join, where a schedule relays, get a link that is no
// bottleneck, for what is not the schedule's own traffic.
#include <fmt/format.h>

#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "forestcoll/xml_text.hpp"
#include "topology/convert/writers.hpp"

namespace forestcoll::topology {
namespace {

constexpr const char* kManagement = "management";

// What joins two nodes in one direction.
struct Joint {
  Ratio bandwidth;  // GB/s, of all links together
  Ratio latency;    // µs, of the slowest
  std::string name;
};

class Platform {
 public:
  explicit Platform(const PlainGraph& graph) : graph_(graph), out_(graph.topology.nodes.size()) {
    for (const DirectedLink& link : graph.arcs) {
      const TopologyLink& of = graph.topology.links[link.link];
      const auto [joint, is_new] = joints_.try_emplace({link.arc.tail, link.arc.head});
      joint->second.bandwidth = joint->second.bandwidth + of.bandwidth;
      joint->second.latency = std::max(joint->second.latency, of.latency);
      if (!is_new) continue;
      out_[link.arc.tail].push_back(link.arc.head);
      joint->second.name = graph.id(link.arc.tail) + "->" + graph.id(link.arc.head);
    }
  }

  std::string write() {
    std::string text =
        "<?xml version=\"1.0\"?>\n<!DOCTYPE platform SYSTEM \"https://simgrid.org/simgrid.dtd\">\n"
        "<platform version=\"4.1\">\n <zone id=\"fabric\" routing=\"Full\">\n";
    for (const NodeId gpu : graph_.topology.ranks) {
      fmt::format_to(std::back_inserter(text), "  <host id=\"{}\" speed=\"1Gf\"/>\n", name(gpu));
    }
    for (const auto& [ends, joint] : joints_) {
      fmt::format_to(std::back_inserter(text),
                     "  <link id=\"{}\" bandwidth=\"{}GBps\" latency=\"{}us\" "
                     "sharing_policy=\"SHARED\"/>\n",
                     xml_escaped(joint.name), joint.bandwidth.to_double(),
                     joint.latency.to_double());
    }
    const std::string routes = write_routes();
    if (needs_management_) {
      fmt::format_to(std::back_inserter(text),
                     "  <link id=\"{}\" bandwidth=\"10GBps\" latency=\"1us\" "
                     "sharing_policy=\"FATPIPE\"/>\n",
                     kManagement);
    }
    return text + routes + " </zone>\n</platform>\n";
  }

 private:
  [[nodiscard]] std::string name(NodeId node) const { return xml_escaped(graph_.id(node)); }

  std::string write_routes() {
    std::string text;
    const auto& ranks = graph_.topology.ranks;
    for (std::size_t from = 0; from < ranks.size(); ++from) {
      search(ranks[from]);
      for (std::size_t to = 0; to < ranks.size(); ++to) {
        if (to == from) continue;
        fmt::format_to(std::back_inserter(text),
                       "  <route src=\"{}\" dst=\"{}\" symmetrical=\"NO\">", name(ranks[from]),
                       name(ranks[to]));
        for (const std::string& link : route(ranks[from], ranks[to], from + to)) {
          fmt::format_to(std::back_inserter(text), "<link_ctn id=\"{}\"/>", xml_escaped(link));
        }
        text += "</route>\n";
      }
    }
    return text;
  }

  // Hops from `source` through switches, and for every node the nodes before it that are one
  // nearer.
  void search(NodeId source) {
    before_.assign(out_.size(), {});
    std::vector<std::int32_t> hops(out_.size(), -1);
    std::vector<NodeId> queue = {source};
    hops[source.index()] = 0;
    for (std::size_t at = 0; at < queue.size(); ++at) {
      const NodeId node = queue[at];
      const bool relays = graph_.topology.nodes[node].type == NodeType::switch_node;
      if (node != source && !relays) continue;
      for (const NodeId next : out_[node]) {
        std::int32_t& reached = hops[next.index()];
        if (reached < 0) {
          reached = hops[node.index()] + 1;
          queue.push_back(next);
        }
        if (reached == hops[node.index()] + 1) before_[next.index()].push_back(node);
      }
    }
  }

  // Links from the source of the search on.
  std::vector<std::string> route(NodeId from, NodeId to, std::size_t choice) {
    if (before_[to.index()].empty()) {
      needs_management_ = true;
      return {kManagement};
    }
    std::vector<std::string> links;
    for (NodeId node = to; node != from;) {
      const auto& candidates = before_[node.index()];
      const NodeId previous = candidates[choice % candidates.size()];
      links.push_back(joints_.at({previous, node}).name);
      node = previous;
    }
    return {links.rbegin(), links.rend()};
  }

  const PlainGraph& graph_;
  std::map<std::pair<NodeId, NodeId>, Joint> joints_;
  IdVector<NodeId, std::vector<NodeId>> out_;
  std::vector<std::vector<NodeId>> before_;  // by node
  bool needs_management_ = false;
};

}  // namespace

std::string write_simgrid(const PlainGraph& graph) {
  return Platform(graph).write();
}

}  // namespace forestcoll::topology
