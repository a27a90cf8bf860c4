#include "solver/allreduce/twin_fabric.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "forest/route_builder.hpp"
#include "forest/route_table.hpp"

namespace forestcoll::solver {
namespace {

// Of sums of capacities times the data, as `Network` promises.
constexpr Int128 kMostProduct = Int128{1} << 62;

// The same trees with other ranks, on `nodes`. `change` is given the nodes of an edge's path.
template <class Change>
Forest with_paths(const Forest& forest, const IdVector<Rank, Rank>& ranks,
                  const std::vector<NodeId>& nodes, const Change& change) {
  IdVector<Rank, Rank> previous(ranks.size());
  for (std::size_t v = 0; v < ranks.size(); ++v) previous[ranks[Rank(v)]] = Rank(v);
  std::vector<TreeId> order;  // by root
  for (std::size_t t = 0; t < forest.tree_count(); ++t) order.emplace_back(t);
  std::ranges::stable_sort(order, {}, [&](TreeId t) { return ranks[forest.tree(t).root]; });
  RouteBuilder builder(nodes);
  std::vector<Forest::Tree> trees;
  std::vector<Route> routes;
  for (const TreeId t : order) {
    trees.push_back(forest.tree(t));
    trees.back().root = ranks[trees.back().root];
    for (const Rank v : previous) {
      if (v == forest.tree(t).root) {
        routes.emplace_back();
        continue;
      }
      auto path = forest.path(t, v);
      change(path);
      routes.push_back(builder.add(ranks[forest.parent(t, v)], path));
    }
  }
  return {builder.take(), std::move(trees), std::move(routes)};
}

IdVector<Rank, Rank> same_ranks(const Forest& forest) {
  IdVector<Rank, Rank> same;
  for (std::size_t v = 0; v < forest.rank_count(); ++v) same.push_back(Rank(v));
  return same;
}

}  // namespace

TwinFabric::TwinFabric(const Network& fabric, const AllreduceTrees& trees, bool inward)
    : fabric_(fabric), trees_(trees), inward_(inward) {
  const std::size_t nodes = fabric.graph.node_count();
  for (std::size_t i = 0; i < trees.switches.size(); ++i) {
    twin_of_.emplace(trees.switches[i], NodeId(nodes + i));
  }
}

bool TwinFabric::make(const SplitUnits& units, const RootShares& shares) {
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
  auto data = static_cast<Int128>(network_.ranks.size());
  for (const NodeId v : network_.ranks) {
    network_.weight.push_back(shares[original(v)]);
    data += shares[original(v)];
  }
  if (all >= kMostProduct / data) return false;
  std::vector<Arc> arcs;
  for (const auto& [ends, capacity] : taken) {
    arcs.push_back({ends.first, ends.second});
    network_.capacity.push_back(capacity);
  }
  network_.graph = Digraph(fabric_.graph.node_count() + trees_.switches.size(), arcs);
  return true;
}

void TwinFabric::add_ranks() {
  network_.rank_of.assign(fabric_.graph.node_count() + trees_.switches.size(), Rank());
  const auto add = [&](NodeId v) {
    network_.rank_of[v] = Rank(network_.ranks.size());
    network_.ranks.push_back(v);
  };
  for (const NodeId v : fabric_.ranks) add(v);
  for (const NodeId w : trees_.switches) add(twin_of_.at(w));
}

NodeId TwinFabric::original(NodeId v) const {
  const std::size_t nodes = fabric_.graph.node_count();
  return v.index() < nodes ? v : trees_.switches[v.index() - nodes];
}

// Of a node at which an edge of the trees ends.
NodeId TwinFabric::vertex(NodeId v) const {
  const auto twin = twin_of_.find(v);
  return twin == twin_of_.end() ? v : twin->second;
}

Forest TwinFabric::without_twins(const Forest& packed) const {
  std::vector<NodeId> ranks;
  for (const NodeId v : packed.ranks()) ranks.push_back(original(v));
  return with_paths(packed, same_ranks(packed), ranks, [&](std::vector<NodeId>& path) {
    for (NodeId& node : path) node = original(node);
  });
}

Forest TwinFabric::with_twins(const Forest& forest) const {
  std::vector<NodeId> ranks;
  for (const NodeId v : forest.ranks()) ranks.push_back(vertex(v));
  return with_paths(forest, same_ranks(forest), ranks, [&](std::vector<NodeId>& path) {
    path.front() = vertex(path.front());
    path.back() = vertex(path.back());
  });
}

// Back to the first trees of the kind, and from there.
NodeImage TwinFabric::nodes_of(const TwinFabric& of) const {
  const std::size_t nodes = fabric_.graph.node_count();
  NodeImage image(of.network_.graph.node_count());
  for (std::size_t v = 0; v < nodes; ++v)
    image[of.trees_.image[NodeId(v)]] = trees_.image[NodeId(v)];
  for (std::size_t i = 0; i < of.trees_.switches.size(); ++i) {
    image[NodeId(nodes + i)] = vertex(image[of.trees_.switches[i]]);
  }
  return image;
}

std::optional<NodeImage> TwinFabric::image(const TwinFabric& of) const {
  const Network& from = of.network_;
  if (trees_.image.empty() || of.trees_.kind != trees_.kind ||
      from.ranks.size() != network_.ranks.size() ||
      from.graph.arc_count() != network_.graph.arc_count()) {
    return std::nullopt;
  }
  NodeImage image = nodes_of(of);
  for (const NodeId v : from.ranks) {
    const Rank to = network_.rank_of[image[v]];
    if (!to.valid() || network_.weight[to] != from.weight[from.rank_of[v]]) return std::nullopt;
  }
  for (std::size_t a = 0; a < from.graph.arc_count(); ++a) {
    const Arc& arc = from.graph.arcs()[a];
    const ArcId to = network_.graph.find(image[arc.tail], image[arc.head]);
    if (!to.valid() || network_.capacity[to] != from.capacity[ArcId(a)]) return std::nullopt;
  }
  return image;
}

Forest moved(const Forest& forest, const NodeImage& image, const Network& network) {
  IdVector<Rank, Rank> ranks;
  for (const NodeId v : forest.ranks()) ranks.push_back(network.rank_of[image[v]]);
  return with_paths(forest, ranks, network.ranks, [&](std::vector<NodeId>& path) {
    for (NodeId& node : path) node = image[node];
  });
}

}  // namespace forestcoll::solver
