// From scaled capacities to a forest: contract, balance, pack, and raise U where the floors of a
// fixed k left no room.
#include "forestcoll/pack.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "solver/balance.hpp"
#include "solver/core.hpp"
#include "solver/packer.hpp"
#include "solver/scale.hpp"

namespace forestcoll {
namespace {

// Floors that are tried one by one before the next whole scale, at which nothing is rounded.
constexpr int kRisesTried = 16;

Diagnostic too_large() {
  return {.code = "E14",
          .kind = ErrorKind::limit,
          .message = "the trees of this fabric need numbers too large for exact arithmetic (2^62)",
          .remedy =
              "make the bandwidths of both sides of each switch equal, or round them with "
              "--quantize"};
}

bool fits(const Network& network, const Ratio& scale) {
  const Int128 sum =
      std::accumulate(network.capacity.begin(), network.capacity.end(), std::int64_t{0});
  return sum * scale.num() < Int128{1} << 61 && sum * scale.den() < Int128{1} << 61;
}

// First the least steps, at which a floor rises; then a whole scale, at which nothing is rounded;
// and then, for switches that are unbalanced by themselves, a quarter more each time.
Ratio next_scale_tried(const Network& network, const Ratio& scale, int rises) {
  if (rises <= kRisesTried) return *solver::next_scale(network, scale);
  const std::int64_t whole = scale.num() / scale.den() + 1;
  return Ratio(rises == kRisesTried + 1 ? whole : whole + whole / 4);
}

// The least scale at which the forest's loads fit the network's real capacities.
Ratio scale_of(const Network& network, const Forest& forest) {
  std::map<std::pair<NodeId, NodeId>, std::int64_t> load;
  for (std::size_t t = 0; t < forest.tree_count(); ++t) {
    const Forest::Tree& tree = forest.tree(TreeId(t));
    for (std::size_t v = 0; v < forest.rank_count(); ++v) {
      if (Rank(v) == tree.root) continue;
      const std::vector<NodeId> path = forest.path(TreeId(t), Rank(v));
      for (std::size_t i = 0; i + 1 < path.size(); ++i) {
        load[{path[i], path[i + 1]}] += tree.multiplicity;
      }
    }
  }
  Ratio scale = 0;
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    const auto it = load.find({network.graph.tail(ArcId(a)), network.graph.head(ArcId(a))});
    if (it != load.end()) scale = std::max(scale, Ratio(it->second, network.capacity[ArcId(a)]));
  }
  return scale;
}

// At one scale: with the capacities as they are, and, where that fails, with switches trimmed to
// balance, about which the theorem speaks.
std::optional<solver::PackedTrees> pack_at(const Network& network, const Weights& owed,
                                           const IdVector<ArcId, Capacity>& capacity,
                                           const Progress& progress) {
  solver::Core core = solver::make_core(network, capacity);
  if (auto packed = solver::pack_trees(core, owed, progress)) return packed;
  if (solver::is_balanced(core.graph, core.capacity, core.rank_of) ||
      !solver::balance_switches(core.graph, core.capacity, core.rank_of, core.compute, owed)) {
    return std::nullopt;
  }
  return solver::pack_trees(core, owed, progress);
}

}  // namespace

Expected<Packing> pack(const Network& network, const Weights& weights, const Scaling& scaling,
                       const PackOptions& options) {
  const Progress& progress = options.progress;
  Weights owed = weights;
  for (auto& trees : owed) trees *= scaling.k;
  if (auto packed = pack_at(network, owed, scaling.capacity, progress)) {
    return Packing{std::move(packed->forest), scaling, packed->statistics};
  }
  const bool balanced = solver::is_balanced(network.graph, network.capacity, network.rank_of);
  Ratio scale = scaling.scale;
  for (int rises = 1;; ++rises) {
    FORESTCOLL_CHECK(!balanced || scale.den() != 1,
                     "a balanced fabric must pack where nothing is rounded");
    scale = next_scale_tried(network, scale, rises);
    if (!fits(network, scale)) return too_large();
    auto packed = pack_at(network, owed, solver::floor_capacities(network, scale), progress);
    if (!packed) continue;
    const Ratio reached = scale_of(network, packed->forest);
    return Packing{std::move(packed->forest),
                   {scaling.k, reached, solver::floor_capacities(network, reached)},
                   packed->statistics};
  }
}

}  // namespace forestcoll
