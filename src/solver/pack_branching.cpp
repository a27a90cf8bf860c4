#include "forestcoll/pack_branching.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "forest/congestion.hpp"
#include "forest/route_builder.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/repack.hpp"
#include "solver/allreduce/at_once.hpp"
#include "solver/allreduce/split_units.hpp"
#include "solver/pack/max_height.hpp"

namespace forestcoll {
namespace {

using solver::SplitUnits;

// Of sums of capacities times the data, as `Network` promises.
constexpr Int128 kMost = Int128{1} << 62;

Diagnostic does_not_fit() {
  return make_error("E14",
                    "the shares of the trees that branch at switches have no common denominator "
                    "that fits 64 bits",
                    "ask for a number of trees with -k, or round the bandwidths to a coarser grid "
                    "with --quantize");
}

/// Chunks that the trees of one class and phase carry, by their root.
using Shares = IdVector<NodeId, std::int64_t>;

/// What the trees of one class and phase are packed into: the fabric with a twin beside each of
/// their switches. In-trees are out-trees on it, as it is turned round.
class TwinFabric {
 public:
  TwinFabric(const Network& fabric, const AllreduceTrees& trees, bool inward)
      : fabric_(fabric), trees_(trees), inward_(inward) {
    const std::size_t nodes = fabric.graph.node_count();
    for (std::size_t i = 0; i < trees.switches.size(); ++i) {
      twin_of_.emplace(trees.switches[i], NodeId(nodes + i));
    }
  }

  // False where that does not fit exact arithmetic.
  bool make(const SplitUnits& units, const Shares& shares) {
    std::map<std::pair<NodeId, NodeId>, Capacity> taken;
    Int128 all = 0;
    for (const AllreduceArc& arc : trees_.taken) {
      const std::int64_t count = units.count(arc.amount);
      if (count == 0) continue;
      const Arc& along = fabric_.graph.arcs()[arc.arc.index()];
      NodeId tail = end(along.tail, arc.branches_at_tail);
      NodeId head = end(along.head, arc.branches_at_head);
      if (inward_) std::swap(tail, head);
      taken[{tail, head}] += count;
      all += count;
    }
    add_ranks();
    Int128 data = static_cast<Int128>(network_.ranks.size());
    for (const NodeId v : network_.ranks) {
      network_.weight.push_back(shares[original(v)]);
      data += shares[original(v)];
    }
    if (all >= kMost / data) return false;
    std::vector<Arc> arcs;
    for (const auto& [ends, capacity] : taken) {
      arcs.push_back({ends.first, ends.second});
      network_.capacity.push_back(capacity);
    }
    network_.graph = Digraph(fabric_.graph.node_count() + trees_.switches.size(), arcs);
    return true;
  }

  [[nodiscard]] const Network& network() const { return network_; }
  [[nodiscard]] NodeId original(NodeId v) const {
    const std::size_t nodes = fabric_.graph.node_count();
    return v.index() < nodes ? v : trees_.switches[v.index() - nodes];
  }
  /// Of a node at which an edge of the trees ends.
  [[nodiscard]] NodeId vertex(NodeId v) const {
    const auto twin = twin_of_.find(v);
    return twin == twin_of_.end() ? v : twin->second;
  }

 private:
  [[nodiscard]] NodeId end(NodeId v, bool branches) const { return branches ? twin_of_.at(v) : v; }

  void add_ranks() {
    network_.rank_of.assign(fabric_.graph.node_count() + trees_.switches.size(), Rank());
    const auto add = [&](NodeId v) {
      network_.rank_of[v] = Rank(network_.ranks.size());
      network_.ranks.push_back(v);
    };
    for (const NodeId v : fabric_.ranks) add(v);
    for (const NodeId w : trees_.switches) add(twin_of_.at(w));
  }

