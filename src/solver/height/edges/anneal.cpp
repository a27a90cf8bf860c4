#include "solver/height/edges/anneal.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <optional>
#include <random>
#include <utility>

#include "forest/route_table.hpp"
#include "forestcoll/ratio.hpp"
#include "solver/height/common/groups.hpp"
#include "solver/height/common/routes.hpp"
#include "solver/height/edges/shapes.hpp"

namespace forestcoll::solver {
namespace {

// Steps in which the threshold falls.
constexpr std::int64_t kAnnealRounds = 200;

// One proposal in so many is about a group of ranks.
constexpr std::size_t kGroupShare = 5;

// std::mt19937, whose numbers take 64 bits each there, in half the time.
using Random =
    std::mersenne_twister_engine<std::uint32_t, 32, 624, 397, 31, 0x9908b0df, 11, 0xffffffff, 7,
                                 0x9d2c5680, 15, 0xefc60000, 18, 1812433253>;

// Trees may become higher than they were by so much on the way.
constexpr std::int32_t kHeadroom = 8;

std::size_t pieces(const std::vector<Forest::Tree>& trees, std::uint64_t piece) {
  std::size_t count = 0;
  for (const Forest::Tree& tree : trees) {
    const auto trees_of_it = static_cast<std::uint64_t>(tree.multiplicity);
    count += trees_of_it / piece + static_cast<std::size_t>(std::popcount(trees_of_it % piece));
  }
  return count;
}

// The power of two to split into; nothing where even the largest makes too many.
std::optional<std::uint64_t> piece_for(const std::vector<Forest::Tree>& trees,
                                       std::size_t most_trees, std::int64_t piece) {
  std::uint64_t most = 0;
  for (const Forest::Tree& tree : trees) {
    most = std::max(most, std::bit_floor(static_cast<std::uint64_t>(tree.multiplicity)));
  }
  for (auto p = std::bit_floor(static_cast<std::uint64_t>(piece)); p <= most; p *= 2) {
    if (pieces(trees, p) <= most_trees) return p;
  }
  return std::nullopt;
}

// Into as many pieces of `piece` as there are, and the rest into smaller powers of two.
void split_trees(const TreeRows& rows, std::uint64_t piece) {
  const std::size_t ranks = rows.core.compute.size();
  std::vector<Forest::Tree> trees;
  std::vector<Route> routes;
  for (std::size_t t = 0; t < rows.trees.size(); ++t) {
    const auto row = rows.routes.begin() + static_cast<std::ptrdiff_t>(t * ranks);
    auto left = static_cast<std::uint64_t>(rows.trees[t].multiplicity);
    while (left > 0) {
      const std::uint64_t part = std::min(piece, std::bit_floor(left));
      trees.push_back(rows.trees[t]);
      trees.back().multiplicity = static_cast<std::int64_t>(part);
      routes.insert(routes.end(), row, row + static_cast<std::ptrdiff_t>(ranks));
      left -= part;
    }
  }
  rows.trees = std::move(trees);
  rows.routes = std::move(routes);
}

class Annealing {
 public:
  Annealing(const TreeRows& rows, const Orbits& orbits, int base_bits)
      : rows_(rows),
        orbits_(orbits),
        ranks_(rows.core.compute.size()),
        groups_(wide_groups(rows.core)),
        shapes_(ranks_, base_bits),
        base_bits_(base_bits),
        maker_(rows.core, rows.table),
        users_(rows.core.graph.arc_count()) {
    maker_.note(rows.routes);
    for (std::size_t t = 0; t < rows.trees.size(); ++t) shapes_.add(parents_of(t));
    index_users();
  }

  void run(std::int32_t bound, std::int64_t proposals, const std::stop_token& stop,
           const std::function<void(double)>& progress) {
    const std::int64_t highest = std::int64_t{1} << (base_bits_ * (bound + 1));
    for (std::int64_t left = kAnnealRounds - 1; left >= 0 && !stop.stop_requested(); --left) {
      const auto threshold =
          static_cast<std::int64_t>(Int128{highest} * left * left * left /
                                    (Int128{kAnnealRounds} * kAnnealRounds * kAnnealRounds));
      threshold_ = std::max<std::int64_t>(threshold, 1);
      for (std::int64_t i = 0; i < proposals / kAnnealRounds; ++i) {
        if (!groups_.empty() && below(kGroupShare) == 0) {
          propose_group();
        } else {
          propose_starts();
        }
      }
      measure();
      if (progress) progress(1 - static_cast<double>(left) / kAnnealRounds);
      if (std::all_of(rows_.trees.begin(), rows_.trees.end(),
                      [&](const Forest::Tree& tree) { return tree.height <= bound; })) {
        break;
      }
    }
  }

 private:
  /// An edge of a tree; for the other tree of an exchange in terms of that tree, not of its image.
  struct Edge {
    std::uint32_t tree;
    Rank node;
  };

