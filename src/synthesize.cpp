#include "forestcoll/synthesize.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "base/check.hpp"

namespace forestcoll {
namespace {

/// One direction of a collective: out-trees from the roots on a network. Its rate counts `times`
/// times where both directions share it.
struct Phase {
  const Network& network;
  Weights weights;
  Rate rate;
  int times = 1;
};

Weights weights_of(const Network& network, std::optional<Rank> root) {
  return root ? single_root(network, *root) : uniform_weights(network);
}

std::int64_t total(const Weights& weights) {
  return std::accumulate(weights.begin(), weights.end(), std::int64_t{0});
}

Diagnostic too_large() {
  return {.code = "E14",
          .kind = ErrorKind::limit,
          .message = "the exact rate of this fabric does not fit 64-bit fractions",
          .remedy = "round the bandwidths to a coarser grid with --quantize"};
}

// What all roots own over the time that k trees per root of bandwidth 1/scale take, in GB/s.
Expected<Ratio> algbw_of(const Network& network, const Weights& weights, const Ratio& scale,
                         std::int64_t k) {
  auto result = checked_div(Ratio(total(weights)), scale);
  if (result) result = checked_mul(*result, Ratio(k));
  if (result) result = checked_mul(*result, network.unit);
  if (!result) return too_large();
  return *result;
}

// One phase after the other, each over all the data: 1 / (1/a + 1/b).
Expected<Ratio> in_sequence(const Ratio& a, const Ratio& b) {
  const auto result = Ratio::reduced(Int128{a.num()} * b.num(),
                                     Int128{a.num()} * b.den() + Int128{b.num()} * a.den());
  if (!result) return too_large();
  return *result;
}

bool has_reduce(Collective c) {
  return c == Collective::reduce_scatter || c == Collective::reduce || c == Collective::allreduce;
}
bool has_broadcast(Collective c) {
  return c == Collective::allgather || c == Collective::broadcast || c == Collective::allreduce;
}

bool is_symmetric(const Network& a, const Network& b) {
  return std::equal(a.graph.arcs().begin(), a.graph.arcs().end(), b.graph.arcs().begin(),
                    b.graph.arcs().end()) &&
         a.capacity == b.capacity;
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// What the phases are packed at, and, where k was searched for, what each k reaches.
struct Plan {
  std::vector<Scaling> scalings;  ///< one per phase
  std::vector<RateAtK> rows;
};

// All phases at k trees per root, and the rate of the collective.
Expected<std::pair<std::vector<Scaling>, Ratio>> plan_at(const std::vector<Phase>& phases,
                                                         std::int64_t k) {
  std::vector<Scaling> scalings;
  std::optional<Ratio> algbw;
  for (const Phase& phase : phases) {
    auto scaling = scale_to_k(phase.network, phase.weights, phase.rate, k);
    if (!scaling) return scaling.errors();
    auto of_phase = algbw_of(phase.network, phase.weights, scaling->scale, k);
    if (!of_phase) return of_phase.errors();
    for (int i = 0; i < phase.times; ++i) {
      auto both = algbw ? in_sequence(*algbw, *of_phase) : of_phase;
      if (!both) return both.errors();
      algbw = *both;
    }
    scalings.push_back(std::move(*scaling));
  }
  return std::pair(std::move(scalings), *algbw);
}

std::vector<std::int64_t> candidates(const TreesPerRoot& asked) {
  using Mode = TreesPerRoot::Mode;
  std::vector<std::int64_t> all;
  if (asked.mode == Mode::fixed) {
    all = {asked.value};
  } else if (asked.mode == Mode::power_of_two) {
    for (std::int64_t k = 1; k <= asked.value && k > 0; k *= 2) all.push_back(k);
  } else {
    all.resize(static_cast<std::size_t>(asked.value));
    std::iota(all.begin(), all.end(), std::int64_t{1});
  }
  return all;
}

Expected<Plan> plan(const std::vector<Phase>& phases, const TreesPerRoot& asked) {
  Plan result;
  if (asked.mode == TreesPerRoot::Mode::optimal) {
    for (const Phase& phase : phases) {
      result.scalings.push_back(scale_to_optimum(phase.network, phase.rate));
    }
    return result;
  }
  FORESTCOLL_CHECK(asked.value >= 1, "k must be positive");
  Ratio best;
  for (const std::int64_t k : candidates(asked)) {
    auto at_k = plan_at(phases, k);
    if (!at_k) return at_k.errors();
    auto& [scalings, algbw] = *at_k;
    if (result.scalings.empty() || best < algbw) {
      best = algbw;
      result.scalings = std::move(scalings);
    }
    result.rows.push_back({k, algbw});
  }
  if (asked.mode == TreesPerRoot::Mode::fixed) result.rows.clear();
  return result;
}

// Both phases cut the data into the same chunks.
Expected<std::int64_t> common_k(std::int64_t a, std::int64_t b) {
  const Int128 k = Int128{a} / std::gcd(a, b) * b;
  if (k >= Int128{1} << 62) return too_large();
  return static_cast<std::int64_t>(k);
}

Expected<Ratio> bound_of(const Network& network, const std::optional<Rate>& reduce,
                         const std::optional<Rate>& broadcast, const Weights& weights) {
  const auto of = [&](const Rate& rate) { return algbw_of(network, weights, rate.inverse, 1); };
  if (!reduce || !broadcast) return of(reduce ? *reduce : *broadcast);
  auto first = of(*reduce);
  auto second = of(*broadcast);
  if (!first) return first;
  if (!second) return second;
  return in_sequence(*first, *second);
}

}  // namespace

Expected<Bound> bound(const Network& network, Collective collective, std::optional<Rank> root) {
  FORESTCOLL_CHECK(root.has_value() == is_rooted(collective), "a root exactly where one is needed");
  const Weights weights = weights_of(network, root);
  const Network backward = reversed(network);
  const bool symmetric = is_symmetric(network, backward);
  Bound result;
  if (has_broadcast(collective)) result.broadcast_rate = optimal_rate(network, weights);
  if (has_reduce(collective)) {
    result.reduce_rate = symmetric && result.broadcast_rate ? *result.broadcast_rate
                                                            : optimal_rate(backward, weights);
  }
  const auto k_of = [](const std::optional<Rate>& rate) {
    return rate ? rate->inverse.den() : std::int64_t{1};
  };
  auto k = common_k(k_of(result.broadcast_rate), k_of(result.reduce_rate));
  if (!k) return k.errors();
  result.k = *k;
  auto algbw = bound_of(network, result.reduce_rate, result.broadcast_rate, weights);
  if (!algbw) return algbw.errors();
  result.algbw = *algbw;
  return result;
}

namespace {

/// A packed phase, and the rate that it reaches alone.
struct Packed {
  Forest forest;
  std::int64_t k = 1;
  Ratio algbw;
};

Expected<Packed> pack_phase(const Phase& phase, const Scaling& scaling, const PackOptions& options,
                            Synthesis& result) {
  auto packing = pack(phase.network, phase.weights, scaling, options);
  if (!packing) return packing.errors();
  auto algbw = algbw_of(phase.network, phase.weights, packing->scaling.scale, packing->scaling.k);
  if (!algbw) return algbw.errors();
  result.raised |= scaling.scale < packing->scaling.scale;
  result.least_height =
      std::max(result.least_height, height_lower_bound(phase.network, phase.weights));
  result.statistics.cuts += packing->statistics.cuts;
  result.statistics.checks += packing->statistics.checks;
  result.statistics.repairs += packing->statistics.repairs;
  result.statistics.splits += packing->statistics.splits;
  return Packed{std::move(packing->forest), packing->scaling.k, *algbw};
}

}  // namespace

Expected<Synthesis> synthesize(const Network& network, const SynthesizeOptions& options) {
  FORESTCOLL_CHECK(options.root.has_value() == is_rooted(options.collective),
                   "a root exactly where one is needed");
  const Network backward = reversed(network);
  const Weights weights = weights_of(network, options.root);
  const bool reduce = has_reduce(options.collective);
  const bool broadcast = has_broadcast(options.collective);
  // On a fabric that is the same in both directions, in-trees are out-trees walked backwards.
  const bool shared = reduce && broadcast && is_symmetric(network, backward);

  Synthesis result;
  CollectiveForest& forest = result.forest;
  forest.collective = options.collective;
  forest.root = options.root;

  // 1. What is the best possible? The cuts are the proof.
  auto start = std::chrono::steady_clock::now();
  std::vector<Phase> phases;
  if (broadcast) {
    phases.push_back({network, weights, optimal_rate(network, weights), 1});
    result.broadcast_rate = phases.back().rate;
  }
  if (shared) {
    phases.back().times = 2;
    result.reduce_rate = result.broadcast_rate;
  } else if (reduce) {
    phases.push_back({backward, weights, optimal_rate(backward, weights), 1});
    result.reduce_rate = phases.back().rate;
  }
  auto optimum = bound_of(network, result.reduce_rate, result.broadcast_rate, weights);
  if (!optimum) return optimum.errors();
  forest.optimum = *optimum;

  // 2. Make capacities integral; that fixes the number of trees per root.
  auto planned = plan(phases, options.trees_per_root);
  if (!planned) return planned.errors();
  result.tradeoff = std::move(planned->rows);
  result.seconds.rate = seconds_since(start);

  // 3. Pack the trees straight into the fabric.
  start = std::chrono::steady_clock::now();
  std::vector<Packed> packed;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    auto phase = pack_phase(phases[i], planned->scalings[i], options.packing, result);
    if (!phase) return phase.errors();
    packed.push_back(std::move(*phase));
  }
  result.seconds.pack = seconds_since(start);

  // 4. Put the phases together: out-trees first, in-trees last.
  auto k = common_k(packed.front().k, packed.back().k);
  if (!k) return k.errors();
  forest.k = *k;
  const auto at_common_k = [&](const Packed& phase) {
    return phase.k == forest.k ? phase.forest : phase.forest.scaled(forest.k / phase.k);
  };
  if (broadcast) forest.broadcast = at_common_k(packed.front());
  if (reduce) forest.reduce = at_common_k(packed.back()).reversed();
  auto algbw = reduce && broadcast ? in_sequence(packed.front().algbw, packed.back().algbw)
                                   : Expected<Ratio>(packed.front().algbw);
  if (!algbw) return algbw.errors();
  forest.algbw = *algbw;
  return result;
}

}  // namespace forestcoll
