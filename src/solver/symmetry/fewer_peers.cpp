// Stars are low and have many peers. Let a group Γ move every rank, and let rank x of a base tree
// lead to its images a·x, a in A. Number the elements of Γ by their digits, and cut the digits at
// some place: a = low + high. Where low and high are both in A, a·x need not hang on x: it can hang
// on high·x, by the way from x to low·x moved by high, which is a way of the fabric as good as that
// one. Then x has a peer for each low and each high part instead of one for each a: 15 + 7 instead
// of 127. Two cuts give three levels.
//
// All images of the tree are divided alike, so the loads stay the same all over an orbit of arcs,
// and what an orbit carries is what the base trees put on it: the sum over their edges, each of
// which uses the orbits of the way that it copies. Links at the ranks carry what they did, for each
// rank is entered once in each tree by a way of the same kind, and relays as much of others' data
// as others relay of its own. Links further in carry less where low parts stay within a box or pod.
#include "solver/symmetry/fewer_peers.hpp"

#include <algorithm>
#include <cstdint>
#include <set>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "forest/depths.hpp"
#include "forest/route_builder.hpp"
#include "forest/route_table.hpp"
#include "forest/symmetry.hpp"
#include "solver/symmetry/network_orbits.hpp"

namespace forestcoll::solver {
namespace {

using Number = std::int32_t;  // of an element, the first generator's exponent as its lowest digit

// Parts of a digit from here on, and into more than so many, are never the fewest.
constexpr Number kMostParts = 32;

/// Between two parts of a number: what is below, of the digit of weight `stride` what is left
/// modulo `side`.
struct NumberCut {
  Number stride, order, side;
  [[nodiscard]] Number low(Number number) const {
    return number % stride + number / stride % order % side * stride;
  }
};

bool moves_all(const Forest& forest) {
  const Symmetry& group = forest.symmetry();
  if (group.size() == 1) return false;
  const auto& image = group.generators().front().ranks;
  for (std::size_t r = 0; r < image.size(); ++r) {
    if (image[Rank(r)] == Rank(r)) return false;
  }
  const auto base = forest.base_trees();
  return std::all_of(base.begin(), base.end(), [&](TreeId t) { return forest.has_images(t); });
}

/// The base trees of a forest, and the ways to divide their stars. A division names for every rank
/// of every base tree the sibling whose way it copies; itself where it stays.
class StarDivider {
 public:
  using Division = std::vector<Rank>;  // by base tree and rank

  StarDivider(const Network& network, const Forest& forest)
      : network_(network), forest_(forest), group_(forest.symmetry()), ranks_(forest.rank_count()) {
    number_ranks();
    find_arc_orbits();
    for (const TreeId t : forest.base_trees()) add_row(t);
  }

  [[nodiscard]] std::vector<NumberCut> cuts() const {
    std::vector<NumberCut> cuts;
    Number stride = 1;
    for (const Symmetry::Generator& generator : group_.generators()) {
      std::set<Number> sides = {generator.order};
      for (Number i = 2; i <= kMostParts && i < generator.order; ++i) {
        sides.insert({i, (generator.order - 1) / i + 1});
      }
      for (const Number side : sides) cuts.push_back({stride, generator.order, side});
      stride *= generator.order;
    }
    cuts.pop_back();  // nothing is above that one
    return cuts;
  }

  [[nodiscard]] Division undivided() const {
    Division division;
    for (std::size_t i = 0; i < parent_.size(); ++i) division.emplace_back(i % ranks_);
    return division;
  }

  // `cuts` from the lowest to the highest.
  [[nodiscard]] Division divided(std::span<const NumberCut> cuts) const {
    Division division = undivided();
    for (std::size_t i = 0; i < parent_.size(); ++i) {
      const Rank x = parent_[i], v(i % ranks_);
      if (!x.valid() || orbit_[x] != orbit_[v]) continue;
      const Number whole = difference(number_[v], number_[x]);
      for (const NumberCut& cut : cuts) {
        const Number low = cut.low(whole);
        if (low == 0) continue;
        const Rank model = image(low, x), above = image(whole - low, x);
        const std::size_t row = i - v.index();
        if (low != whole && parent_[row + model.index()] == x &&
            parent_[row + above.index()] == x) {
          division[i] = model;
        }
        break;
      }
    }
    return division;
  }

