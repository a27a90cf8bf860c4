#include <cstddef>

#include "forestcoll/congestion.hpp"

namespace forestcoll {
namespace {

/// What trees load the arcs with, in chunks, with the echoes of what they exchange with switches.
class BranchingLoads {
 public:
  BranchingLoads(const Network& network, const SwitchRoles& roles)
      : network_(network), roles_(roles), load_(network.graph.arc_count(), 0) {}

  void add(const Forest& forest) {
    for (std::size_t t = 0; t < forest.tree_count(); ++t) {
      for (std::size_t v = 0; v < forest.rank_count(); ++v) {
        if (Rank(v) == forest.tree(TreeId(t)).root) continue;
        add_path(forest.path(TreeId(t), Rank(v)), forest.is_in_forest(),
                 forest.tree(TreeId(t)).multiplicity);
      }
    }
  }

  // GB/s, for so many chunks; nothing where exact arithmetic does not hold it.
  [[nodiscard]] std::optional<Ratio> algbw(std::int64_t chunks) const {
    IdVector<ArcId, Ratio> loads;
    for (const Int128 load : load_) {
      const auto share = Ratio::reduced(load, chunks);
      if (!share) return std::nullopt;
      loads.push_back(*share);
    }
    return congestion_algbw(loads, network_);
  }

 private:
  void add_path(const std::vector<NodeId>& path, bool inward, std::int64_t chunks) {
    for (std::size_t i = 0; i + 1 < path.size(); ++i) {
      load_[network_.graph.find(path[i], path[i + 1])] += chunks;
    }
    // The end at which a switch copies or combines, and what is next to it.
    const NodeId end = inward ? path.front() : path.back();
    const NodeId beside = inward ? path[1] : path[path.size() - 2];
    if (network_.is_compute(end) || !roles_[end].echoes || !network_.is_compute(beside)) return;
    const ArcId echo = inward ? network_.graph.find(beside, end) : network_.graph.find(end, beside);
    load_[echo] += chunks;
  }

  const Network& network_;
  const SwitchRoles& roles_;
  IdVector<ArcId, Int128> load_;
};

}  // namespace

std::optional<Ratio> congestion_algbw(const BranchingForest& forest, const Network& network,
                                      const SwitchRoles& roles) {
  BranchingLoads loads(network, roles);
  for (const auto* phase : {&forest.reduce, &forest.broadcast}) {
    for (const BranchingTrees& trees : *phase) loads.add(trees.forest);
  }
  return loads.algbw(forest.chunks);
}

}  // namespace forestcoll
