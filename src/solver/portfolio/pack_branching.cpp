#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "forestcoll/allreduce.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/congestion.hpp"
#include "forestcoll/pack.hpp"
#include "solver/allreduce/split.hpp"
#include "solver/allreduce/twin_fabric.hpp"
#include "solver/common/rounded_shares.hpp"
#include "solver/pack/search/max_height.hpp"
#include "solver/portfolio/without_leaves.hpp"

namespace forestcoll {
namespace {

using solver::RootShares;
using solver::SplitUnits;
using solver::TwinFabric;

Diagnostic does_not_fit() {
  return make_error(Code::E14,
                    "the shares of the trees that branch at switches have no common denominator "
                    "that fits 64 bits",
                    "ask for a number of trees with `k`, or round the bandwidths to a coarser grid "
                    "with `quantize`");
}

// As many trees as chunks: at the rate of the split where that is what the chunks are, else at the
// highest that their rounding leaves.
Expected<Packing> pack_twins(const Network& network, const std::optional<Forest>& previous,
                             const BranchingOptions& options) {
  Scaling scaling{1, Ratio(1), network.capacity};
  if (options.chunks) {
    const Rate rate = optimal_rate(network, network.weight, {}, options.packing.stop);
    auto scaled = scale_to_k(network, network.weight, rate, 1, options.packing.stop);
    if (!scaled) return scaled.errors();
    scaling = *std::move(scaled);
  }
  if (previous) {
    auto repacked = repack(network, network.weight, scaling, *previous, options.packing);
    if (!repacked) return repacked.errors();
    return std::move(repacked->packing);
  }
  if (!options.max_height) return pack(network, network.weight, scaling, options.packing);
  return pack_within_height(network, network.weight, scaling, *options.max_height, options.packing);
}

// The previous trees of a phase that branch at the same switches, as out-trees.
std::optional<Forest> previous_trees(const BranchingForest* previous, bool inward,
                                     const TwinFabric& twins, const std::vector<NodeId>& switches) {
  if (previous == nullptr) return std::nullopt;
  for (const BranchingTrees& trees : inward ? previous->reduce : previous->broadcast) {
    if (trees.switches != switches) continue;
    return twins.with_twins(inward ? trees.forest.reversed() : trees.forest);
  }
  return std::nullopt;
}

// The trees of all classes, as out-trees. Those that symmetries make of others, and in-trees that
// are out-trees turned round, are not packed again.
class ClassPacker {
 public:
  ClassPacker(const Network& fabric, const SplitUnits& units, const BranchingOptions& options)
      : fabric_(fabric), units_(units), options_(options) {}

  Expected<Forest> pack(const AllreduceTrees& trees, bool inward, const RootShares& shares) {
    auto twins = std::make_unique<TwinFabric>(fabric_, trees, inward);
    if (!twins->make(units_, shares)) return does_not_fit();
    const auto previous = previous_trees(options_.previous, inward, *twins, trees.switches);
    if (!previous) {
      if (auto known = from_others(*twins)) return *std::move(known);
    }
    auto packing = pack_twins(twins->network(), previous, options_);
    if (!packing) return packing.errors();
    FORESTCOLL_CHECK(packing->scaling.k == 1, "a tree is asked for per chunk");
    packed_.push_back({std::move(twins), std::move(packing->forest)});
    return packed_.back().twins->without_twins(packed_.back().forest);
  }

 private:
  struct Packed {
    std::unique_ptr<TwinFabric> twins;
    Forest forest;  // on them
  };

  [[nodiscard]] std::optional<Forest> from_others(const TwinFabric& twins) const {
    for (const Packed& packed : packed_) {
      const auto image = twins.image(*packed.twins);
      if (!image) continue;
      return twins.without_twins(solver::moved(packed.forest, *image, twins.network()));
    }
    return std::nullopt;
  }

  const Network& fabric_;
  const SplitUnits& units_;
  const BranchingOptions& options_;
  std::vector<Packed> packed_;
};

/// What every class of one phase carries from every root, in chunks.
using PhaseShares = std::vector<RootShares>;

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
  for (const RootShares& of_class : shares) {
    for (std::size_t v = 0; v < totals.size(); ++v) totals[Rank(v)] += of_class[NodeId(v)];
  }
  return totals;
}

// So many chunks from every root, divided among the classes in proportion to what they carry. A
// broadcast has no phase that reduces.
PhaseShares rounded(const PhaseShares& shares, const Weights& chunks) {
  if (shares.empty()) return {};
  PhaseShares result(shares.size(), RootShares(chunks.size(), 0));
  for (std::size_t v = 0; v < chunks.size(); ++v) {
    if (chunks[Rank(v)] == 0) continue;
    Weights by_class;
    for (const RootShares& of_class : shares) by_class.push_back(of_class[NodeId(v)]);
    const Weights divided = solver::rounded_shares(by_class, chunks[Rank(v)]);
    for (std::size_t c = 0; c < shares.size(); ++c) result[c][NodeId(v)] = divided[Rank(c)];
  }
  return result;
}

bool carries_nothing(const RootShares& shares) {
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
  ClassPacker packer(network, units, options);
  for (const bool inward : {true, false}) {
    auto& packed = inward ? result.reduce : result.broadcast;
    const auto& phase = inward ? split.reduce : split.broadcast;
    const auto& shares = inward ? reduce : broadcast;
    for (std::size_t c = 0; c < phase.size(); ++c) {
      if (carries_nothing(shares[c])) continue;
      const auto trees = packer.pack(phase[c], inward, shares[c]);
      if (!trees) return trees.errors();
      packed.push_back({phase[c].switches, inward ? trees->reversed() : *trees});
    }
    packed = solver::without_leaves(std::move(packed), network.ranks.size());
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
