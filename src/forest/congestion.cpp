#include "forestcoll/congestion.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/gcd.hpp"
#include "forest/arc_counts.hpp"

namespace forestcoll {
namespace {

// What the trees of a phase put on the arcs, in chunks, and the chunks of the whole buffer.
struct PhaseLoad {
  IdVector<ArcId, std::int64_t> chunks;
  std::int64_t all = 0;
};

// Nothing where a sum does not fit.
std::optional<std::vector<PhaseLoad>> loads_by_phase(const CollectiveForest& forest,
                                                     const Network& network) {
  std::vector<PhaseLoad> loads;
  for (const auto* phase : {&forest.reduce, &forest.broadcast}) {
    if (!*phase) continue;
    auto chunks = count_on_arcs(**phase, network);
    if (!chunks) return std::nullopt;
    PhaseLoad load{*std::move(chunks)};
    for (std::size_t t = 0; t < (*phase)->tree_count(); ++t) {
      load.all += (*phase)->tree(TreeId(t)).multiplicity;
    }
    loads.push_back(std::move(load));
  }
  return loads;
}

// Time on an arc: chunks of all phases, in parts of both buffers' numbers of chunks, by its
// capacity. Two phases of 62 bits each fit, where the same sum in lowest terms need not.
struct ArcTime {
  Int128 parts = 0;
  std::int64_t capacity = 1;

  friend bool operator<(const ArcTime& a, const ArcTime& b) {
    const Int128 whole_a = a.parts / a.capacity;
    const Int128 whole_b = b.parts / b.capacity;
    if (whole_a != whole_b) return whole_a < whole_b;
    return (a.parts % a.capacity) * b.capacity < (b.parts % b.capacity) * a.capacity;
  }
};

Int128 parts_on(const std::vector<PhaseLoad>& loads, ArcId arc) {
  if (loads.size() == 1) return loads.front().chunks[arc];
  return Int128{loads.front().chunks[arc]} * loads.back().all +
         Int128{loads.back().chunks[arc]} * loads.front().all;
}

}  // namespace

std::optional<IdVector<ArcId, Ratio>> link_loads(const CollectiveForest& forest,
                                                 const Network& network) {
  const auto phases = loads_by_phase(forest, network);
  if (!phases) return std::nullopt;
  IdVector<ArcId, Ratio> loads(network.graph.arc_count(), Ratio(0));
  for (const PhaseLoad& phase : *phases) {
    for (std::size_t a = 0; a < loads.size(); ++a) {
      const auto sum = checked_add(loads[ArcId(a)], Ratio(phase.chunks[ArcId(a)], phase.all));
      if (!sum) return std::nullopt;
      loads[ArcId(a)] = *sum;
    }
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
  for (const ArcLimit& limit : network.limits) {
    std::optional<Ratio> load = Ratio(0);
    for (const auto& [arc, weight] : limit.uses) {
      const auto more = checked_mul(loads[arc], Ratio(weight));
      load = load && more ? checked_add(*load, *more) : std::nullopt;
    }
    if (load == Ratio(0)) continue;
    const auto allowed = load ? checked_div(Ratio(limit.capacity), *load) : std::nullopt;
    if (!allowed) return std::nullopt;
    least = std::min(least.value_or(*allowed), *allowed);
  }
  return least ? checked_mul(*least, network.unit) : std::nullopt;
}

std::optional<Ratio> congestion_algbw(const CollectiveForest& forest, const Network& network) {
  if (!network.limits.empty()) {
    const auto loads = link_loads(forest, network);
    return loads ? congestion_algbw(*loads, network) : std::nullopt;
  }
  const auto loads = loads_by_phase(forest, network);
  if (!loads || loads->empty()) return std::nullopt;
  ArcTime longest;
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    const Int128 parts = parts_on(*loads, ArcId(a));
    if (parts == 0) continue;
    if (network.capacity[ArcId(a)] == 0) return Ratio(0);
    longest = std::max(longest, ArcTime{parts, network.capacity[ArcId(a)]});
  }
  if (longest.parts == 0) return std::nullopt;
  const auto bandwidth = checked_mul(Ratio(longest.capacity), network.unit);
  if (!bandwidth) return std::nullopt;
  Int128 whole = 1;
  for (const PhaseLoad& phase : *loads) whole *= phase.all;
  const Int128 common = gcd(whole, longest.parts);
  // Crosswise: each factor fits where their product does.
  const auto over = Ratio::reduced(bandwidth->num(), longest.parts / common);
  const auto under = Ratio::reduced(whole / common, bandwidth->den());
  return over && under ? checked_mul(*over, *under) : std::nullopt;
}

}  // namespace forestcoll
