// The least height that any forest on a fabric can have: the largest distance from a root to a
// rank, in hops from rank to rank, where any way through switches is one hop.
//
// Roots that a symmetry of the fabric maps onto one another are as far from the rest: one of them
// will do. Breadth first from 64 roots at once, one bit each: a hop spreads the bits of what ranks
// have through the switches until nothing changes, and then to the next ranks.
#include "solver/height/bound/bound.hpp"

#include <algorithm>
#include <boost/pending/disjoint_sets.hpp>
#include <cstdint>
#include <limits>
#include <vector>

#include "forestcoll/pack.hpp"
#include "solver/height/bound/cuts.hpp"

namespace forestcoll {
namespace {

class Spread {
 public:
  explicit Spread(const Network& network)
      : network_(network), bits_(network.graph.node_count()), next_(bits_.size()) {}

  // Hops until every rank has the bit of each of `roots` (at most 64), by root; the number of ranks
  // where some never has it.
  std::vector<std::int32_t> hops(const std::vector<Rank>& roots) {
    std::fill(bits_.begin(), bits_.end(), 0);
    for (std::size_t i = 0; i < roots.size(); ++i) {
      bits_[network_.ranks[roots[i].index()].index()] |= std::uint64_t{1} << i;
    }
    std::vector<std::int32_t> hops(roots.size(), static_cast<std::int32_t>(network_.ranks.size()));
    std::uint64_t missing = std::numeric_limits<std::uint64_t>::max() >> (64 - roots.size());
    for (std::int32_t count = 0;; ++count) {
      std::uint64_t everywhere = missing;
      for (const NodeId v : network_.ranks) everywhere &= bits_[v.index()];
      for (std::size_t i = 0; i < roots.size(); ++i) {
        if ((everywhere >> i & 1) != 0) hops[i] = count;
      }
      missing &= ~everywhere;
      if (missing == 0 || !hop()) return hops;
    }
  }

 private:
  // False where nothing comes any further.
  bool hop() {
    next_ = bits_;
    // To the ranks, and through the switches as far as it goes.
    for (bool changed = true; changed;) {
      changed = false;
      for (std::size_t a = 0; a < network_.graph.arc_count(); ++a) {
        const NodeId tail = network_.graph.tail(ArcId(a));
        const NodeId head = network_.graph.head(ArcId(a));
        const std::uint64_t from =
            network_.is_compute(tail) ? bits_[tail.index()] : next_[tail.index()];
        if ((from & ~next_[head.index()]) == 0) continue;
        next_[head.index()] |= from;
        changed |= !network_.is_compute(head);
      }
    }
    std::swap(bits_, next_);
    return bits_ != next_;
  }

  const Network& network_;
  std::vector<std::uint64_t> bits_, next_;
};

bool moves_arcs_onto_themselves(const Symmetry::Generator& generator, const Digraph& graph) {
  std::vector<Arc> arcs(graph.arcs().begin(), graph.arcs().end());
  std::vector<Arc> images = arcs;
  for (Arc& arc : images) arc = {generator.nodes[arc.tail], generator.nodes[arc.head]};
  const auto order = [](const Arc& a, const Arc& b) {
    return std::pair(a.tail, a.head) < std::pair(b.tail, b.head);
  };
  std::sort(arcs.begin(), arcs.end(), order);
  std::sort(images.begin(), images.end(), order);
  return arcs == images;
}

// A root's weight where no root before it stands for it, else 0.
Weights one_root_per_orbit(const Network& network, const Weights& weights,
                           const Symmetry& symmetry) {
  boost::disjoint_sets_with_storage<> orbits(weights.size());
  for (const Symmetry::Generator& generator : symmetry.generators()) {
    if (!moves_arcs_onto_themselves(generator, network.graph)) continue;
    for (std::size_t r = 0; r < weights.size(); ++r) {
      orbits.union_set(r, generator.ranks[Rank(r)].index());
    }
  }
  std::vector<bool> seen(weights.size(), false);
  Weights first = weights;
  for (std::size_t r = 0; r < weights.size(); ++r) {
    const std::size_t orbit = orbits.find_set(r);
    if (seen[orbit]) first[Rank(r)] = 0;
    if (weights[Rank(r)] > 0) seen[orbit] = true;
  }
  return first;
}

}  // namespace

namespace solver {

IdVector<Rank, std::int32_t> farthest(const Network& network, const Weights& weights) {
  Spread spread(network);
  IdVector<Rank, std::int32_t> result(weights.size(), 0);
  std::vector<Rank> roots;
  for (std::size_t r = 0; r < weights.size(); ++r) {
    if (weights[Rank(r)] > 0) roots.push_back(Rank(r));
    if (roots.size() < 64 && (r + 1 < weights.size() || roots.empty())) continue;
    const std::vector<std::int32_t> hops = spread.hops(roots);
    for (std::size_t i = 0; i < roots.size(); ++i) result[roots[i]] = hops[i];
    roots.clear();
  }
  return result;
}

std::int32_t distance_bound(const Network& network, const Weights& weights,
                            const Symmetry& symmetry) {
  return height_lower_bound(network, one_root_per_orbit(network, weights, symmetry));
}

std::int32_t allreduce_height_bound(const Network& network, const Ratio& rate,
                                    const Symmetry& symmetry) {
  const Weights roots = one_root_per_orbit(network, uniform_weights(network), symmetry);
  const auto out = farthest(network, roots), in = farthest(reversed(network), roots);
  std::int32_t height = std::numeric_limits<std::int32_t>::max();
  for (std::size_t r = 0; r < roots.size(); ++r) {
    if (roots[Rank(r)] > 0) height = std::min(height, std::max(out[Rank(r)], in[Rank(r)]));
  }
  height = std::max(height, allreduce_height_forced_by_gates(network, rate));
  return height == 1 && allreduce_stars_are_impossible(network, rate) ? 2 : height;
}

}  // namespace solver

std::int32_t height_lower_bound(const Network& network, const Weights& weights) {
  const auto hops = solver::farthest(network, weights);
  return *std::max_element(hops.begin(), hops.end());
}

std::int32_t height_lower_bound(const Network& network, const Weights& weights,
                                const Scaling& scaling) {
  std::int32_t height = height_lower_bound(network, weights);
  height = std::max(height, solver::height_forced_by_cuts(network, weights, scaling));
  height = std::max(height, solver::height_forced_by_switches(network, weights, scaling));
  if (height == 1 && solver::stars_are_impossible(network, weights, scaling)) height = 2;
  return height;
}

}  // namespace forestcoll
