// Integral capacities for k trees per root.
//
// At the optimum U/k = 1/x* with all U·b integral. In units where the greatest common divisor of
// all capacities is 1, U must be an integer, and 1/x* = w/B in lowest terms gives U = w, k = B.
//
// For a given k the capacities ⌊U·b⌋ must carry k trees per unit of weight. Feasibility is
// monotone in U. A violated cut proves a least U at which it holds, a value j/b_e of one of its
// arcs, where some floor rises; jumping there never passes the answer.
#include "solver/rate/scale.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>

#include "base/check.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/pack.hpp"
#include "graph/sink_flow.hpp"
#include "solver/common/demand_check.hpp"
#include "solver/common/sink_order.hpp"
#include "solver/common/stop_poller.hpp"
#include "solver/rate/alike_sinks.hpp"

namespace forestcoll {
namespace {

/// How many arcs of each capacity a cut has.
using CutArcs = std::map<Capacity, std::int64_t>;

Capacity floor_scaled(const Ratio& scale, Capacity capacity) {
  return static_cast<Capacity>(Int128{scale.num()} * capacity / scale.den());
}

std::int64_t carried(const CutArcs& arcs, const Ratio& scale) {
  std::int64_t sum = 0;
  for (const auto& [capacity, count] : arcs) sum += floor_scaled(scale, capacity) * count;
  return sum;
}

// The least scale above `scale` at which a floor rises.
std::optional<Ratio> next_rise(const CutArcs& arcs, const Ratio& scale) {
  std::optional<Ratio> best;
  for (const auto& [capacity, count] : arcs) {
    const Ratio at(floor_scaled(scale, capacity) + 1, capacity);
    if (!best || at < *best) best = at;
  }
  return best;
}

// The least scale at which the cut carries `need`. REQUIRES: it does not at `low`.
// Σ⌊U·b⌋ > U·Σb − (number of arcs), so from U = need/Σb at most that many rises remain.
Ratio least_scale(const CutArcs& arcs, const Ratio& low, std::int64_t need) {
  std::int64_t whole = 0;
  for (const auto& [capacity, count] : arcs) whole += capacity * count;
  Ratio scale = std::max(low, Ratio(need, whole));
  while (carried(arcs, scale) < need) scale = *next_rise(arcs, scale);
  return scale;
}

Diagnostic too_many_trees(std::int64_t k) {
  return make_error(Code::E14,
                    "k = " + std::to_string(k) +
                        " trees per root make numbers too large for exact arithmetic (2^62)",
                    "ask for fewer trees per root with `k`");
}

Diagnostic stopped() {
  return make_error(Code::R01, "asked to stop before the rate at this k was known",
                    "give it more time");
}

}  // namespace

IdVector<ArcId, Capacity> solver::floor_capacities(const Network& network, const Ratio& scale) {
  IdVector<ArcId, Capacity> result(network.graph.arc_count());
  for (std::size_t a = 0; a < result.size(); ++a) {
    result[ArcId(a)] = floor_scaled(scale, network.capacity[ArcId(a)]);
  }
  return result;
}

std::optional<Ratio> solver::next_scale(const Network& network, const Ratio& scale) {
  CutArcs arcs;
  for (const Capacity b : network.capacity) ++arcs[b];
  return next_rise(arcs, scale);
}

bool solver::capacities_fit(const Network& network, const Ratio& scale) {
  const Int128 sum =
      std::accumulate(network.capacity.begin(), network.capacity.end(), std::int64_t{0});
  return sum * scale.num() / scale.den() < Int128{1} << 61;
}

// With part = n/D, g = gcd of all n and inverse = w/B: U·n/D is integral for the multiples of D/g,
// and k = U·B/w.
std::optional<Scaling> solver::scaling_of_part(const BalancedPart& part, const Ratio& inverse) {
  constexpr Int128 kMostPart = Int128{1} << 61;
  Capacity divisor = 0;
  for (const Capacity capacity : part.capacity) divisor = std::gcd(divisor, capacity);
  const Ratio step(part.denominator, divisor);
  const auto trees =
      Ratio::reduced(Int128{step.num()} * inverse.den(), Int128{step.den()} * inverse.num());
  if (!trees || trees->num() >= kMostPart) return std::nullopt;
  const auto scale = checked_mul(Ratio(trees->num()), inverse);
  if (!scale) return std::nullopt;
  Scaling result{trees->num(), *scale, {}};
  Int128 sum = 0;
  for (const Capacity capacity : part.capacity) {
    const Int128 scaled =
        Int128{capacity} * scale->num() / (Int128{part.denominator} * scale->den());
    sum += scaled;
    if (sum >= kMostPart) return std::nullopt;
    result.capacity.push_back(static_cast<Capacity>(scaled));
  }
  return result;
}

Scaling scale_to_optimum(const Network& network, const Rate& rate) {
  if (rate.part) return solver::scaling_of_part(*rate.part, rate.inverse).value();
  const Ratio scale(rate.inverse.num());
  return {rate.inverse.den(), scale, solver::floor_capacities(network, scale)};
}

Expected<Scaling> scale_to_k(const Network& network, const Weights& weights, const Rate& rate,
                             std::int64_t k, const std::stop_token& stop) {
  FORESTCOLL_CHECK(k >= 1, "k must be positive");
  constexpr Int128 kLimit = Int128{1} << 61;
  const std::int64_t all = std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
  const Int128 sum =
      std::accumulate(network.capacity.begin(), network.capacity.end(), std::int64_t{0});
  // All floors together.
  const auto fits = [&](const Ratio& scale) {
    return Int128{scale.num()} * sum / scale.den() < kLimit;
  };
  // Each floor loses less than 1, so the answer is below (k·weight + arcs) / the smallest cut.
  const auto start = checked_mul(Ratio(k), rate.inverse);
  if (Int128{k} * all >= kLimit || !start || !fits(*start)) return too_many_trees(k);

  Ratio scale = *start;
  graph::SinkFlow flow(network.graph);
  std::vector<std::int64_t> capacity(network.graph.arc_count());
  std::vector<std::int64_t> supply(network.graph.node_count(), 0);
  for (std::size_t r = 0; r < network.ranks.size(); ++r) {
    supply[network.ranks[r].index()] = weights[Rank(r)] * k;
  }
  for (std::size_t a = 0; a < capacity.size(); ++a) {
    capacity[a] = floor_scaled(scale, network.capacity[ArcId(a)]);
  }
  flow.reset(capacity, supply);

  const auto raise = [&](const solver::SinkSide& side) -> std::optional<std::int64_t> {
    CutArcs arcs;
    std::int64_t need = 0;
    for (std::size_t v = 0; v < side.size(); ++v) {
      if (!side[v]) need += supply[v];
    }
    for (std::size_t a = 0; a < capacity.size(); ++a) {
      if (!side[network.graph.tail(ArcId(a)).index()] &&
          side[network.graph.head(ArcId(a)).index()]) {
        ++arcs[network.capacity[ArcId(a)]];
      }
    }
    scale = least_scale(arcs, scale, need);
    if (!fits(scale)) return std::nullopt;
    for (std::size_t a = 0; a < capacity.size(); ++a) {
      const Capacity raised = floor_scaled(scale, network.capacity[ArcId(a)]);
      flow.add_capacity(ArcId(a), raised - capacity[a]);
      capacity[a] = raised;
    }
    return all * k;
  };
  const auto order =
      solver::locality_order(network.graph, network.capacity, network.ranks, network.ranks.front());
  solver::StopPoller looks(network, stop);
  solver::AlikeSinks holding(network, weights);
  for (const NodeId& sink : order) {
    if (flow.is_merged(sink)) continue;
    if (looks.stopped_before_sink()) return stopped();
    if (!solver::check_all(flow, std::span(&sink, 1), all * k, raise)) return too_many_trees(k);
    holding.merge(flow, sink);
  }
  if (rate.part && scale == *start) {
    // A multiple of what the part needs: then that is known to be packed, its floors are not.
    const Scaling part = *solver::scaling_of_part(*rate.part, rate.inverse);
    if (k % part.k == 0) {
      Scaling result{k, scale, part.capacity};
      for (Capacity& scaled : result.capacity) scaled *= k / part.k;
      return result;
    }
  }
  return Scaling{k, scale, solver::floor_capacities(network, scale)};
}

}  // namespace forestcoll
