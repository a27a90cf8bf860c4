#include "solver/portfolio/coarser.hpp"

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace forestcoll::solver {

std::optional<Coarser> coarser(const Network& network, const Ratio& least_cut, int bits) {
  const auto arcs = static_cast<Int128>(network.graph.arc_count());
  const auto steps =
      static_cast<std::int64_t>(least_cut.num() / ((arcs << bits) * least_cut.den()));
  if (steps < 2) return std::nullopt;
  Coarser result{network, Ratio(0)};
  Network& less = result.network;
  less.capacity = {};
  std::vector<Arc> kept;
  std::int64_t common = 0;
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    const Capacity whole = network.capacity[ArcId(a)] / steps;
    if (whole == 0) continue;
    kept.push_back(network.graph.arcs()[a]);
    less.capacity.push_back(whole);
    common = std::gcd(common, whole);
  }
  for (Capacity& capacity : less.capacity) capacity /= common;
  less.graph = Digraph(network.graph.node_count(), kept);
  const auto grid = checked_mul(network.unit, Ratio(steps));
  const auto unit = grid ? checked_mul(*grid, Ratio(common)) : std::nullopt;
  if (!unit) return std::nullopt;
  less.unit = *unit;
  result.grid = *grid;
  return result;
}

}  // namespace forestcoll::solver
