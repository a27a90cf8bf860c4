// From scaled capacities to a forest: contract, balance, pack, and raise U where the floors of a
// fixed k left no room.
#include "forestcoll/pack.hpp"

#include <numeric>

#include "base/check.hpp"
#include "solver/balance.hpp"
#include "solver/core.hpp"
#include "solver/packer.hpp"
#include "solver/scale.hpp"

namespace forestcoll {
namespace {

// Floors that are tried one by one before the next whole scale, at which nothing is rounded.
constexpr int kRisesTried = 16;

Ratio whole_above(const Ratio& scale) {
  return Ratio(scale.num() / scale.den() + 1);
}

}  // namespace

Expected<Network> balanced(const Network& network, const Weights& weights, const Rate& rate) {
  if (solver::is_balanced(network.graph, network.capacity, network.rank_of)) return network;
  const Scaling scaling = scale_to_optimum(network, rate);
  IdVector<ArcId, Capacity> capacity = scaling.capacity;
  Weights owed = weights;
  for (auto& trees : owed) trees *= scaling.k;
  solver::balance_switches(network.graph, capacity, network.rank_of, network.ranks, owed);

  const Capacity divisor = std::accumulate(capacity.begin(), capacity.end(), Capacity{0},
                                           [](Capacity a, Capacity b) { return std::gcd(a, b); });
  Int128 sum = 0;
  for (const Capacity c : capacity) sum += c / std::max<Capacity>(divisor, 1);
  const auto unit = checked_mul(network.unit, Ratio(divisor, scaling.scale.num()));
  if (divisor == 0 || !unit ||
      sum * static_cast<std::int64_t>(network.ranks.size()) >= Int128{1} << 62) {
    return Diagnostic{.code = "E14",
                      .kind = ErrorKind::limit,
                      .message =
                          "balancing the switches whose two sides differ makes numbers too "
                          "large for exact arithmetic (2^62)",
                      .remedy =
                          "make the bandwidths of both sides of each switch equal, or round "
                          "them with --quantize"};
  }
  Network result;
  std::vector<Arc> arcs;
  for (std::size_t a = 0; a < capacity.size(); ++a) {
    if (capacity[ArcId(a)] == 0) continue;
    arcs.push_back(network.graph.arcs()[a]);
    result.capacity.push_back(capacity[ArcId(a)] / divisor);
  }
  result.graph = Digraph(network.graph.node_count(), arcs);
  result.unit = *unit;
  result.ranks = network.ranks;
  result.rank_of = network.rank_of;
  return result;
}

Expected<Packing> pack(const Network& network, const Weights& weights, const Scaling& scaling,
                       const Progress& progress) {
  Weights owed = weights;
  for (auto& trees : owed) trees *= scaling.k;
  Scaling current = scaling;
  for (int rises = 0;; ++rises) {
    solver::Core core = solver::make_core(network, current.capacity);
    const bool carried =
        solver::is_balanced(core.graph, core.capacity, core.rank_of) ||
        solver::balance_switches(core.graph, core.capacity, core.rank_of, core.compute, owed);
    if (carried) {
      if (auto packed = solver::pack_trees(core, owed, progress)) {
        return Packing{std::move(packed->forest), std::move(current), packed->statistics};
      }
    }
    FORESTCOLL_CHECK(current.scale.den() != 1 || rises <= kRisesTried,
                     "a balanced fabric must pack at a whole scale");
    current.scale = rises < kRisesTried ? *solver::next_scale(network, current.scale)
                                        : whole_above(current.scale);
    current.capacity = solver::floor_capacities(network, current.scale);
  }
}

}  // namespace forestcoll
