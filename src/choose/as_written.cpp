#include "choose/as_written.hpp"

#include <cstdint>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "forest/route_builder.hpp"
#include "forest/route_table.hpp"
#include "solver/common/peer_loads.hpp"
#include "solver/common/without_detours.hpp"

namespace forestcoll::choose {
namespace {

using Mode = TreesPerRoot::Mode;

// How often each rank sends a share to each other one.
void add_transfers(const Forest& forest, solver::PeerTransfers& transfers) {
  for (std::size_t t = 0; t < forest.tree_count(); ++t) {
    const Forest::Tree& tree = forest.tree(TreeId(t));
    for (std::size_t v = 0; v < forest.rank_count(); ++v) {
      const Rank child(v);
      if (child == tree.root) continue;
      std::pair ends(forest.parent(TreeId(t), child), child);
      if (forest.is_in_forest()) std::swap(ends.first, ends.second);
      transfers[ends] += tree.multiplicity;
    }
  }
}

// The same trees on the fabric that the restricted one is of.
Forest on_whole_fabric(const Forest& forest, const IdVector<NodeId, NodeId>& original) {
  if (forest.is_in_forest()) return on_whole_fabric(forest.reversed(), original).reversed();
  RouteBuilder builder({forest.ranks().begin(), forest.ranks().end()});
  std::vector<Forest::Tree> trees;
  std::vector<Route> routes;
  std::vector<NodeId> path;
  for (std::size_t t = 0; t < forest.tree_count(); ++t) {
    trees.push_back(forest.tree(TreeId(t)));
    for (std::size_t v = 0; v < forest.rank_count(); ++v) {
      const Rank child(v);
      if (child == trees.back().root) {
        routes.emplace_back();
        continue;
      }
      path.clear();
      for (const NodeId node : forest.path(TreeId(t), child)) {
        if (original[node].valid()) path.push_back(original[node]);
      }
      routes.push_back(builder.add(forest.parent(TreeId(t), child), path));
    }
  }
  return {builder.take(), std::move(trees), std::move(routes)};
}

// On the fabric without detours; none where that is the whole one, or there was an error.
std::optional<Synthesis> without_detours(const Network& network, const SynthesizeOptions& options) {
  const auto restricted = solver::without_detours(network);
  if (!restricted) return std::nullopt;
  auto found = synthesize(restricted->network, options);
  if (!found || found->stopped) return std::nullopt;
  for (auto* phase : {&found->forest.reduce, &found->forest.broadcast}) {
    if (*phase) *phase = on_whole_fabric(**phase, restricted->original);
  }
  return *std::move(found);
}

// Half as many trees, each twice.
std::vector<Synthesis> half_twice(const Network& network, SynthesizeOptions options,
                                  Format format) {
  TreesPerRoot& asked = options.trees_per_root;
  if (asked.mode != Mode::fixed || asked.value % 2 != 0) return {};
  asked.value /= 2;
  auto found = synthesize_as_written(network, options, format);
  if (!found || found->front().stopped) return {};
  for (Synthesis& each : *found) {
    CollectiveForest& forest = each.forest;
    for (auto* phase : {&forest.reduce, &forest.broadcast}) {
      if (*phase) *phase = (*phase)->scaled(2);
    }
    forest.k *= 2;
  }
  return *std::move(found);
}

}  // namespace

std::optional<Ratio> algbw_by_peers(const CollectiveForest& forest, const Network& network) {
  solver::PeerTransfers transfers;
  std::int64_t trees = 0;
  for (const auto* phase : {&forest.reduce, &forest.broadcast}) {
    if (!*phase) continue;
    add_transfers(**phase, transfers);
    trees = 0;
    for (std::size_t t = 0; t < (*phase)->tree_count(); ++t) {
      trees += (*phase)->tree(TreeId(t)).multiplicity;
    }
  }
  const auto loads = solver::peer_loads(network, transfers);
  if (!loads) return std::nullopt;
  std::optional<Ratio> least;
  for (std::size_t a = 0; a < loads->size(); ++a) {
    const Ratio load = (*loads)[ArcId(a)];
    if (load == Ratio(0)) continue;
    const auto times_unit = checked_mul(Ratio(network.capacity[ArcId(a)]), network.unit);
    const auto times_trees = times_unit ? checked_mul(*times_unit, Ratio(trees)) : std::nullopt;
    const auto allowed = times_trees ? checked_div(*times_trees, load) : std::nullopt;
    if (!allowed) return std::nullopt;
    if (!least || *allowed < *least) least = *allowed;
  }
  return least;
}

Expected<std::vector<Synthesis>> synthesize_as_written(const Network& network,
                                                       const SynthesizeOptions& options,
                                                       Format format) {
  auto by_paths = synthesize(network, options);
  if (!by_paths) return by_paths.errors();
  std::vector<Synthesis> found;
  found.push_back(*std::move(by_paths));
  if (found.front().stopped || !is_schedule(format) || options.previous != nullptr) return found;
  auto reached = algbw_by_peers(found.front().forest, network);
  if (!reached || *reached >= found.front().forest.algbw) return found;
  const Ratio of_paths = found.front().forest.optimum;
  const auto rates = std::pair(found.front().reduce_rate, found.front().broadcast_rate);
  const auto consider = [&](Synthesis other) {
    const auto reaches = algbw_by_peers(other.forest, network);
    if (!reaches || *reaches <= *reached) return;
    reached = reaches;
    // Cuts of the whole fabric, whose nodes have names.
    std::tie(other.reduce_rate, other.broadcast_rate) = rates;
    if (other.forest.optimum < of_paths) other.optimum_of_paths = of_paths;
    found.insert(found.begin(), std::move(other));
  };
  if (auto other = without_detours(network, options)) consider(*std::move(other));
  if (*reached >= found.front().forest.optimum) return found;
  for (Synthesis& other : half_twice(network, options, format)) consider(std::move(other));
  return found;
}

}  // namespace forestcoll::choose
