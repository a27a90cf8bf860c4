#include "choose/branching.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::choose {
namespace {

// Plans have as many chunks as their threadblocks need, whatever the trees.
bool may_branch(const CompileOptions& options) {
  const SynthesizeOptions& asked = options.synthesis;
  const bool is_allreduce = asked.collective == Collective::allreduce;
  if (asked.previous != nullptr || !(is_allreduce || is_rooted(asked.collective))) return false;
  if (options.format == Format::forest || options.format == Format::dot) return true;
  return options.format == Format::mscclpp && is_allreduce && !asked.max_height &&
         (options.tree_count == TreeCount::chosen ||
          asked.trees_per_root.mode == TreesPerRoot::Mode::optimal);
}

// Trees per root where the optimum has no numbers of its own: 16, 256, 4,096, until a ten
// thousandth is lost.
constexpr std::int64_t kFirstTrees = 16, kFinestTrees = 4096;
constexpr double kNear = 0.9999;

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

/// Packs as many trees as are asked for, by what packs so many chunks (none: as the optimum has
/// them; nothing where that cannot be).
class BranchingPacker {
 public:
  using Pack = std::function<std::optional<BranchingForest>(std::optional<std::int64_t>)>;
  /// `roots`: how many have k trees.
  BranchingPacker(Pack pack, std::size_t roots)
      : pack_(std::move(pack)), roots_(static_cast<std::int64_t>(roots)) {}

  [[nodiscard]] std::optional<BranchingForest> as_asked(const CompileOptions& options) const {
    const TreesPerRoot& trees = options.synthesis.trees_per_root;
    if (options.tree_count == TreeCount::chosen || trees.mode == TreesPerRoot::Mode::optimal)
      return optimal();
    return trees.mode == TreesPerRoot::Mode::fixed ? exactly(trees.value)
                                                   : best_of(up_to(trees.value));
  }

 private:
  // Where the optimum's own numbers do not fit, nearly so: with more and more trees, whose number
  // costs nothing, as equal ones are one with a multiplicity.
  [[nodiscard]] std::optional<BranchingForest> optimal() const {
    if (auto exact = pack_(std::nullopt)) return exact;
    std::optional<BranchingForest> best;
    for (std::int64_t k = kFirstTrees; k <= kFinestTrees; k *= kFirstTrees) {
      auto found = pack_(k * roots_);
      if (found && (!best || best->algbw < found->algbw)) best = std::move(found);
      if (best && is_near(best->algbw, best->optimum)) break;
    }
    return best;
  }

  static bool is_near(const Ratio& rate, const Ratio& optimum) {
    return rate.to_double() >= optimum.to_double() * kNear;
  }

  // Shares can round better to fewer trees that are thicker.
  [[nodiscard]] std::optional<BranchingForest> exactly(std::int64_t k) const {
    auto best = best_of(divisors(k));
    if (best) multiply(*best, k * roots_ / best->chunks);
    return best;
  }

  // The fastest, the first of equals.
  [[nodiscard]] std::optional<BranchingForest> best_of(
      const std::vector<std::int64_t>& trees_per_root) const {
    std::optional<BranchingForest> best;
    for (const std::int64_t k : trees_per_root) {
      auto found = pack_(k * roots_);
      if (found && (!best || best->algbw < found->algbw)) best = std::move(found);
    }
    return best;
  }

