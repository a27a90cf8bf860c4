#include "simulate/sources/branching_phase.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <utility>
#include <vector>

namespace forestcoll::simulate {

using audit::ForestEdge;
using audit::ForestFile;
using audit::ForestTree;
using audit::Name;
using audit::TreeList;

namespace {

class BranchingReader {
 public:
  BranchingReader(const ForestFile& forest, bool inward, const Topology& topology, Fabric& fabric)
      : forest_(forest), fabric_(fabric), node_of_(nodes_with_ids(topology, forest.names)) {
    phase_.inward = inward;
  }

  FlowPhase read(const TreeList& list) {
    for (const ForestTree& tree : list.trees) add_tree(tree);
    return std::move(phase_);
  }

 private:
  /// A node of a tree, and the flow that joins it to what is nearer to the root.
  struct Reached {
    NodeId node;
    std::int32_t above = -1;
  };

  [[nodiscard]] NodeId node(Name name) const { return node_of_[static_cast<std::size_t>(name)]; }
  [[nodiscard]] bool is_rank(NodeId v) const { return fabric_.network().is_compute(v); }
  [[nodiscard]] std::int32_t rank_of(NodeId v) const { return fabric_.network().rank_of[v].value; }

  // Ranks first, then all nodes, of which only switches are looked for.
  [[nodiscard]] std::int32_t number_of(NodeId root) const {
    const auto ranks = static_cast<std::int32_t>(fabric_.network().ranks.size());
    return is_rank(root) ? rank_of(root) : ranks + root.value;
  }

  void add_tree(const ForestTree& tree) {
    below_.clear();
    for (std::size_t e = tree.edges_begin; e < tree.edges_end; ++e) {
      const ForestEdge& edge = forest_.edges[e];
      below_[node(phase_.inward ? edge.dst : edge.src)].push_back(e);
    }
    FlowTree added;
    added.root = number_of(node(tree.root));
    added.multiplicity = static_cast<double>(tree.multiplicity);
    added.begin = phase_.edges.size();
    std::vector<Reached> queue = {{node(tree.root)}};
    for (std::size_t at = 0; at < queue.size(); ++at) add_flows_at(queue[at], queue);
    added.end = phase_.edges.size();
    phase_.trees.push_back(added);
  }

  // A rank sends to each of those below by itself; a switch, to all of them at once.
  void add_flows_at(Reached top, std::vector<Reached>& queue) {
    const auto below = below_.find(top.node);
    if (below == below_.end()) return;
    if (!is_rank(top.node)) return add_flow(top, below->second, queue);
    for (const std::size_t e : below->second) add_flow(top, {e}, queue);
  }

  // From (to) a node over these edges, and on through the switches that they end at.
  void add_flow(Reached top, std::vector<std::size_t> edges, std::vector<Reached>& queue) {
    std::vector<std::vector<NodeId>> paths;
    std::vector<NodeId> ranks;
    for (std::size_t i = 0; i < edges.size(); ++i) {
      paths.push_back(path_of(forest_.edges[edges[i]]));
      const NodeId end = phase_.inward ? paths.back().front() : paths.back().back();
      if (is_rank(end)) {
        ranks.push_back(end);
      } else if (const auto below = below_.find(end); below != below_.end()) {
        std::ranges::copy(below->second, std::back_inserter(edges));
      }
    }
    const bool is_plain = edges.size() == 1 && ranks.size() == 1 && is_rank(top.node);
    const auto self = static_cast<std::int32_t>(phase_.edges.size());
    phase_.edges.push_back(
        {is_plain && phase_.inward ? rank_of(ranks.front()) : worker_of(top.node, ranks), top.above,
         is_plain ? fabric_.along(paths.front()) : fabric_.branching(paths, phase_.inward)});
    for (const NodeId rank : ranks) queue.push_back({rank, self});
  }

  // Who stores into switches, or reads through them. Of those that send up to a switch that keeps
  // the sum, one stands for all; nobody makes it pass the sum on.
  [[nodiscard]] std::int32_t worker_of(NodeId top, const std::vector<NodeId>& ranks) const {
    if (is_rank(top)) return rank_of(top);
    return phase_.inward && !ranks.empty() ? rank_of(ranks.front()) : -1;
  }

  [[nodiscard]] std::vector<NodeId> path_of(const ForestEdge& edge) const {
    std::vector<NodeId> path;
    for (std::uint32_t i = edge.path_begin; i < edge.path_end; ++i) {
      path.push_back(node(forest_.path_nodes[i]));
    }
    return path;
  }

  const ForestFile& forest_;
  Fabric& fabric_;
  std::vector<NodeId> node_of_;
  std::map<NodeId, std::vector<std::size_t>>
      below_;  // edges of the tree at hand, by their upper end
  FlowPhase phase_;
};

}  // namespace

FlowPhase read_branching_phase(const ForestFile& forest, const TreeList& list, bool inward,
                               const Topology& topology, Fabric& fabric) {
  return BranchingReader(forest, inward, topology, fabric).read(list);
}

}  // namespace forestcoll::simulate
