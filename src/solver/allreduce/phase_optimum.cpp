#include <algorithm>
#include <cstdint>
#include <map>
#include <numeric>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/rate.hpp"
#include "solver/allreduce/allreduce_program.hpp"
#include "solver/allreduce/branching.hpp"
#include "solver/allreduce/class_search.hpp"
#include "solver/allreduce/split.hpp"
#include "solver/linear/cut_generation.hpp"
#include "solver/linear/cut_proof.hpp"

namespace forestcoll {
namespace {

using solver::AllreduceFabric;
using solver::AllreduceProgram;
using solver::CutGeneration;
using solver::TreePhases;

// What is combined on the way to a root is, turned round, copied on the way from it.
SwitchRoles turned_round(SwitchRoles roles) {
  for (SwitchRole& role : roles) std::swap(role.copies, role.combines);
  return roles;
}

// A reduce as the broadcast that it is, walked backwards.
BranchingForest turned_round(BranchingForest forest) {
  for (auto* phase : {&forest.reduce, &forest.broadcast}) {
    for (BranchingTrees& trees : *phase) trees.forest = trees.forest.reversed();
  }
  std::swap(forest.reduce, forest.broadcast);
  return forest;
}

bool is_better(const BranchingForest& a, const BranchingForest& b) {
  if (a.algbw != b.algbw) return a.algbw > b.algbw;
  return messages_in_turn(a) < messages_in_turn(b);
}

Diagnostic phase_does_not_fit() {
  return make_error(Code::E14, "the exact optimum of this phase does not fit 64 bits",
                    "round the bandwidths to a coarser grid with `quantize`");
}

/// Out-trees from ranks, by their weights.
class PhaseTrees {
 public:
  PhaseTrees(const Network& network, const SwitchRoles& roles, Weights weights,
             const AllreduceLimits& limits)
      : weights_(std::move(weights)), fabric_(network, roles, weights_), limits_(limits) {
    fabric_.broadcast_alone = true;
    fabric_.reversible = false;
  }

  // By all trees that branch at the same switches, where these reach what a cut allows; else by
  // trees of several kinds, up to what could be if data were mixed in switches that copy.
  [[nodiscard]] Expected<PhaseOptimum> solve() const {
    const Rate rate = optimal_rate(fabric_.network, weights_, {}, limits_.stop);
    const auto all = std::accumulate(weights_.begin(), weights_.end(), std::int64_t{0});
    const auto cut = checked_div(Ratio(all), rate.inverse);
    const auto allowed = cut ? checked_mul(*cut, fabric_.network.unit) : std::nullopt;
    if (!allowed) return phase_does_not_fit();
    PhaseOptimum optimum{.upper = *allowed, .splits = splits_of_one_class(*cut)};
    return optimum.splits.empty() ? solve_by_classes(*cut) : optimum;
  }

 private:
  [[nodiscard]] std::vector<AllreduceSplit> splits_of_one_class(const Ratio& worth) const {
    std::vector<AllreduceSplit> splits;
    for (const std::vector<NodeId>& spanned : candidates()) {
      auto trees = solver::make_tree_class(fabric_.network, fabric_.generators, spanned,
                                           TreePhases::broadcast);
      if (!trees) continue;
      const auto program = AllreduceProgram::of_broadcast(fabric_, {*std::move(trees)}, weights_);
      if (auto split = sparing_split(program, worth)) splits.push_back(*std::move(split));
    }
    return splits;
  }

  // The switches at which a tree of the fewest links branches, and all.
  [[nodiscard]] std::set<std::vector<NodeId>> candidates() const {
    const IdVector<ArcId, double> links(fabric_.network.graph.arc_count(), 1);
    std::set<std::vector<NodeId>> sets = {solver::cheap_branching(fabric_, false, links),
                                          solver::able_switches(fabric_.roles, false)};
    sets.erase(std::vector<NodeId>());
    return sets;
  }

  // Of a program that reaches so much: nothing where it does not.
  [[nodiscard]] std::optional<AllreduceSplit> sparing_split(const AllreduceProgram& program,
                                                            const Ratio& worth) const {
    const auto algbw = checked_mul(worth, fabric_.network.unit);
    const solver::CutProgram sparing = with_few_links(program.program());
    CutGeneration generation(sparing);
    const auto outcome = generation.run({limits_.rounds, limits_.stop, limits_.pivots});
    if (!algbw || outcome != CutGeneration::Outcome::complete) return std::nullopt;
    const auto exact = solver::prove_reached(program.program(), generation.values(), worth);
    if (!exact) return std::nullopt;
    auto split = solver::split_of(fabric_.network, program, *exact);
    split.algbw = *algbw;
    return split;
  }

