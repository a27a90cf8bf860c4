#include "support/random_demand.hpp"

#include <algorithm>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

namespace forestcoll::test {

Demand random_demand(std::size_t ranks, std::int64_t most, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::int64_t> amounts;
  for (std::size_t i = 0; i < ranks * ranks; ++i) {
    amounts.push_back(random() % 3 == 0 ? 0 : static_cast<std::int64_t>(random() % most));
  }
  amounts[1] = 1 + static_cast<std::int64_t>(random() % most);  // some pair has something
  return Demand::matrix(ranks, std::move(amounts));
}

Relabelled relabelled(const Network& network, const Demand& demand, std::uint64_t seed) {
  const std::size_t n = network.graph.node_count();
  std::vector<std::size_t> image(n), order(network.ranks.size());
  std::iota(image.begin(), image.end(), 0);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937_64 random(seed);
  std::ranges::shuffle(image, random);
  std::ranges::shuffle(order, random);
  std::vector<Arc> arcs;
  for (const Arc& arc : network.graph.arcs()) {
    arcs.push_back({NodeId(image[arc.tail.index()]), NodeId(image[arc.head.index()])});
  }
  std::vector<std::size_t> from;
  Network other;
  other.graph = Digraph(n, arcs, &from);
  for (const std::size_t a : from) other.capacity.push_back(network.capacity[ArcId(a)]);
  other.unit = network.unit;
  other.rank_of.assign(n, Rank());
  std::vector<std::int64_t> amounts;
  for (std::size_t r = 0; r < order.size(); ++r) {
    other.ranks.push_back(NodeId(image[network.ranks[order[r]].index()]));
    other.rank_of[other.ranks.back()] = Rank(r);
    for (std::size_t t = 0; t < order.size(); ++t) {
      amounts.push_back(demand(Rank(order[r]), Rank(order[t])));
    }
  }
  if (demand.is_uniform()) return {std::move(other), Demand::uniform(order.size())};
  return {std::move(other), Demand::matrix(order.size(), std::move(amounts))};
}

}  // namespace forestcoll::test
