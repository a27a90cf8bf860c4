#include <algorithm>
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
    Used worst;
    for (std::size_t a = 0; a < load_.size(); ++a) {
      worst = busier(worst, {load_[ArcId(a)], network_.capacity[ArcId(a)]});
    }
    for (const ArcLimit& limit : network_.limits) {
      Used together{0, limit.capacity};
      for (const auto& [arc, weight] : limit.uses) together.load += load_[arc] * weight;
      worst = busier(worst, together);
    }
    const auto per_chunk = Ratio::reduced(Int128{worst.capacity}, worst.load);
    const auto all = per_chunk ? checked_mul(*per_chunk, Ratio(chunks)) : std::nullopt;
    return all ? checked_mul(*all, network_.unit) : std::nullopt;
  }

 private:
  struct Used {
    Int128 load = 0;
    Capacity capacity = 1;
  };
  static const Used& busier(const Used& a, const Used& b) {
    return b.load * a.capacity > a.load * b.capacity ? b : a;
  }

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
