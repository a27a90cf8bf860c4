// Forests at random, straight from the definition: k trees per root, of any shape.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "forest/route_table.hpp"
#include "forestcoll/forest.hpp"

namespace audit_test {

/// The beginning of an edge over some of the nodes n … n + relays − 1, each at most once.
inline forestcoll::PrefixId over_relays(forestcoll::RouteTable& table, int parent, int n,
                                        int relays, std::mt19937_64& random) {
  forestcoll::PrefixId prefix(static_cast<std::int32_t>(parent));
  std::vector<forestcoll::NodeId> nodes;
  for (int v = n; v < n + relays; ++v) nodes.emplace_back(v);
  std::shuffle(nodes.begin(), nodes.end(), random);
  if (relays > 0) nodes.resize(random() % (nodes.size() + 1));
  for (const forestcoll::NodeId node : nodes) {
    prefix = table.extend(prefix, table.add_segment(std::array{node}));
  }
  return prefix;
}

/// Parents are from the ranks reached so far: of a `chain` the last, else any. `relays`: so many
/// nodes after the ranks, over which edges lead at random.
inline forestcoll::Forest random_forest(int n, int k, const std::vector<int>& roots, bool chain,
                                        std::mt19937_64& random, int relays = 0) {
  using forestcoll::NodeId;
  std::vector<NodeId> ranks;
  for (int r = 0; r < n; ++r) ranks.emplace_back(static_cast<std::int32_t>(r));
  forestcoll::RouteTable table(ranks);
  std::vector<forestcoll::SegmentId> segments;
  for (const NodeId rank : ranks) segments.push_back(table.add_segment(std::array{rank}));
  std::vector<forestcoll::Forest::Tree> trees;
  std::vector<forestcoll::Route> routes;
  for (const int root : roots) {
    for (int left = k; left > 0;) {
      const int multiplicity = 1 + static_cast<int>(random() % static_cast<std::uint64_t>(left));
      left -= multiplicity;
      std::vector<int> reached = {root}, depth(static_cast<std::size_t>(n), 0);
      std::vector<int> order;
      for (int r = 0; r < n; ++r) {
        if (r != root) order.push_back(r);
      }
      std::shuffle(order.begin(), order.end(), random);
      std::vector<forestcoll::Route> own(static_cast<std::size_t>(n));
      int height = 0;
      for (const int v : order) {
        const int parent = chain ? reached.back() : reached[random() % reached.size()];
        own[static_cast<std::size_t>(v)] = {over_relays(table, parent, n, relays, random),
                                            segments[static_cast<std::size_t>(v)]};
        depth[static_cast<std::size_t>(v)] = depth[static_cast<std::size_t>(parent)] + 1;
        height = std::max(height, depth[static_cast<std::size_t>(v)]);
        reached.push_back(v);
      }
      trees.push_back({forestcoll::Rank(static_cast<std::int32_t>(root)), multiplicity, height});
      routes.insert(routes.end(), own.begin(), own.end());
    }
  }
  return {std::move(table), std::move(trees), std::move(routes)};
}

/// All phases that the collective needs, each with trees of its own. `weights`: how often each rank
/// is a root; empty: once. `relays`: as for `random_forest`.
inline forestcoll::CollectiveForest random_collective(forestcoll::Collective collective, int n,
                                                      int k, bool chain, std::mt19937_64& random,
                                                      const std::vector<int>& weights = {},
                                                      int relays = 0) {
  using forestcoll::Collective;
  forestcoll::CollectiveForest forest;
  forest.collective = collective;
  forest.k = k;
  std::vector<int> roots;
  for (int r = 0; r < n; ++r) {
    const int weight = weights.empty() ? 1 : weights[static_cast<std::size_t>(r)];
    for (int i = 0; i < weight; ++i) roots.push_back(r);
    if (!weights.empty()) forest.weight.push_back(weight);
  }
  if (is_rooted(collective)) {
    roots = {static_cast<int>(random() % static_cast<std::uint64_t>(n))};
    forest.root = forestcoll::Rank(static_cast<std::int32_t>(roots[0]));
  }
  const bool reduces = collective != Collective::allgather && collective != Collective::broadcast;
  const bool spreads = collective == Collective::allgather || collective == Collective::broadcast ||
                       collective == Collective::allreduce;
  if (reduces) forest.reduce = random_forest(n, k, roots, chain, random, relays).reversed();
  if (spreads) forest.broadcast = random_forest(n, k, roots, chain, random, relays);
  return forest;
}

}  // namespace audit_test
