#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/rate.hpp"
#include "solver/allreduce/allreduce_program.hpp"
#include "solver/allreduce/branching.hpp"
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

/// Out-trees from one rank.
class RootedTrees {
 public:
  RootedTrees(const Network& network, const SwitchRoles& roles, Rank root,
              const BranchingOptions& options)
      : weights_(single_root(network, root)), fabric_(network, roles, weights_), options_(options) {
    fabric_.reversible = false;  // there is one phase
  }

  [[nodiscard]] std::optional<BranchingForest> best() const {
    const Rate rate = optimal_rate(fabric_.network, weights_, {}, options_.packing.stop);
    const Ratio bound(rate.inverse.den(), rate.inverse.num());
    std::optional<BranchingForest> best;
    for (const std::vector<NodeId>& spanned : candidates()) {
      auto found = trees_at(spanned, bound);
      if (found && (!best || is_better(*found, *best))) best = std::move(found);
    }
    return best;
  }

 private:
  // The switches at which a tree of the fewest links branches, and all.
  [[nodiscard]] std::set<std::vector<NodeId>> candidates() const {
    const IdVector<ArcId, double> links(fabric_.network.graph.arc_count(), 1);
    std::set<std::vector<NodeId>> sets = {solver::cheap_branching(fabric_, false, links),
                                          solver::able_switches(fabric_.roles, false)};
    sets.erase(std::vector<NodeId>());
    return sets;
  }

  static bool is_better(const BranchingForest& a, const BranchingForest& b) {
    if (a.algbw != b.algbw) return a.algbw > b.algbw;
    return messages_in_turn(a) < messages_in_turn(b);
  }

  [[nodiscard]] std::optional<BranchingForest> trees_at(const std::vector<NodeId>& spanned,
                                                        const Ratio& bound) const {
    const Network& network = fabric_.network;
    auto trees =
        solver::make_tree_class(network, fabric_.generators, spanned, TreePhases::broadcast);
    const auto algbw = checked_mul(bound, network.unit);
    if (!trees || !algbw) return std::nullopt;
    const auto program = AllreduceProgram::of_broadcast(fabric_, {*std::move(trees)}, weights_);
    const solver::CutProgram sparing = with_few_links(program.program());
    CutGeneration generation(sparing);
    const AllreduceLimits limits;
    const auto outcome = generation.run({limits.rounds, options_.packing.stop, limits.pivots});
    if (outcome != CutGeneration::Outcome::complete) return std::nullopt;
    const auto exact = solver::prove_reached(program.program(), generation.values(), bound);
    if (!exact) return std::nullopt;
    AllreduceOptimum optimum{.upper = *algbw, .statistics = {}};
    optimum.split = solver::split_of(network, program, *exact);
    optimum.split->algbw = *algbw;
    auto forest = pack_branching(network, fabric_.roles, optimum, options_);
    if (!forest) return std::nullopt;
    return *std::move(forest);
  }

  // The same optimum, and among its solutions one that takes little of the links altogether: long
  // ways make high trees.
  static solver::CutProgram with_few_links(solver::CutProgram program) {
    std::map<std::size_t, std::int64_t> links;  // by variable
    for (const solver::TreeCommodity& commodity : program.commodities) {
      for (const std::size_t variable : commodity.variable) ++links[variable];
    }
    // All links together are less than so many times what is rooted.
    const auto most = 2 * static_cast<std::int64_t>(program.commodities.front().graph.arc_count());
    for (solver::Term& rooted : program.objective) rooted.coefficient *= most;
    for (const auto& [variable, count] : links) program.objective.push_back({variable, -count});
    return program;
  }

  Weights weights_;
  AllreduceFabric fabric_;
  const BranchingOptions& options_;
};

}  // namespace

std::optional<BranchingForest> branching_from_root(const Network& network, const SwitchRoles& roles,
                                                   Collective collective, Rank root,
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
  auto forest = RootedTrees(from_root, copying, root, outward).best();
  if (!forest) return std::nullopt;
  forest->collective = collective;
  forest->root = root;
  return inward ? turned_round(*std::move(forest)) : std::move(forest);
}

}  // namespace forestcoll