  // Uniform enough, and the same with every standard library. REQUIRES: n < 2^32.
  std::size_t below(std::size_t n) { return (std::uint64_t{random_()} * n) >> 32; }

  [[nodiscard]] Route& route(Edge edge) {
    return rows_.routes[edge.tree * ranks_ + edge.node.index()];
  }

  std::span<const Rank> parents_of(std::size_t t) {
    parents_.resize(ranks_);
    for (std::size_t v = 0; v < ranks_; ++v) {
      const Route route = rows_.routes[t * ranks_ + v];
      parents_[v] = route.valid() ? rows_.table.origin(route.prefix) : Rank(v);
    }
    return parents_;
  }

  void measure() {
    for (std::size_t t = 0; t < rows_.trees.size(); ++t) rows_.trees[t].height = shapes_.height(t);
  }

  void index_users() {
    for (auto& users : users_) users.clear();
    added_ = 0;
    for (std::size_t t = 0; t < rows_.trees.size(); ++t) {
      for (std::size_t v = 0; v < ranks_; ++v) {
        const Edge edge{static_cast<std::uint32_t>(t), Rank(v)};
        if (route(edge).valid()) add_user(edge);
      }
    }
    added_at_most_ = 2 * added_ + 1024;
  }

  void add_user(Edge edge) {
    for_each_arc(rows_.table, route(edge), [&](ArcId arc) {
      users_[arc].push_back(edge);
      ++added_;
    });
  }

  // What has moved to and fro stands in a list more than once: they are made anew in time.
  void refresh_index() {
    if (added_ > added_at_most_) index_users();
  }

  // The arcs of a route from its origin on, each moved by `g`.
  void arcs_of(Route route, Element g, std::vector<ArcId>& arcs) const {
    arcs.clear();
    for_each_arc(rows_.table, route,
                 [&](ArcId arc) { arcs.push_back(orbits_.arcs.apply(g, arc)); });
    std::reverse(arcs.begin(), arcs.end());
  }

  Route moved(Route route, Element g) {
    if (!route.valid() || g.exponents == 0) return route;
    arcs_of(route, g, scratch_);
    return maker_.along(scratch_);
  }

  Element any_element() { return orbits_.group.element(below(orbits_.group.size())); }

  // One of those whose route uses the arc; entries of others leave the list.
  std::optional<Edge> any_user(ArcId arc) {
    std::vector<Edge>& users = users_[arc];
    while (!users.empty()) {
      Edge& user = users[below(users.size())];
      bool uses = false;
      for_each_arc(rows_.table, route(user), [&](ArcId a) { uses |= a == arc; });
      if (uses) return user;
      user = users.back();
      users.pop_back();
    }
    return std::nullopt;
  }

  Edge any_edge() {
    return {static_cast<std::uint32_t>(below(rows_.trees.size())), Rank(below(ranks_))};
  }

  [[nodiscard]] std::int32_t depth(Edge edge) const { return shapes_.depth(edge.tree, edge.node); }

  // The starts of two routes, of an edge and of the image of another, up to a node on the first
  // one's.
  void propose_starts() {
    // Of two the deeper one: there is more to gain.
    const Edge one = any_edge();
    const Edge other = any_edge();
    const Edge ours = depth(one) < depth(other) ? other : one;
    if (!route(ours).valid()) return;
    arcs_of(route(ours), Element(), our_arcs_);
    const std::size_t at = below(our_arcs_.size());
    const auto in = rows_.core.graph.in(rows_.core.graph.head(our_arcs_[at]));
    const ArcId into = in[below(in.size())];
    const Element g = any_element();
    const Element back = orbits_.group.inverse(g);
    const auto theirs = any_user(orbits_.arcs.apply(back, into));
    if (!theirs || !may_exchange(ours.tree, theirs->tree)) return;
    const Rank our_parent = orbits_.group.apply(g, shapes_.parent(theirs->tree, theirs->node));
    const Rank their_parent = orbits_.group.apply(back, shapes_.parent(ours.tree, ours.node));
    const auto our_change = shapes_.change(ours.tree, ours.node, our_parent);
    const auto their_change = shapes_.change(theirs->tree, theirs->node, their_parent);
    if (!our_change || !their_change || *our_change + *their_change >= threshold_ ||
        shapes_.is_below(ours.tree, ours.node, our_parent) ||
        shapes_.is_below(theirs->tree, theirs->node, their_parent)) {
      return;
    }
    arcs_of(route(*theirs), g, their_arcs_);
    const auto joint = static_cast<std::size_t>(
        std::find(their_arcs_.begin(), their_arcs_.end(), into) - their_arcs_.begin());
    swap_starts(at, joint);
    const Digraph& graph = rows_.core.graph;
    if (!is_simple(graph, our_arcs_) || !is_simple(graph, their_arcs_)) return;
    for (ArcId& arc : their_arcs_) arc = orbits_.arcs.apply(back, arc);
    take(ours, maker_.along(our_arcs_), our_parent);
    take(*theirs, maker_.along(their_arcs_), their_parent);
    refresh_index();
  }

