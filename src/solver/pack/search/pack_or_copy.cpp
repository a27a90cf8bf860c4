#include "solver/pack/search/pack_or_copy.hpp"

#include <utility>

#include "solver/pack/search/known_forests.hpp"

namespace forestcoll::solver {

bool is_copied_exactly(const Scaling& scaling, std::int64_t times) {
  constexpr Int128 kMost = Int128{1} << 62;
  Int128 sum = 0;
  for (const Capacity capacity : scaling.capacity) sum += capacity;
  return sum * times < kMost && Int128{scaling.k} * times < kMost &&
         checked_mul(scaling.scale, Ratio(times)).has_value();
}

Packing copied(Packing packing, std::int64_t times) {
  packing.forest = packing.forest.scaled(times);
  packing.scaling.k *= times;
  packing.scaling.scale = packing.scaling.scale * Ratio(times);
  for (Capacity& capacity : packing.scaling.capacity) capacity *= times;
  return packing;
}

Expected<PackingSoFar> pack_or_copy(const Network& network, const Weights& weights,
                                    const Rate& rate, const Scaling& scaling,
                                    const PackOptions& options, IfStopped if_stopped) {
  auto best = pack_so_far(network, weights, scaling, options, if_stopped);
  if (!best || best->stopped) return best;
  for (std::int64_t k = scaling.k / 2; k >= 1; --k) {
    if (!is_faster(scaling, best->packing.scaling)) break;
    if (scaling.k % k != 0) continue;
    const auto fewer = scale_to_k(network, weights, rate, k, options.stop);
    if (!fewer || !is_faster(*fewer, best->packing.scaling)) continue;
    auto packing = pack(network, weights, *fewer, options);
    if (!packing || !is_faster(packing->scaling, best->packing.scaling)) continue;
    const std::int64_t times = scaling.k / k;
    if (is_copied_exactly(packing->scaling, times)) {
      best->packing = copied(*std::move(packing), times);
    }
  }
  return best;
}

}  // namespace forestcoll::solver