  // The most ranks that one sends to, or receives from. What two ranks are to each other, their
  // images are too.
  [[nodiscard]] std::size_t peers(const Division& division) const {
    std::set<std::tuple<Rank, Rank, Number>> kinds;
    for (std::size_t i = 0; i < parent_.size(); ++i) {
      if (!parent_[i].valid()) continue;
      const Rank x = parent_[i], v = division[i];
      kinds.emplace(orbit_[x], orbit_[v], difference(number_[v], number_[x]));
    }
    IdVector<Rank, std::size_t> out(ranks_, 0), in(ranks_, 0);
    std::size_t most = 0;
    for (const auto& [from, to, number] : kinds) most = std::max({most, ++out[from], ++in[to]});
    return most;
  }

  /// A load in terms of a capacity.
  struct Business {
    Int128 load = 0, capacity = 1;
    std::strong_ordering operator<=>(const Business& other) const {
      return load * other.capacity <=> other.load * capacity;
    }
    bool operator==(const Business& other) const { return (*this <=> other) == 0; }
  };

  // Of the busiest arc.
  [[nodiscard]] Business busiest(const Division& division) const {
    std::vector<Int128> load(arc_orbits_.count, 0);
    for (std::size_t i = 0; i < parent_.size(); ++i) {
      if (!parent_[i].valid()) continue;
      const std::size_t row = i / ranks_;
      const auto& path = paths_[row * ranks_ + division[i].index()];
      for (std::size_t hop = 1; hop < path.size(); ++hop) {
        load[arc_orbits_.of[arc(path[hop - 1], path[hop]).index()]] += trees_[row].multiplicity;
      }
    }
    Business most;
    for (std::size_t orbit = 0; orbit < load.size(); ++orbit) {
      most = std::max(most, Business{load[orbit], orbit_capacity_[orbit]});
    }
    return most;
  }

  [[nodiscard]] Forest build(const Division& division) const {
    RouteBuilder builder({forest_.ranks().begin(), forest_.ranks().end()});
    std::vector<Route> routes(parent_.size());
    std::vector<Forest::Tree> trees = trees_;
    for (std::size_t row = 0; row < trees.size(); ++row) {
      std::vector<Rank> parent(ranks_);
      for (std::size_t v = 0; v < ranks_; ++v) {
        const std::size_t i = row * ranks_ + v;
        if (!parent_[i].valid()) continue;
        const Element by =
            group_.element(number(difference(number_[Rank(v)], number_[division[i]])));
        std::vector<NodeId> path = paths_[row * ranks_ + division[i].index()];
        for (NodeId& node : path) node = group_.apply(by, node);
        parent[v] = group_.apply(by, parent_[i]);
        routes[i] = builder.add(parent[v], path);
      }
      trees[row].height = height(parent);
    }
    const std::size_t moved = trees.size();
    return {builder.take(), std::move(trees), std::move(routes), group_, moved};
  }

 private:
  static std::size_t number(Number n) { return static_cast<std::size_t>(n); }

  void number_ranks() {
    number_.assign(ranks_, -1);
    orbit_.assign(ranks_, Rank());
    for (std::size_t r = 0; r < ranks_; ++r) {
      if (number_[Rank(r)] >= 0) continue;
      for (std::size_t i = 0; i < group_.size(); ++i) {
        const Rank v = group_.apply(group_.element(i), Rank(r));
        number_[v] = static_cast<Number>(i);
        orbit_[v] = Rank(r);
      }
    }
  }

  void find_arc_orbits() {
    std::vector<NodeImage> images;
    for (const Symmetry::Generator& generator : group_.generators()) {
      images.push_back(generator.nodes);
    }
    arc_orbits_ = orbits_under(network_, images).arcs;
    orbit_capacity_.assign(arc_orbits_.count, 0);
    for (std::size_t a = 0; a < arc_orbits_.of.size(); ++a) {
      orbit_capacity_[arc_orbits_.of[a]] += network_.capacity[ArcId(a)];
    }
  }