  [[nodiscard]] bool may_exchange(std::size_t t, std::size_t s) const {
    return s != t && rows_.trees[s].multiplicity == rows_.trees[t].multiplicity;
  }

  // The first arcs, up to and with these, change places.
  void swap_starts(std::size_t ours, std::size_t theirs) {
    const auto our_rest = our_arcs_.begin() + static_cast<std::ptrdiff_t>(ours) + 1;
    const auto their_rest = their_arcs_.begin() + static_cast<std::ptrdiff_t>(theirs) + 1;
    scratch_.assign(their_arcs_.begin(), their_rest);
    scratch_.insert(scratch_.end(), our_rest, our_arcs_.end());
    our_arcs_.erase(our_rest, our_arcs_.end());
    our_arcs_.insert(our_arcs_.end(), their_rest, their_arcs_.end());
    their_arcs_.swap(our_arcs_);
    our_arcs_.swap(scratch_);
  }

  void take(Edge edge, Route now, Rank parent) {
    route(edge) = now;
    shapes_.move(edge.tree, edge.node, parent);
    add_user(edge);
  }

  // All that reaches a group's ranks, in one tree and in the image of another.
  void propose_group() {
    const std::vector<Rank>& group = groups_[below(groups_.size())];
    const std::size_t t = below(rows_.trees.size());
    const std::size_t s = below(rows_.trees.size());
    if (!may_exchange(t, s)) return;
    const Element g = any_element();
    const Element back = orbits_.group.inverse(g);
    group_there_.clear();
    for (const Rank r : group) group_there_.push_back(orbits_.group.apply(back, r));
    if (holds(group, rows_.trees[t].root) || holds(group_there_, rows_.trees[s].root)) return;
    our_parents_.clear();
    their_parents_.clear();
    for (std::size_t i = 0; i < group.size(); ++i) {
      our_parents_.push_back(orbits_.group.apply(g, shapes_.parent(s, group_there_[i])));
      their_parents_.push_back(orbits_.group.apply(back, shapes_.parent(t, group[i])));
    }
    const auto our_change = shapes_.change(t, group, our_parents_);
    if (!our_change) return;
    const auto their_change = shapes_.change(s, group_there_, their_parents_);
    if (!their_change || *our_change + *their_change >= threshold_) return;
    for (std::size_t i = 0; i < group.size(); ++i) {
      const Edge ours{static_cast<std::uint32_t>(t), group[i]};
      const Edge theirs{static_cast<std::uint32_t>(s), group_there_[i]};
      const Route before = route(ours);
      route(ours) = moved(route(theirs), g);
      route(theirs) = moved(before, back);
      add_user(ours);
      add_user(theirs);
    }
    shapes_.move(t, group, our_parents_);
    shapes_.move(s, group_there_, their_parents_);
    refresh_index();
  }

  static bool holds(std::span<const Rank> group, Rank r) {
    return std::find(group.begin(), group.end(), r) != group.end();
  }

  TreeRows rows_;
  const Orbits& orbits_;
  std::size_t ranks_;
  std::vector<std::vector<Rank>> groups_;
  TreeShapes shapes_;
  int base_bits_;
  RouteMaker maker_;
  IdVector<ArcId, std::vector<Edge>> users_;  ///< may hold edges that no longer use the arc
  std::size_t added_ = 0, added_at_most_ = 0;
  std::int64_t threshold_ = 1;
  Random random_{0};  ///< the same on every machine
  std::vector<ArcId> our_arcs_, their_arcs_, scratch_;
  std::vector<Rank> parents_, group_there_, our_parents_, their_parents_;
};

std::int32_t tallest(const std::vector<Forest::Tree>& trees) {
  std::int32_t height = 0;
  for (const Forest::Tree& tree : trees) height = std::max(height, tree.height);
  return height;
}

}  // namespace

void anneal_heights(const TreeRows& rows, const Orbits& orbits, std::int32_t bound,
                    std::size_t most_trees, std::int64_t piece, std::int64_t proposals,
                    const std::stop_token& stop, const std::function<void(double)>& progress) {
  const std::int32_t before = tallest(rows.trees);
  const auto base_bits = TreeShapes::base_bits_for(before + kHeadroom, rows.core.compute.size());
  if (!base_bits) return;
  if (const auto p = piece_for(rows.trees, most_trees, piece)) split_trees(rows, *p);
  Annealing(rows, orbits, *base_bits).run(bound, proposals, stop, progress);
}

}  // namespace forestcoll::solver
