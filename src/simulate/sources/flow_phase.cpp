#include "simulate/sources/flow_phase.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace forestcoll::simulate {

using audit::ForestEdge;
using audit::ForestFile;
using audit::ForestTree;
using audit::Name;
using audit::TreeList;

namespace {

using Permutation = std::vector<Name>;

// All products π₁^a₁ … π_d^a_d; nothing where they are more than `most`.
std::vector<Permutation> products(const ForestFile& forest, const TreeList& list,
                                  std::size_t most) {
  Permutation identity(forest.names.size());
  for (std::size_t i = 0; i < identity.size(); ++i) identity[i] = static_cast<Name>(i);
  std::vector<Permutation> all = {identity};
  for (std::size_t g = list.symmetry.size(); g-- > 0;) {
    Permutation image = identity;
    for (const auto& cycle : list.symmetry[g].cycles) {
      for (std::size_t i = 0; i < cycle.size(); ++i) {
        image[static_cast<std::size_t>(cycle[i])] = cycle[(i + 1) % cycle.size()];
      }
    }
    const auto order = static_cast<std::size_t>(list.symmetry[g].order);
    if (order > most / all.size()) return {};
    std::vector<Permutation> longer;
    for (Permutation product : all) {
      for (std::size_t a = 0; a < order; ++a) {
        longer.push_back(product);
        for (Name& name : product) name = image[static_cast<std::size_t>(name)];
      }
    }
    all = std::move(longer);
  }
  return all;
}

class PhaseReader {
 public:
  PhaseReader(const ForestFile& forest, bool inward, const Topology& topology, Fabric& fabric)
      : forest_(forest),
        fabric_(fabric),
        node_of_(nodes_with_ids(topology, forest.names)),
        below_(topology.nodes.size()) {
    phase_.inward = inward;
  }

  std::optional<FlowPhase> read(const TreeList& list) {
    std::size_t plain = 0, moved = 0;
    for (const ForestTree& tree : list.trees) {
      (tree.images ? moved : plain) += tree.edges_end - tree.edges_begin;
    }
    if (plain > kMaxFlowEdges) return std::nullopt;
    std::vector<Permutation> images;
    if (moved > 0) {
      const std::size_t names = std::max<std::size_t>(1, forest_.names.size());
      images = products(forest_, list,
                        std::min((kMaxFlowEdges - plain) / moved, 4 * kMaxFlowEdges / names));
      if (images.empty()) return std::nullopt;
    }
    for (const ForestTree& tree : list.trees) {
      image_ = nullptr;
      if (!tree.images) add_tree(tree);
      for (std::size_t i = 0; tree.images && i < images.size(); ++i) {
        image_ = &images[i];
        add_tree(tree);
      }
    }
    return std::move(phase_);
  }

 private:
  /// A node of a tree, and the flow that joins it to what is nearer to the root.
  struct Reached {
    NodeId node;
    std::int32_t above = -1;
  };

  // Of the image at hand.
  [[nodiscard]] NodeId node(Name name) const {
    const auto at = static_cast<std::size_t>(name);
    return node_of_[image_ == nullptr ? at : static_cast<std::size_t>((*image_)[at])];
  }
  [[nodiscard]] bool is_rank(NodeId v) const { return fabric_.network().is_compute(v); }
  [[nodiscard]] std::int32_t rank_of(NodeId v) const { return fabric_.network().rank_of[v].value; }

  // Ranks first, then all nodes, of which only switches are looked for.
  [[nodiscard]] std::int32_t number_of(NodeId root) const {
    const auto ranks = static_cast<std::int32_t>(fabric_.network().ranks.size());
    return is_rank(root) ? rank_of(root) : ranks + root.value;
  }

  void add_tree(const ForestTree& tree) {
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
    const std::vector<std::size_t> below = std::exchange(below_[top.node], {});
    if (below.empty()) return;
    if (!is_rank(top.node)) return add_flow(top, below, queue);
    for (const std::size_t e : below) add_flow(top, {e}, queue);
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
      } else {
        std::ranges::copy(std::exchange(below_[end], {}), std::back_inserter(edges));
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
    path.reserve(edge.path_end - edge.path_begin);
    for (std::uint32_t i = edge.path_begin; i < edge.path_end; ++i) {
      path.push_back(node(forest_.path_nodes[i]));
    }
    return path;
  }

  const ForestFile& forest_;
  Fabric& fabric_;
  std::vector<NodeId> node_of_;                       // by name
  const Permutation* image_ = nullptr;                // of the tree at hand
  IdVector<NodeId, std::vector<std::size_t>> below_;  // edges of that tree, by their upper end
  FlowPhase phase_;
};

}  // namespace

std::optional<FlowPhase> read_phase(const ForestFile& forest, const TreeList& list, bool inward,
                                    const Topology& topology, Fabric& fabric) {
  return PhaseReader(forest, inward, topology, fabric).read(list);
}

}  // namespace forestcoll::simulate