  Pack pack_;
  std::int64_t roots_;
};

InNetwork branching_allreduce(const Network& network, const SwitchRoles& roles,
                              const CompileOptions& options, const Ratio& than) {
  const SynthesizeOptions& asked = options.synthesis;
  const auto optimum = allreduce_optimum(network, roles, {.stop = asked.packing.stop});
  if (!optimum) return {};
  InNetwork known{{}, optimum->upper, {}};
  if (!optimum->split) return known;
  known.reached = optimum->split->algbw;
  if (*known.reached <= than) return known;
  const auto pack = [&](std::optional<std::int64_t> chunks) -> std::optional<BranchingForest> {
    auto forest =
        pack_branching(network, roles, *optimum,
                       {asked.packing, chunks, asked.max_height, options.previous_branching});
    if (!forest) return std::nullopt;
    return *std::move(forest);
  };
  auto forest = BranchingPacker(pack, network.ranks.size()).as_asked(options);
  if (forest && than < forest->algbw) known.forest = std::move(forest);
  return known;
}

// Faster, or as fast with fewer messages in turn.
InNetwork branching_from(Rank root, const Network& network, const SwitchRoles& roles,
                         const CompileOptions& options, const CollectiveForest& without) {
  const SynthesizeOptions& asked = options.synthesis;
  const auto optimum =
      phase_optimum(network, roles, asked.collective, root, {.stop = asked.packing.stop});
  if (!optimum) return {};
  InNetwork known{{}, optimum->upper, optimum->reached()};
  const auto pack = [&](std::optional<std::int64_t> chunks) {
    return branching_from_root(
        network, roles, asked.collective, root, *optimum,
        {asked.packing, chunks, asked.max_height, options.previous_branching});
  };
  auto forest = BranchingPacker(pack, 1).as_asked(options);
  if (!forest || forest->algbw < without.algbw) return known;
  const bool is_better = without.algbw < forest->algbw ||
                         messages_in_turn(*forest) < first_trees(without).max_height();
  if (is_better) known.forest = std::move(forest);
  return known;
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

Expected<void> refuse_previous(const Fabric& fabric, const CompileOptions& options) {
  if (options.previous_branching == nullptr) return {};
  const BranchingForest& previous = *options.previous_branching;
  const SynthesizeOptions& asked = options.synthesis;
  const auto misfit = [](std::string message) {
    return make_error(Code::R02, std::move(message),
                      "give a forest of the same collective, root and fabric, made before the "
                      "failure, or leave it out and pack from scratch");
  };
  if (previous.collective != asked.collective) {
    return misfit(fmt::format("the previous forest is for {}, not for {}",
                              to_string(previous.collective), to_string(asked.collective)));
  }
  const std::vector<NodeId>& ranks = fabric.network.ranks;
  for (const NodeId rank : ranks) {
    if (std::ranges::find(previous.ranks, rank) != previous.ranks.end()) continue;
    return misfit(fmt::format("{} is not in the previous forest", fabric.topology.nodes[rank].id));
  }
  if (asked.root && previous.ranks[previous.root->index()] != ranks[asked.root->index()]) {
    return misfit("the previous forest has another root");
  }
  return {};
}

InNetwork branching_forest(const Fabric& fabric, const CompileOptions& options,
                           const CollectiveForest& without) {
  if (!may_branch(options)) return {};
  const SwitchRoles roles = switch_roles(fabric.topology);
  if (roles.empty()) return {};
  const Network& network = fabric.links();  // whatever is left for trees over GPUs
  if (!without.root) return branching_allreduce(network, roles, options, without.algbw);
  if (!has_able_switches(roles, options.synthesis.collective)) return {};
  return branching_from(*without.root, network, roles, options, without);
}

void update_optimum(const InNetwork& in_network, const CompileOptions& options,
                    ChosenForest& chosen) {
  if (options.previous_branching != nullptr) {
    chosen.why = "nothing of the previous forest is kept: here no trees that branch are better";
  }
  if (options.format == Format::mscclpp) return;
  Synthesis& synthesis = chosen.synthesis;
  const Ratio known = synthesis.optimum_at_least.value_or(synthesis.forest.optimum);
  if (!in_network.at_most || *in_network.at_most <= synthesis.forest.optimum) return;
  synthesis.forest.optimum = *in_network.at_most;
  const Ratio least = in_network.reached ? std::max(known, *in_network.reached) : known;
  synthesis.optimum_at_least.reset();
  if (least < synthesis.forest.optimum) synthesis.optimum_at_least = least;
}

}  // namespace forestcoll::choose
