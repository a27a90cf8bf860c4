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

// GB/s at which what has `load` lets the buffer through, whose parts are so many.
std::optional<Ratio> allowed_by(Capacity capacity, const Ratio& load, std::int64_t parts,
                                const Network& network) {
  const auto times_unit = checked_mul(Ratio(capacity), network.unit);
  const auto times_parts = times_unit ? checked_mul(*times_unit, Ratio(parts)) : std::nullopt;
  return times_parts ? checked_div(*times_parts, load) : std::nullopt;
}

std::optional<Ratio> load_of(const ArcLimit& limit, const IdVector<ArcId, Ratio>& loads) {
  std::optional<Ratio> sum = Ratio(0);
  for (const auto& [arc, weight] : limit.uses) {
    const auto load = checked_mul(loads[arc], Ratio(weight));
    sum = load ? checked_add(*sum, *load) : std::nullopt;
    if (!sum) break;
  }
  return sum;
}

// Of a buffer of so many parts.
std::optional<Ratio> algbw_of(const solver::PeerTransfers& transfers, std::int64_t parts,
                              const Network& network) {
  const auto loads = solver::peer_loads(network, transfers);
  if (!loads) return std::nullopt;
  std::optional<Ratio> least;
  const auto keep = [&](Capacity capacity, const Ratio& load) {
    if (load == Ratio(0)) return true;
    const auto allowed = allowed_by(capacity, load, parts, network);
    if (allowed && (!least || *allowed < *least)) least = *allowed;
    return allowed.has_value();
  };
  for (std::size_t a = 0; a < loads->size(); ++a) {
    if (!keep(network.capacity[ArcId(a)], (*loads)[ArcId(a)])) return std::nullopt;
  }
  for (const ArcLimit& limit : network.limits) {
    const auto load = load_of(limit, *loads);
    if (!load || !keep(limit.capacity, *load)) return std::nullopt;
  }
  return least;
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

// Half as many trees; none where that is no number, or the search was stopped.
std::vector<Synthesis> half_of(const Network& network, SynthesizeOptions options, Format format) {
  TreesPerRoot& asked = options.trees_per_root;
  if (asked.mode != Mode::fixed || asked.value % 2 != 0) return {};
  asked.value /= 2;
  auto found = synthesize_as_written(network, options, format);
  if (!found || found->front().stopped) return {};
  return *std::move(found);
}

Synthesis twice(Synthesis each) {
  CollectiveForest& forest = each.forest;
  for (auto* phase : {&forest.reduce, &forest.broadcast}) {
    if (*phase) *phase = (*phase)->scaled(2);
  }
  forest.k *= 2;
  return each;
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
  return algbw_of(transfers, trees, network);
}

std::optional<Ratio> algbw_by_peers(const Schedule& schedule, const Network& network) {
  solver::PeerTransfers transfers;
  for (std::size_t r = 0; r < schedule.programs.size(); ++r) {
    for (const Threadblock& block : schedule.programs[Rank(r)].threadblocks) {
      for (const Step& step : block.steps) {
        if (sends(step.operation)) transfers[{Rank(r), block.send_peer}] += step.count;
      }
    }
  }
  return algbw_of(transfers, schedule.chunks, network);
}

Expected<std::vector<Synthesis>> synthesize_as_written(const Network& network,
                                                       const SynthesizeOptions& options,
                                                       Format format,
                                                       const std::vector<Synthesis>* half) {
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
  std::vector<Synthesis> searched;
  if (half == nullptr) searched = half_of(network, options, format);
  for (const Synthesis& other : half == nullptr ? searched : *half) consider(twice(other));
  return found;
}

}  // namespace forestcoll::choose
