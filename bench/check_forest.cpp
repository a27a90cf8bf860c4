#include "check_forest.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "forest/symmetry.hpp"
#include "tree_loads.hpp"

namespace forestcoll::bench {
namespace {

constexpr std::size_t kImagesLookedAt = 64;

// Does every cycle's length divide the order?
bool has_order(const Action<NodeId>::Image& image, std::int32_t order) {
  std::vector<bool> met(image.size(), false);
  for (std::size_t start = 0; start < image.size(); ++start) {
    std::int32_t length = 0;
    for (NodeId at(start); !met[at.index()]; at = image[at], ++length) met[at.index()] = true;
    if (length > 0 && order % length != 0) return false;
  }
  return true;
}

template <class I>
bool is_permutation(const IdVector<I, I>& image, std::size_t size) {
  if (image.size() != size) return false;
  std::vector<bool> hit(size, false);
  for (const I to : image) {
    if (!to.valid() || to.index() >= size || hit[to.index()]) return false;
    hit[to.index()] = true;
  }
  return true;
}

// Classes of things that a generator maps to one another.
class Orbits {
 public:
  explicit Orbits(std::size_t size) : leader_(size) {
    std::iota(leader_.begin(), leader_.end(), std::size_t{0});
  }
  void join(std::size_t a, std::size_t b) { leader_[leader(a)] = leader(b); }

  // What each element of a group of `order` brings from its place to its image, added up: all
  // members of an orbit get the same.
  template <class I>
  void spread(IdVector<I, std::int64_t>& amount, std::int64_t order) {
    std::vector<std::int64_t> sum(leader_.size(), 0), members(leader_.size(), 0);
    for (std::size_t i = 0; i < leader_.size(); ++i) {
      sum[leader(i)] += amount[I(i)];
      ++members[leader(i)];
    }
    for (std::size_t i = 0; i < leader_.size(); ++i) {
      amount[I(i)] = sum[leader(i)] * (order / members[leader(i)]);
    }
  }

 private:
  std::size_t leader(std::size_t a) {
    while (leader_[a] != a) a = leader_[a] = leader_[leader_[a]];
    return a;
  }
  std::vector<std::size_t> leader_;
};

class SymmetryCheck {
 public:
  SymmetryCheck(const Network& network, std::span<const Symmetry::Generator> generators)
      : network_(network),
        generators_(generators),
        arcs_(network.graph.arc_count()),
        ranks_(network.ranks.size()) {}

  // Empty where the generators make a group of automorphisms.
  const char* run() {
    for (const Symmetry::Generator& each : generators_) {
      order_ *= each.order;
      if (!is_permutation(each.nodes, network_.graph.node_count()) ||
          !is_permutation(each.ranks, network_.ranks.size())) {
        return "a generator is no permutation";
      }
      if (!has_order(each.nodes, each.order)) return "a generator has another order";
      if (!maps_ranks(each)) return "a generator moves nodes and ranks apart";
      if (!maps_arcs(each)) return "a generator is no automorphism";
      for (const Symmetry::Generator& other : generators_) {
        if (!commute(each.nodes, other.nodes)) return "generators do not commute";
      }
    }
    return nullptr;
  }

  void spread(Loads& loads) {
    arcs_.spread(loads.arc, order_);
    ranks_.spread(loads.rooted, order_);
  }

 private:
  static bool commute(const Action<NodeId>::Image& f, const Action<NodeId>::Image& g) {
    for (std::size_t v = 0; v < f.size(); ++v) {
      if (f[g[NodeId(v)]] != g[f[NodeId(v)]]) return false;
    }
    return true;
  }

  bool maps_ranks(const Symmetry::Generator& generator) {
    for (std::size_t r = 0; r < network_.ranks.size(); ++r) {
      const Rank to = generator.ranks[Rank(r)];
      if (generator.nodes[network_.ranks[r]] != network_.ranks[to.index()]) return false;
      ranks_.join(r, to.index());
    }
    return true;
  }

  bool maps_arcs(const Symmetry::Generator& generator) {
    const Digraph& graph = network_.graph;
    for (std::size_t a = 0; a < graph.arc_count(); ++a) {
      const Arc arc = graph.arcs()[a];
      const ArcId to = find_arc(graph, generator.nodes[arc.tail], generator.nodes[arc.head]);
      if (!to.valid() || network_.capacity[to] != network_.capacity[ArcId(a)]) return false;
      arcs_.join(a, to.index());
    }
    return true;
  }

  const Network& network_;
  std::span<const Symmetry::Generator> generators_;
  std::int64_t order_ = 1;
  Orbits arcs_, ranks_;
};

}  // namespace

std::string find_flaw(const Network& network, const Weights& weights, const Scaling& scaling,
                      const Forest& forest) {
  if (forest.rank_count() != network.ranks.size()) return "the forest has other ranks";
  TreeCheck check(network, forest);
  Loads loads(network);
  for (std::size_t t = 0; t < forest.tree_count(); ++t) {
    if (std::string flaw = check.add(TreeId(t), loads); !flaw.empty()) return flaw;
  }
  return find_excess(network, weights, scaling, loads);
}

std::string find_flaw_by_orbits(const Network& network, const Weights& weights,
                                const Scaling& scaling, const Forest& forest) {
  if (forest.rank_count() != network.ranks.size()) return "the forest has other ranks";
  SymmetryCheck group(network, forest.symmetry().generators());
  if (const char* flaw = group.run(); flaw != nullptr) return flaw;
  TreeCheck check(network, forest);
  Loads loads(network), moved(network), unused(network);
  for (const TreeId t : forest.base_trees()) {
    std::string flaw = check.add(t, forest.has_images(t) ? moved : loads);
    if (!flaw.empty()) return flaw;
  }
  group.spread(moved);
  for (std::size_t a = 0; a < loads.arc.size(); ++a) loads.arc[ArcId(a)] += moved.arc[ArcId(a)];
  for (std::size_t r = 0; r < loads.rooted.size(); ++r) {
    loads.rooted[Rank(r)] += moved.rooted[Rank(r)];
  }
  const std::size_t step = std::max<std::size_t>(1, forest.tree_count() / kImagesLookedAt);
  for (std::size_t t = 0; t < forest.tree_count(); t += step) {
    if (std::string flaw = check.add(TreeId(t), unused); !flaw.empty()) return flaw;
  }
  return find_excess(network, weights, scaling, loads);
}

}  // namespace forestcoll::bench
