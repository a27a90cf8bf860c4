// Balanced parts and their proofs, added up by definition: see network.hpp.
#include <boost/pending/disjoint_sets.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "forestcoll/network.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll {
namespace {

using Prices = std::vector<Int128>;  // by arc

bool is_balanced_part(const Network& network, const BalancedPart& part) {
  if (part.denominator <= 0 || part.capacity.size() != network.graph.arc_count()) return false;
  IdVector<NodeId, Int128> surplus(network.graph.node_count(), 0);
  for (std::size_t i = 0; i < part.capacity.size(); ++i) {
    const ArcId a(i);
    if (part.capacity[a] < 0 || part.capacity[a] > Int128{network.capacity[a]} * part.denominator) {
      return false;
    }
    surplus[network.graph.tail(a)] -= part.capacity[a];
    surplus[network.graph.head(a)] += part.capacity[a];
  }
  for (std::size_t v = 0; v < surplus.size(); ++v) {
    if (!network.is_compute(NodeId(v)) && surplus[NodeId(v)] != 0) return false;
  }
  return true;
}

// The arc that each arc becomes; nothing where that is no automorphism.
std::optional<std::vector<std::size_t>> arc_images(const Network& network,
                                                   const IdVector<Rank, std::int64_t>& weights,
                                                   const IdVector<NodeId, NodeId>& image) {
  const std::size_t nodes = network.graph.node_count();
  if (image.size() != nodes) return std::nullopt;
  std::vector<bool> met(nodes, false);
  for (std::size_t i = 0; i < nodes; ++i) {
    const NodeId to = image[NodeId(i)];
    if (!to.valid() || to.index() >= nodes || met[to.index()]) return std::nullopt;
    met[to.index()] = true;
    const Rank rank = network.rank_of[NodeId(i)], other = network.rank_of[to];
    if (rank.valid() != other.valid() || (rank.valid() && weights[rank] != weights[other])) {
      return std::nullopt;
    }
  }
  std::vector<std::size_t> arcs;
  for (std::size_t i = 0; i < network.graph.arc_count(); ++i) {
    const Arc& arc = network.graph.arcs()[i];
    const ArcId to = network.graph.find(image[arc.tail], image[arc.head]);
    if (!to.valid() || network.capacity[to] != network.capacity[ArcId(i)]) return std::nullopt;
    arcs.push_back(to.index());
  }
  return arcs;
}

// What the cuts and nodes cost per arc, and what the weights of the cuts are worth.
std::optional<std::pair<Prices, Int128>> add_up(const Network& network,
                                                const IdVector<Rank, std::int64_t>& weights,
                                                const BalanceProof& proof) {
  if (proof.price.size() != network.graph.node_count()) return std::nullopt;
  Prices prices(network.graph.arc_count(), 0);
  Int128 worth = 0;
  for (const PricedCut& cut : proof.cuts) {
    if (cut.price < 0) return std::nullopt;
    std::vector<bool> sends(network.graph.node_count(), false);
    for (const NodeId v : cut.sending) sends[v.index()] = true;
    bool misses_one = false;
    for (std::size_t r = 0; r < network.ranks.size(); ++r) {
      if (sends[network.ranks[r].index()]) {
        worth += Int128{cut.price} * weights[Rank(r)];
      } else {
        misses_one = true;
      }
    }
    if (!misses_one) return std::nullopt;
    for (std::size_t a = 0; a < prices.size(); ++a) {
      const Arc& arc = network.graph.arcs()[a];
      if (sends[arc.tail.index()] && !sends[arc.head.index()]) prices[a] += cut.price;
    }
  }
  for (std::size_t v = 0; v < network.graph.node_count(); ++v) {
    if (network.is_compute(NodeId(v)) && proof.price[NodeId(v)] != 0) return std::nullopt;
  }
  for (std::size_t a = 0; a < prices.size(); ++a) {
    const Arc& arc = network.graph.arcs()[a];
    prices[a] += Int128{proof.price[arc.tail]} - proof.price[arc.head];
  }
  return std::pair(std::move(prices), worth);
}

}  // namespace

std::optional<Ratio> rate_of_part(const Network& network,
                                  const IdVector<Rank, std::int64_t>& weights,
                                  const BalancedPart& part) {
  if (!is_balanced_part(network, part)) return std::nullopt;
  Network alone = network;
  alone.capacity = part.capacity;
  return checked_mul(rate_by_bisection(alone, weights), Ratio(part.denominator));
}

std::optional<Ratio> rate_by_prices(const Network& network,
                                    const IdVector<Rank, std::int64_t>& weights,
                                    const BalanceProof& proof) {
  auto sums = add_up(network, weights, proof);
  if (!sums) return std::nullopt;
  auto& [prices, worth] = *sums;
  boost::disjoint_sets_with_storage<> alike(prices.size());
  for (const auto& symmetry : proof.symmetries) {
    const auto images = arc_images(network, weights, symmetry);
    if (!images) return std::nullopt;
    for (std::size_t a = 0; a < prices.size(); ++a) alike.union_set(a, (*images)[a]);
  }
  // Arcs that are exchanged have one capacity: the sum of their prices is that of their averages.
  Prices together(prices.size(), 0);
  for (std::size_t a = 0; a < prices.size(); ++a) together[alike.find_set(a)] += prices[a];
  Int128 cost = 0;
  for (std::size_t a = 0; a < prices.size(); ++a) {
    Int128 product = 0;
    if (together[a] <= 0) continue;
    if (__builtin_mul_overflow(together[a], Int128{network.capacity[ArcId(a)]}, &product) ||
        __builtin_add_overflow(cost, product, &cost)) {
      return std::nullopt;
    }
  }
  return Ratio::reduced(worth, cost);
}

}  // namespace forestcoll