  // The same optimum, and among its solutions one that takes little of the links altogether: long
  // ways make high trees.
  static solver::CutProgram with_few_links(solver::CutProgram program) {
    std::map<std::size_t, std::int64_t> links;  // by variable
    std::int64_t arcs = 0;
    for (const solver::TreeCommodity& commodity : program.commodities) {
      arcs += static_cast<std::int64_t>(commodity.graph.arc_count());
      for (const std::size_t variable : commodity.variable) ++links[variable];
    }
    // All links together are less than so many times what is rooted.
    for (solver::Term& rooted : program.objective) rooted.coefficient *= 2 * arcs;
    for (const auto& [variable, count] : links) program.objective.push_back({variable, -count});
    return program;
  }

  [[nodiscard]] Expected<PhaseOptimum> solve_by_classes(const Ratio& cut) const {
    const Network& network = fabric_.network;
    const auto relaxed = AllreduceProgram::of_shares(fabric_, weights_);
    CutGeneration generation(relaxed.program());
    const auto outcome = generation.run({limits_.rounds, limits_.stop, limits_.pivots});
    Ratio upper = cut;
    if (!generation.values().empty()) {
      const auto proved =
          solver::prove_upper(relaxed.program(), generation.cuts(), generation.prices());
      if (proved) upper = std::min(upper, proved->bound);
    }
    const auto algbw = checked_mul(upper, network.unit);
    if (!algbw) return phase_does_not_fit();
    PhaseOptimum optimum{.upper = *algbw};
    if (outcome != CutGeneration::Outcome::complete) return optimum;
    if (upper < cut) optimum.splits = splits_of_one_class(upper);
    if (!optimum.splits.empty()) return optimum;
    solver::ClassSearch search(fabric_, limits_, weights_);
    search.run(relaxed.arc_prices(generation.prices()), upper.to_double());
    AllreduceOptimum reached{.upper = *algbw, .statistics = {}};
    search.add_reached(upper, reached);
    optimum.of_trees = reached.of_trees;
    if (!reached.split) return optimum;
    const auto worth = checked_div(reached.split->algbw, network.unit);
    auto sparing = worth ? sparing_split(search.program(), *worth) : std::nullopt;
    optimum.splits.push_back(sparing ? *std::move(sparing) : *std::move(reached.split));
    return optimum;
  }

  Weights weights_;
  AllreduceFabric fabric_;
  const AllreduceLimits& limits_;
};

}  // namespace

bool has_able_switches(const SwitchRoles& roles, Collective collective) {
  const auto able = [&](auto role) { return std::ranges::any_of(roles, role); };
  return (collective != Collective::reduce && collective != Collective::reduce_scatter &&
          able(&SwitchRole::copies)) ||
         (collective != Collective::broadcast && collective != Collective::allgather &&
          able(&SwitchRole::combines));
}

Expected<PhaseOptimum> phase_optimum(const Network& network, const SwitchRoles& roles,
                                     Collective collective, std::optional<Rank> root,
                                     const AllreduceLimits& limits) {
  const Weights weights = root ? single_root(network, *root) : shares(network);
  if (collective == Collective::broadcast || collective == Collective::allgather) {
    return PhaseTrees(network, roles, weights, limits).solve();
  }
  const Network turned = reversed(network);
  return PhaseTrees(turned, turned_round(roles), weights, limits).solve();
}

std::optional<BranchingForest> branching_from_root(const Network& network, const SwitchRoles& roles,
                                                   Collective collective, Rank root,
                                                   const PhaseOptimum& optimum,
                                                   const BranchingOptions& options) {
  const bool inward = collective == Collective::reduce;
  const Network from_root = inward ? reversed(network) : network;
  const SwitchRoles copying = inward ? turned_round(roles) : roles;
  BranchingOptions outward = options;
  std::optional<BranchingForest> turned;
  if (inward && options.previous != nullptr) {
    turned = turned_round(*options.previous);
    outward.previous = &*turned;
  }
  std::optional<BranchingForest> best;
  for (const AllreduceSplit& split : optimum.splits) {
    auto forest = pack_branching(
        from_root, copying, {.upper = optimum.upper, .split = split, .statistics = {}}, outward);
    if (forest && (!best || is_better(*forest, *best))) best = *std::move(forest);
  }
  if (!best) return std::nullopt;
  best->collective = collective;
  best->root = root;
  return inward ? turned_round(*std::move(best)) : std::move(best);
}

}  // namespace forestcoll
