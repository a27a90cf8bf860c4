#include "choose/branching.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "forestcoll/allreduce_optimum.hpp"
#include "forestcoll/boxes.hpp"
#include "forestcoll/pack_branching.hpp"
#include "forestcoll/switch_roles.hpp"

namespace forestcoll::choose {
namespace {

// Plans have as many chunks as their threadblocks need, whatever the trees.
bool may_branch(const CompileOptions& options) {
  const SynthesizeOptions& asked = options.synthesis;
  if (asked.collective != Collective::allreduce || asked.previous != nullptr) return false;
  if (options.format == Format::forest) return true;
  return options.format == Format::mscclpp && !asked.max_height &&
         (options.choose_trees || asked.trees_per_root.mode == TreesPerRoot::Mode::optimal);
}

// Powers of two: each is a packing.
std::vector<std::int64_t> up_to(std::int64_t most) {
  std::vector<std::int64_t> numbers;
  for (std::int64_t k = 1; k <= most; k *= 2) numbers.push_back(k);
  return numbers;
}

// The number itself, after its small divisors.
std::vector<std::int64_t> divisors(std::int64_t number) {
  constexpr std::int64_t kSmall = 64;
  std::vector<std::int64_t> found;
  for (std::int64_t d = 1; d <= kSmall && d < number; ++d) {
    if (number % d == 0) found.push_back(d);
  }
  found.push_back(number);
  return found;
}

// Every tree carries so many times as many chunks, each as many times as small.
void multiply(BranchingForest& forest, std::int64_t factor) {
  forest.chunks *= factor;
  for (auto* phase : {&forest.reduce, &forest.broadcast}) {
    for (BranchingTrees& trees : *phase) trees.forest = trees.forest.scaled(factor);
  }
}

/// Packs the optimum in as many trees as are asked for.
class BranchingPacker {
 public:
  BranchingPacker(const Network& network, const SwitchRoles& roles, const AllreduceOptimum& optimum,
                  const CompileOptions& options)
      : network_(network),
        roles_(roles),
        optimum_(optimum),
        branching_{.packing = options.synthesis.packing,
                   .max_height = options.synthesis.max_height} {}

  // As the optimum has them; where that does not fit, nearly so.
  Expected<BranchingForest> optimal() {
    auto exact = pack_branching(network_, roles_, optimum_, branching_);
    return exact || exact.errors().front().code != "E14" ? std::move(exact) : best_of(up_to(16));
  }

  // Shares can round better to fewer trees that are thicker.
  Expected<BranchingForest> exactly(std::int64_t trees_per_rank) {
    auto best = best_of(divisors(trees_per_rank));
    if (!best) return best;
    const auto ranks = static_cast<std::int64_t>(network_.ranks.size());
    multiply(*best, trees_per_rank * ranks / best->chunks);
    return best;
  }

  // Of so many trees per rank; the fastest, the first of equals.
  Expected<BranchingForest> best_of(const std::vector<std::int64_t>& trees_per_rank) {
    std::optional<Expected<BranchingForest>> best;
    for (const std::int64_t k : trees_per_rank) {
      branching_.chunks = k * static_cast<std::int64_t>(network_.ranks.size());
      auto found = pack_branching(network_, roles_, optimum_, branching_);
      const bool is_better = best && *best && found && (*best)->algbw < found->algbw;
      if (!best || !*best || is_better) best = std::move(found);
    }
    return *std::move(best);
  }

 private:
  const Network& network_;
  const SwitchRoles& roles_;
  const AllreduceOptimum& optimum_;
  BranchingOptions branching_;
};

Expected<BranchingForest> pack_as_asked(BranchingPacker packer, const CompileOptions& options) {
  const TreesPerRoot& trees = options.synthesis.trees_per_root;
  if (options.choose_trees || trees.mode == TreesPerRoot::Mode::optimal) return packer.optimal();
  if (trees.mode == TreesPerRoot::Mode::fixed) return packer.exactly(trees.value);
  return packer.best_of(up_to(trees.value));
}

// The GPUs that have links to and from a switch.
std::vector<NodeId> gpus_on(const Network& network, NodeId w) {
  std::vector<NodeId> gpus;
  for (const ArcId a : network.graph.in(w)) {
    const NodeId v = network.graph.tail(a);
    if (network.is_compute(v) && network.graph.find(w, v).valid()) gpus.push_back(v);
  }
  return gpus;
}

}  // namespace

bool has_boxes_on_able_switches(const Fabric& fabric) {
  const Network& network = fabric.network;
  const SwitchRoles roles = switch_roles(fabric.topology);
  const auto box_of = boxes_of_ranks(fabric.topology);
  std::map<std::int32_t, std::size_t> sizes;
  std::set<std::int32_t> served;
  for (const std::int32_t box : box_of) ++sizes[box];
  for (std::size_t w = 0; w < roles.size(); ++w) {
    if (!roles[NodeId(w)].copies || !roles[NodeId(w)].combines) continue;
    const auto gpus = gpus_on(network, NodeId(w));
    if (gpus.empty()) continue;
    const std::int32_t box = box_of[network.rank_of[gpus.front()]];
    const bool stays =
        std::ranges::all_of(gpus, [&](NodeId v) { return box_of[network.rank_of[v]] == box; });
    if (stays && gpus.size() == sizes[box]) served.insert(box);
  }
  return served.size() == sizes.size();
}

std::optional<BranchingForest> branching_forest(const Fabric& fabric, const CompileOptions& options,
                                                const Ratio& than) {
  if (!may_branch(options)) return std::nullopt;
  const SwitchRoles roles = switch_roles(fabric.topology);
  if (roles.empty()) return std::nullopt;
  const auto optimum =
      allreduce_optimum(fabric.network, roles, {.stop = options.synthesis.packing.stop});
  if (!optimum || !optimum->split || optimum->split->algbw <= than) return std::nullopt;
  auto forest = pack_as_asked({fabric.network, roles, *optimum, options}, options);
  if (!forest || forest->algbw <= than) return std::nullopt;
  return *std::move(forest);
}

}  // namespace forestcoll::choose
