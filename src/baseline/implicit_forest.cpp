// The rate of an implicit forest follows from its hops alone, so that it is known for 16,384 ranks
// too, where the trees themselves would take gigabytes.
#include "baseline/implicit_forest.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "base/check.hpp"
#include "forest/depths.hpp"
#include "forest/route_builder.hpp"
#include "forest/route_table.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::baseline {
namespace {

constexpr std::size_t kMostEdges = std::size_t{1} << 25;

/// One direction of the collective.
struct Phase {
  ImplicitForest implicit;
  std::optional<Forest> forest;  ///< out-trees
};

/// What trees put on the arcs, in multiplicities; `chunks` of those are everybody's data.
struct Load {
  IdVector<ArcId, std::int64_t> on_arc;
  std::int64_t chunks = 0;
};

std::int64_t chunks_of(const std::vector<Forest::Tree>& trees) {
  std::int64_t sum = 0;
  for (const Forest::Tree& tree : trees) sum += tree.multiplicity;
  return sum;
}

// GB/s: chunks × bandwidth / load of the busiest arc.
std::optional<Ratio> algbw_of(const Load& load, const Network& network) {
  ArcId worst(0);
  for (std::size_t a = 1; a < load.on_arc.size(); ++a) {
    const ArcId arc(a);
    if (Int128{load.on_arc[arc]} * network.capacity[worst] >
        Int128{load.on_arc[worst]} * network.capacity[arc]) {
      worst = arc;
    }
  }
  const auto bandwidth = checked_mul(Ratio(network.capacity[worst]), network.unit);
  return bandwidth ? checked_mul(*bandwidth, Ratio(load.chunks, load.on_arc[worst])) : std::nullopt;
}

Load load_of(const ImplicitForest& implicit, const Network& network) {
  Load load{IdVector<ArcId, std::int64_t>(network.graph.arc_count(), 0), chunks_of(implicit.trees)};
  for (const Hop& hop : implicit.hops) {
    for (const ArcId a : arcs_of(network, hop.path)) load.on_arc[a] += hop.load;
  }
  return load;
}

// Of trees on `backward`, walked backwards: on the arcs of `network`.
Load turned_round(const Load& load, const Network& backward, const Network& network) {
  Load turned{IdVector<ArcId, std::int64_t>(load.on_arc.size(), 0), load.chunks};
  for (std::size_t a = 0; a < load.on_arc.size(); ++a) {
    const NodeId tail = backward.graph.tail(ArcId(a)), head = backward.graph.head(ArcId(a));
    turned.on_arc[network.graph.find(head, tail)] = load.on_arc[ArcId(a)];
  }
  return turned;
}

// Both at once, each of them with everybody's data. Nothing where that does not fit.
std::optional<Load> together(const Load& a, const Load& b) {
  const std::int64_t common = std::gcd(a.chunks, b.chunks);
  const Int128 times_a = b.chunks / common, times_b = a.chunks / common;
  const Int128 chunks = times_a * a.chunks;
  if (chunks > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
  Load sum{a.on_arc, static_cast<std::int64_t>(chunks)};
  for (std::size_t i = 0; i < a.on_arc.size(); ++i) {
    const Int128 load = times_a * a.on_arc[ArcId(i)] + times_b * b.on_arc[ArcId(i)];
    if (load > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
    sum.on_arc[ArcId(i)] = static_cast<std::int64_t>(load);
  }
  return sum;
}

/// Fills rows of routes from an implicit forest.
class ForestFiller {
 public:
  ForestFiller(const ImplicitForest& implicit, const Network& network)
      : implicit_(implicit), network_(network), builder_(network.ranks) {
    for (const Hop& hop : implicit.hops) {
      if (hop.path.empty()) {
        from_.emplace_back();
        routes_.emplace_back();
        continue;
      }
      from_.push_back(network.rank_of[hop.path.front()]);
      routes_.push_back(builder_.add(from_.back(), hop.path));
    }
  }

  Forest fill() {
    const std::size_t n = network_.ranks.size();
    std::vector<Forest::Tree> trees = implicit_.trees;
    std::vector<Route> rows(trees.size() * n);
    for (std::size_t t = 0; t < trees.size(); ++t) {
      parent_.assign(n, Rank());
      for (std::size_t v = 0; v < n; ++v) {
        if (Rank(v) == trees[t].root) continue;
        const std::size_t hop = implicit_.hop_into(t, Rank(v));
        rows[t * n + v] = routes_[hop];
        parent_[Rank(v)] = from_[hop];
      }
      trees[t].height = height(trees[t].root);
    }
    return {builder_.take(), std::move(trees), std::move(rows)};
  }

 private:
  std::int32_t height(Rank root) {
    depth_.resize(parent_.size());
    const auto height = fill_depths(std::span(depth_), root.index(), [&](std::size_t v) {
      return parent_[Rank(v)].valid() ? parent_[Rank(v)].index() : v;
    });
    FORESTCOLL_CHECK(height.has_value(), "a tree hangs on its root");
    return *height;
  }

  const ImplicitForest& implicit_;
  const Network& network_;
  RouteBuilder builder_;
  std::vector<Rank> from_;  ///< by hop
  std::vector<Route> routes_;
  IdVector<Rank, Rank> parent_;
  std::vector<std::int32_t> depth_;
};

Expected<Phase> make_phase(const Network& network, const ImplicitForestMaker& make,
                           bool with_trees) {
  auto implicit = make(network);
  if (!implicit) return implicit.errors();
  Phase phase{*std::move(implicit), std::nullopt};
  const auto relaying = std::find_if(phase.implicit.hops.begin(), phase.implicit.hops.end(),
                                     [&](const Hop& hop) { return relays(network, hop.path); });
  if (relaying != phase.implicit.hops.end()) {
    phase.implicit.note +=
        "; the rate alone: messages are relayed by GPUs that they are not meant for, and the trees "
        "of a schedule pass through switches only";
  } else if (phase.implicit.trees.size() > kMostEdges / network.ranks.size()) {
    phase.implicit.note += "; the rate alone: more than 33 million tree edges";
  } else {
    phase.forest = ForestFiller(phase.implicit, network).fill();
  }
  if (with_trees && !phase.forest) return no_trees();
  return phase;
}

/// What the roots own, and how many trees there are per unit of it.
struct Shares {
  std::int64_t k = 1;
  IdVector<Rank, std::int64_t> weight;  ///< empty: all the same
};

Shares shares_of(const Forest& forest) {
  IdVector<Rank, std::int64_t> weight(forest.rank_count(), 0);
  for (std::size_t t = 0; t < forest.tree_count(); ++t) {
    const Forest::Tree& tree = forest.tree(TreeId(t));
    weight[tree.root] += tree.multiplicity;
  }
  std::int64_t k = 0;
  for (const auto w : weight) k = std::gcd(k, w);
  const bool equal = std::all_of(weight.begin(), weight.end(), [&](auto w) { return w == k; });
  if (equal) return {k, {}};
  for (auto& w : weight) w /= k;
  return {k, std::move(weight)};
}

CollectiveForest combine(const Request& request, const std::optional<Phase>& broadcast,
                         const std::optional<Phase>& reduce, const Ratio& algbw) {
  CollectiveForest forest;
  forest.collective = request.collective;
  forest.root = request.root;
  forest.algbw = algbw;
  forest.optimum = 0;
  std::int64_t k = 1;
  for (const auto* phase : {&broadcast, &reduce}) {
    if (!*phase) continue;
    Shares shares = shares_of(*(*phase)->forest);
    k = std::lcm(k, shares.k);
    if (!request.root) forest.weight = std::move(shares.weight);
  }
  const auto at_k = [&](const Phase& phase) {
    const std::int64_t own = shares_of(*phase.forest).k;
    return own == k ? *phase.forest : phase.forest->scaled(k / own);
  };
  forest.k = k;
  if (broadcast) forest.broadcast = at_k(*broadcast);
  if (reduce) forest.reduce = at_k(*reduce).reversed();
  return forest;
}

// Nothing of a load: there is no such phase.
std::optional<Ratio> algbw_of(const std::optional<Load>& reduce,
                              const std::optional<Load>& broadcast, const Network& network) {
  if (!reduce || !broadcast) return algbw_of(reduce ? *reduce : *broadcast, network);
  const auto both = together(*reduce, *broadcast);
  return both ? algbw_of(*both, network) : std::nullopt;
}

}  // namespace

std::vector<Rank> Request::roots() const {
  if (root) return {*root};
  std::vector<Rank> all;
  for (std::size_t r = 0; r < network.ranks.size(); ++r) all.emplace_back(r);
  return all;
}

Expected<BaselineResult> carry_out(const Request& request, const ImplicitForestMaker& make,
                                   Reduce how) {
  std::optional<Phase> broadcast, reduce;
  std::optional<Load> broadcast_load, reduce_load;
  if (has_broadcast(request.collective)) {
    auto phase = make_phase(request.network, make, request.options.with_trees);
    if (!phase) return phase.errors();
    broadcast = *std::move(phase);
    broadcast_load = load_of(broadcast->implicit, request.network);
  }
  if (has_reduce(request.collective)) {
    const Network backward = reversed(request.network);
    if (broadcast && how == Reduce::same_trees && is_symmetric(request.network)) {
      reduce = broadcast;
    } else {
      auto phase = make_phase(backward, make, request.options.with_trees);
      if (!phase) return phase.errors();
      reduce = *std::move(phase);
    }
    reduce_load = turned_round(load_of(reduce->implicit, backward), backward, request.network);
  }
  const auto algbw = algbw_of(reduce_load, broadcast_load, request.network);
  if (!algbw) return inexact("the rate of this algorithm does not fit 64-bit fractions");
  // What keeps a phase from being a forest is to be told.
  const bool tell_reduce = !broadcast || (reduce && broadcast->forest && !reduce->forest);
  const ImplicitForest& first = tell_reduce ? reduce->implicit : broadcast->implicit;
  BaselineResult result{.forest = {}, .algbw = *algbw, .rings = first.rings, .note = first.note};
  const bool whole = (!broadcast || broadcast->forest) && (!reduce || reduce->forest);
  if (whole) result.forest = combine(request, broadcast, reduce, *algbw);
  if (result.note.starts_with("; ")) result.note.erase(0, 2);
  return result;
}

Diagnostic too_large(std::string message, std::string remedy) {
  return make_error(Code::B04, std::move(message), std::move(remedy));
}

Diagnostic no_trees() {
  return make_error(Code::B10,
                    "no trees describe the algorithm here: messages are relayed by GPUs that they "
                    "are not meant for, or its tree edges are more than 33 million",
                    "ask for its rate alone, or take another algorithm");
}

Expected<void> refuse_many_ranks(const Request& request, std::string_view algorithm) {
  constexpr std::size_t kMostRanks = 512;
  const std::size_t n = request.network.ranks.size();
  if (n <= kMostRanks) return {};
  return too_large(fmt::format("{} for {} ranks: at most {}", algorithm, n, kMostRanks));
}

std::string name_of(const Topology& topology, Rank rank) {
  return "rank " + std::to_string(rank.value) + " (" +
         topology.nodes[topology.ranks[rank.index()]].id + ")";
}

}  // namespace forestcoll::baseline