  const Network& fabric_;
  const AllreduceTrees& trees_;
  const bool inward_;
  std::map<NodeId, NodeId> twin_of_;
  Network network_;
};

// The same trees on other nodes. `change` is given the nodes of an edge's path.
template <class Change>
Forest with_paths(const Forest& forest, const std::vector<NodeId>& ranks, const Change& change) {
  RouteBuilder builder(ranks);
  std::vector<Forest::Tree> trees;
  std::vector<Route> routes;
  for (std::size_t t = 0; t < forest.tree_count(); ++t) {
    trees.push_back(forest.tree(TreeId(t)));
    for (std::size_t v = 0; v < ranks.size(); ++v) {
      if (Rank(v) == trees.back().root) {
        routes.emplace_back();
        continue;
      }
      auto path = forest.path(TreeId(t), Rank(v));
      change(path);
      routes.push_back(builder.add(forest.parent(TreeId(t), Rank(v)), path));
    }
  }
  return {builder.take(), std::move(trees), std::move(routes)};
}

// On the fabric's own nodes: a twin is its switch.
Forest without_twins(const Forest& packed, const TwinFabric& twins) {
  std::vector<NodeId> ranks;
  for (const NodeId v : packed.ranks()) ranks.push_back(twins.original(v));
  return with_paths(packed, ranks, [&](std::vector<NodeId>& path) {
    for (NodeId& node : path) node = twins.original(node);
  });
}

// And back again: edges end at twins, and go through switches.
Forest with_twins(const Forest& forest, const TwinFabric& twins) {
  std::vector<NodeId> ranks;
  for (const NodeId v : forest.ranks()) ranks.push_back(twins.vertex(v));
  return with_paths(forest, ranks, [&](std::vector<NodeId>& path) {
    path.front() = twins.vertex(path.front());
    path.back() = twins.vertex(path.back());
  });
}

// The former trees of a phase that branch at the same switches, as out-trees.
std::optional<Forest> former_trees(const BranchingForest* previous, bool inward,
                                   const TwinFabric& twins, const std::vector<NodeId>& switches) {
  if (previous == nullptr) return std::nullopt;
  for (const BranchingTrees& trees : inward ? previous->reduce : previous->broadcast) {
    if (trees.switches != switches) continue;
    return with_twins(inward ? trees.forest.reversed() : trees.forest, twins);
  }
  return std::nullopt;
}

// As many trees as chunks: at the rate of the split where that is what the chunks are, else at the
// highest that their rounding leaves.
Expected<Packing> pack_twins(const Network& network, const std::optional<Forest>& former,
                             const BranchingOptions& options) {
  Scaling scaling{1, Ratio(1), network.capacity};
  if (options.chunks) {
    const Rate rate = optimal_rate(network, network.weight, {}, options.packing.stop);
    auto scaled = scale_to_k(network, network.weight, rate, 1, options.packing.stop);
    if (!scaled) return scaled.errors();
    scaling = *std::move(scaled);
  }
  if (former) {
    auto repacked = repack(network, network.weight, scaling, *former, options.packing);
    if (!repacked) return repacked.errors();
    return std::move(repacked->packing);
  }
  if (!options.max_height) return pack(network, network.weight, scaling, options.packing);
  return pack_within_height(network, network.weight, scaling, *options.max_height, options.packing);
}

Expected<BranchingTrees> pack_class(const Network& fabric, const AllreduceTrees& trees, bool inward,
                                    const SplitUnits& units, const Shares& shares,
                                    const BranchingOptions& options) {
  TwinFabric twins(fabric, trees, inward);
  if (!twins.make(units, shares)) return does_not_fit();
  const auto former = former_trees(options.previous, inward, twins, trees.switches);
  auto packed = pack_twins(twins.network(), former, options);
  if (!packed) return packed.errors();
  FORESTCOLL_CHECK(packed->scaling.k == 1, "a tree is asked for per chunk");
  const Forest forest = without_twins(packed->forest, twins);
  return BranchingTrees{trees.switches, inward ? forest.reversed() : forest};
}

/// What every class of one phase carries from every root, in chunks.
using PhaseShares = std::vector<Shares>;

// As the split has it, in its units.
PhaseShares shares_in_units(const std::vector<AllreduceTrees>& phase, const SplitUnits& units) {
  PhaseShares shares;
  for (const AllreduceTrees& trees : phase) {
    shares.emplace_back();
    for (const Ratio& amount : trees.root) shares.back().push_back(units.count(amount));
  }
  return shares;
}

// Of all classes together, by root.
Weights totals_of(const PhaseShares& shares) {
  Weights totals(shares.front().size(), 0);
  for (const Shares& of_class : shares) {
    for (std::size_t v = 0; v < totals.size(); ++v) totals[Rank(v)] += of_class[NodeId(v)];
  }
  return totals;
}

// So many chunks from every root, divided among the classes in proportion to what they carry.
PhaseShares rounded(const PhaseShares& shares, const Weights& chunks) {
  PhaseShares result(shares.size(), Shares(chunks.size(), 0));
  for (std::size_t v = 0; v < chunks.size(); ++v) {
    if (chunks[Rank(v)] == 0) continue;
    Weights by_class;
    for (const Shares& of_class : shares) by_class.push_back(of_class[NodeId(v)]);
    const Weights divided = solver::rounded_shares(by_class, chunks[Rank(v)]);
    for (std::size_t c = 0; c < shares.size(); ++c) result[c][NodeId(v)] = divided[Rank(c)];
  }
  return result;
}

bool carries_nothing(const Shares& shares) {
  return std::ranges::all_of(shares, [](std::int64_t chunks) { return chunks == 0; });
}

}  // namespace

Expected<BranchingForest> pack_branching(const Network& network, const SwitchRoles& roles,
                                         const AllreduceOptimum& optimum,
                                         const BranchingOptions& options) {
  FORESTCOLL_CHECK(optimum.split.has_value(), "a split says what is to be packed");
  const AllreduceSplit& split = *optimum.split;
  const SplitUnits units(split);
  if (!options.chunks && !units.exact()) return does_not_fit();
  PhaseShares broadcast = shares_in_units(split.broadcast, units);
  PhaseShares reduce = shares_in_units(split.reduce, units);
  if (options.chunks) {
    // The same chunks are reduced at a root and broadcast from it.
    const Weights chunks = solver::rounded_shares(totals_of(broadcast), *options.chunks);
    broadcast = rounded(broadcast, chunks);
    reduce = rounded(reduce, chunks);
  }
  BranchingForest result{.optimum = optimum.upper, .ranks = network.ranks};
  for (const bool inward : {true, false}) {
    auto& packed = inward ? result.reduce : result.broadcast;
    const auto& phase = inward ? split.reduce : split.broadcast;
    const auto& shares = inward ? reduce : broadcast;
    for (std::size_t c = 0; c < phase.size(); ++c) {
      if (carries_nothing(shares[c])) continue;
      auto each = pack_class(network, phase[c], inward, units, shares[c], options);
      if (!each) return each.errors();
      packed.push_back(*std::move(each));
    }
  }
  result.chunks = 0;
  for (const BranchingTrees& trees : result.broadcast) {
    for (std::size_t t = 0; t < trees.forest.tree_count(); ++t) {
      result.chunks += trees.forest.tree(TreeId(t)).multiplicity;
    }
  }
  const auto algbw = congestion_algbw(result, network, roles);
  if (!algbw) return does_not_fit();
  result.algbw = *algbw;
  return result;
}

}  // namespace forestcoll
