#include "forestcoll/congestion.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "forest/arc_counts.hpp"

namespace forestcoll {
namespace {

// By arc, as a part of all chunks; false where that is not exact.
bool add_load(const Forest& forest, const Network& network, IdVector<ArcId, Ratio>& load) {
  const auto chunks = count_on_arcs(forest, network);
  if (!chunks) return false;
  std::int64_t all = 0;
  for (std::size_t t = 0; t < forest.tree_count(); ++t) {
    all += forest.tree(TreeId(t)).multiplicity;
  }
  for (std::size_t a = 0; a < load.size(); ++a) {
    const auto sum = checked_add(load[ArcId(a)], Ratio((*chunks)[ArcId(a)], all));
    if (!sum) return false;
    load[ArcId(a)] = *sum;
  }
  return true;
}

}  // namespace

std::optional<IdVector<ArcId, Ratio>> link_loads(const CollectiveForest& forest,
                                                 const Network& network) {
  IdVector<ArcId, Ratio> loads(network.graph.arc_count(), Ratio(0));
  for (const auto* phase : {&forest.reduce, &forest.broadcast}) {
    if (*phase && !add_load(**phase, network, loads)) return std::nullopt;
  }
  return loads;
}

std::optional<Ratio> congestion_algbw(const IdVector<ArcId, Ratio>& loads, const Network& network) {
  std::optional<Ratio> least;
  for (std::size_t a = 0; a < loads.size(); ++a) {
    if (loads[ArcId(a)] == Ratio(0)) continue;
    const auto allowed = checked_div(Ratio(network.capacity[ArcId(a)]), loads[ArcId(a)]);
    if (!allowed) return std::nullopt;
    least = std::min(least.value_or(*allowed), *allowed);
  }
  return least ? checked_mul(*least, network.unit) : std::nullopt;
}

std::optional<Ratio> congestion_algbw(const CollectiveForest& forest, const Network& network) {
  const auto loads = link_loads(forest, network);
  return loads ? congestion_algbw(*loads, network) : std::nullopt;
}

}  // namespace forestcoll
