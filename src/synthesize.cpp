#include "forestcoll/synthesize.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <utility>

#include "base/check.hpp"

namespace forestcoll {
namespace {

/// One direction of a collective: out-trees from the roots on a network.
struct Phase {
  Network network;  ///< balanced
  Weights weights;
  Rate rate;             ///< of the network as given: the bound
  Rate packable;         ///< of the balanced network
  bool trimmed = false;  ///< some switch was not balanced
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

Expected<Phase> prepare(const Network& network, std::optional<Rank> root) {
  const Weights weights = weights_of(network, root);
  const Rate rate = optimal_rate(network, weights);
  auto packable = balanced(network, weights, rate);
  if (!packable) return packable.errors();
  const bool unchanged = is_symmetric(*packable, network);
  Rate packable_rate = unchanged ? rate : optimal_rate(*packable, weights);
  return Phase{std::move(*packable), weights, rate, std::move(packable_rate), !unchanged};
}

/// The rate at each k of a search, and the best.
struct Search {
  Scaling best;
  std::vector<RateAtK> rows;
};

Expected<Search> search(const Phase& phase, const TreesPerRoot& asked) {
  using Mode = TreesPerRoot::Mode;
  std::vector<std::int64_t> candidates;
  switch (asked.mode) {
    case Mode::optimal:
      return Search{scale_to_optimum(phase.network, phase.packable), {}};
    case Mode::fixed:
      candidates = {asked.value};
      break;
    case Mode::power_of_two:
      for (std::int64_t k = 1; k <= asked.value; k *= 2) candidates.push_back(k);
      break;
    case Mode::best_up_to:
      candidates.resize(static_cast<std::size_t>(asked.value));
      std::iota(candidates.begin(), candidates.end(), std::int64_t{1});
      break;
  }
  Search result;
  Ratio best;
  for (const std::int64_t k : candidates) {
    auto scaling = scale_to_k(phase.network, phase.weights, phase.packable, k);
    if (!scaling) return scaling.errors();
    auto algbw = algbw_of(phase.network, phase.weights, scaling->scale, k);
    if (!algbw) return algbw.errors();
    if (result.rows.empty() || best < *algbw) {
      best = *algbw;
      result.best = std::move(*scaling);
    }
    result.rows.push_back({k, *algbw});
  }
  if (asked.mode == Mode::fixed) result.rows.clear();
  return result;
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
  result.k = std::lcm(k_of(result.broadcast_rate), k_of(result.reduce_rate));
  auto algbw = bound_of(network, result.reduce_rate, result.broadcast_rate, weights);
  if (!algbw) return algbw.errors();
  result.algbw = *algbw;
  return result;
}

Expected<Synthesis> synthesize(const Network& network, const SynthesizeOptions& options) {
  FORESTCOLL_CHECK(options.root.has_value() == is_rooted(options.collective),
                   "a root exactly where one is needed");
  const Network backward = reversed(network);
  const bool reduce = has_reduce(options.collective);
  const bool broadcast = has_broadcast(options.collective);
  // On a fabric that is the same in both directions, in-trees are out-trees walked backwards.
  const bool shared = reduce && broadcast && is_symmetric(network, backward);

  Synthesis result;
  result.forest.collective = options.collective;
  result.forest.root = options.root;
  std::optional<Ratio> reached_reduce, reached_broadcast;
  std::vector<Ratio> phase_optima;  // of the balanced networks
  bool trimmed = false;
  std::int64_t k_reduce = 1, k_broadcast = 1;

  const auto solve = [&](const Network& side, std::optional<Rate>& rate,
                         std::optional<Forest>& forest, std::optional<Ratio>& reached,
                         std::int64_t& k) -> Diagnostics {
    // 1. What is the best possible? The cut is the proof.
    const auto start = std::chrono::steady_clock::now();
    auto phase = prepare(side, options.root);
    if (!phase) return phase.errors();
    rate = phase->rate;
    auto best = algbw_of(phase->network, phase->weights, phase->packable.inverse, 1);
    if (!best) return best.errors();
    phase_optima.push_back(*best);
    trimmed |= phase->trimmed;
    // 2. Make capacities integral; that fixes the number of trees per root.
    auto found = search(*phase, options.trees_per_root);
    if (!found) return found.errors();
    result.seconds.rate += seconds_since(start);
    // 3. Pack the trees straight into the fabric.
    const auto packing_start = std::chrono::steady_clock::now();
    auto packing = pack(phase->network, phase->weights, found->best, options.progress);
    if (!packing) return packing.errors();
    result.seconds.pack += seconds_since(packing_start);
    auto algbw =
        algbw_of(phase->network, phase->weights, packing->scaling.scale, packing->scaling.k);
    if (!algbw) return algbw.errors();
    reached = *algbw;
    result.least_height =
        std::max(result.least_height, height_lower_bound(phase->network, phase->weights));
    k = packing->scaling.k;
    forest = std::move(packing->forest);
    if (result.tradeoff.empty()) result.tradeoff = std::move(found->rows);
    result.statistics.cuts += packing->statistics.cuts;
    result.statistics.checks += packing->statistics.checks;
    result.statistics.repairs += packing->statistics.repairs;
    result.statistics.splits += packing->statistics.splits;
    return {};
  };

  if (broadcast) {
    auto errors = solve(network, result.broadcast_rate, result.forest.broadcast, reached_broadcast,
                        k_broadcast);
    if (!errors.empty()) return errors;
  }
  if (shared) {
    result.reduce_rate = result.broadcast_rate;
    result.forest.reduce = result.forest.broadcast->reversed();
    reached_reduce = reached_broadcast;
    k_reduce = k_broadcast;
  } else if (reduce) {
    auto errors =
        solve(backward, result.reduce_rate, result.forest.reduce, reached_reduce, k_reduce);
    if (!errors.empty()) return errors;
    result.forest.reduce = result.forest.reduce->reversed();
  }

  // Both phases cut the data into the same chunks.
  const std::int64_t k =
      reduce && broadcast ? std::lcm(k_reduce, k_broadcast) : (reduce ? k_reduce : k_broadcast);
  if (reduce && k != k_reduce) result.forest.reduce = result.forest.reduce->scaled(k / k_reduce);
  if (broadcast && k != k_broadcast) {
    result.forest.broadcast = result.forest.broadcast->scaled(k / k_broadcast);
  }
  result.forest.k = k;
  auto algbw = reduce && broadcast ? in_sequence(*reached_reduce, *reached_broadcast)
                                   : Expected<Ratio>(reduce ? *reached_reduce : *reached_broadcast);
  if (!algbw) return algbw.errors();
  auto optimum = bound_of(network, result.reduce_rate, result.broadcast_rate,
                          weights_of(network, options.root));
  if (!optimum) return optimum.errors();
  if (trimmed) {
    auto left = phase_optima.size() == 2 ? in_sequence(phase_optima[0], phase_optima[1])
                                         : Expected<Ratio>(phase_optima[0]);
    if (!left) return left.errors();
    result.trimmed_optimum = *left;
  }
  result.forest.algbw = *algbw;
  result.forest.optimum = *optimum;
  return result;
}

}  // namespace forestcoll