  void add_row(TreeId t) {
    trees_.push_back(forest_.tree(t));
    for (std::size_t v = 0; v < ranks_; ++v) {
      const Rank parent = forest_.parent(t, Rank(v));
      parent_.push_back(parent);
      paths_.push_back(parent.valid() ? forest_.path(t, Rank(v)) : std::vector<NodeId>());
    }
  }

  [[nodiscard]] ArcId arc(NodeId tail, NodeId head) const {
    const ArcId a = network_.graph.find(tail, head);
    FORESTCOLL_CHECK(a.valid(), "trees run over links");
    return a;
  }

  // The element that takes what `from` takes something to, to what `to` takes it to.
  [[nodiscard]] Number difference(Number to, Number from) const {
    Number result = 0, stride = 1;
    for (const Symmetry::Generator& generator : group_.generators()) {
      const Number order = generator.order;
      const Number digit = (to / stride % order - from / stride % order + order) % order;
      result += digit * stride;
      stride *= order;
    }
    return result;
  }

  [[nodiscard]] Rank image(Number n, Rank of) const {
    return group_.apply(group_.element(number(n)), of);
  }

  [[nodiscard]] std::int32_t height(const std::vector<Rank>& parent) const {
    const auto root = std::ranges::find_if(parent, [](Rank above) { return !above.valid(); });
    std::vector<std::int32_t> depth(ranks_);
    return *fill_depths(std::span(depth), static_cast<std::size_t>(root - parent.begin()),
                        [&](std::size_t v) { return parent[v].index(); });
  }

  const Network& network_;
  const Forest& forest_;
  const Symmetry& group_;
  std::size_t ranks_;
  IdVector<Rank, Number> number_;  // of the element that takes the orbit's least rank there
  IdVector<Rank, Rank> orbit_;     // by its least rank
  Partition arc_orbits_;
  std::vector<Int128> orbit_capacity_;  // of all arcs of an orbit
  std::vector<Forest::Tree> trees_;
  std::vector<Rank> parent_;                // by base tree and rank
  std::vector<std::vector<NodeId>> paths_;  // from the parent, likewise
};

struct Candidate {
  std::size_t peers;
  std::vector<NumberCut> cuts;
};

// Those with fewer than `peers`, the fewest first.
std::vector<Candidate> candidates(const StarDivider& divider, int levels, std::size_t peers) {
  std::vector<Candidate> found;
  const auto cuts = divider.cuts();
  const auto try_cuts = [&](std::vector<NumberCut> chosen) {
    const std::size_t left = divider.peers(divider.divided(chosen));
    if (left < peers) found.push_back({left, std::move(chosen)});
  };
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    if (levels == 2) try_cuts({cuts[i]});
    for (std::size_t j = i + 1; levels == 3 && j < cuts.size(); ++j) try_cuts({cuts[i], cuts[j]});
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const Candidate& a, const Candidate& b) { return a.peers < b.peers; });
  return found;
}

}  // namespace

std::optional<FewerPeers> with_fewer_peers(const Network& network, const Forest& forest,
                                           int levels) {
  FORESTCOLL_CHECK(levels == 2 || levels == 3, "levels of a division");
  if (forest.is_in_forest()) {
    auto turned = with_fewer_peers(reversed(network), forest.reversed(), levels);
    if (turned) turned->forest = turned->forest.reversed();
    return turned;
  }
  if (!moves_all(forest)) return std::nullopt;
  const StarDivider divider(network, forest);
  const auto whole = divider.undivided();
  const std::size_t before = divider.peers(whole);
  const auto busiest = divider.busiest(whole);
  for (const Candidate& candidate : candidates(divider, levels, before)) {
    const auto division = divider.divided(candidate.cuts);
    if (divider.busiest(division) != busiest) continue;
    return FewerPeers{divider.build(division), candidate.peers, before};
  }
  return std::nullopt;
}

}  // namespace forestcoll::solver
