// Packing again around the trees of a previous forest.
//
// Any set of trees may stand as long as what is left of the capacities carries what is still owed:
// for every set X that holds a compute node, residual capacity into X ≥ Σ_{r∉X} owed_r, with
// balanced switches (see trees/packer.cpp; a tree takes as much from a switch's ingress as from its
// egress). So the previous trees are placed greedily within the capacities alone, and the condition
// is then tested by one flow per sink. Where a cut lacks room, trees that waste it give way: those
// that enter X more often than their root's place demands. Each of them taken back frees more than
// is owed again, and without any of them the cut holds by the choice of the scale, so this ends.
// Capacities and supplies only grow meanwhile, so the sinks that hold stay merged.
#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/check.hpp"
#include "forest/route_builder.hpp"
#include "forest/route_table.hpp"
#include "forestcoll/pack.hpp"
#include "graph/sink_flow.hpp"
#include "solver/common/demand_check.hpp"
#include "solver/common/join_trees.hpp"
#include "solver/common/sink_order.hpp"

namespace forestcoll {
namespace {

// Where balance fails the rest, all that the cuts allow are tried, a half of all trees, and so on
// down to this part of them.
constexpr std::int64_t kFewestKept = 16;

/// A previous tree that the fabric still has all links of.
struct Candidate {
  Rank root;                ///< in the network
  std::int64_t wanted = 0;  ///< its share of what the root owes now
  std::int64_t multiplicity = 0;
  std::int32_t height = 0;
  std::size_t arcs_begin = 0, arcs_end = 0;  ///< in Repacker::uses_
};

/// How often a tree goes over an arc.
struct Use {
  ArcId arc;
  std::int64_t times = 0;
};

class Repacker {
 public:
  Repacker(const Network& network, const Weights& weights, const Scaling& scaling,
           const Forest& previous)
      : network_(network),
        previous_(previous),
        scaling_(scaling),
        residual_(scaling.capacity),
        owed_(weights),
        routes_(network.ranks) {
    for (auto& trees : owed_) trees *= scaling.k;
    total_ = std::accumulate(owed_.begin(), owed_.end(), std::int64_t{0});
    rank_of_previous_.reserve(previous.ranks().size());
    for (const NodeId node : previous.ranks()) rank_of_previous_.push_back(network.rank_of[node]);
    statistics_.previous = static_cast<std::int64_t>(previous.tree_count());
    statistics_.total_multiplicity = total_;
  }

  /// With the previous trees as far as every cut holds, but no more than `part` of all: the first
  /// ones. Nothing where what is left of the switches, whose balance no cut speaks of, does not
  /// carry the rest.
  Expected<std::optional<Repacking>> run(const Ratio& part, const PackOptions& options) {
    collect();
    place();
    give_way();
    keep_no_more_than(part);
    auto rest = pack_rest(options);
    if (!rest) return rest.errors();
    if (!*rest) return std::optional<Repacking>();
    return std::optional(finish(**rest));
  }

  /// A packing from scratch in the place of one that keeps trees.
  Repacking without(Packing packing) {
    collect();
    statistics_.added = static_cast<std::int64_t>(packing.forest.tree_count());
    return {std::move(packing), statistics_};
  }

 private:
  // What is taken back leaves at least as much of each cut as it owes then.
  void keep_no_more_than(const Ratio& part) {
    const auto most = static_cast<std::int64_t>(Int128{total_} * part.num() / part.den());
    std::int64_t kept = 0;
    for (Candidate& tree : candidates_) {
      const std::int64_t all = tree.multiplicity;
      const std::int64_t left = std::min(all, most - kept);
      if (left < all) add(tree, left - all);
      kept += left;
    }
  }

  // The candidates, with their rows of routes and the arcs that they use.
  void collect() {
    std::vector<Route> row(network_.ranks.size());
    std::vector<std::int64_t> times(network_.graph.arc_count(), 0);
    std::vector<ArcId> used;
    for (std::size_t t = 0; t < previous_.tree_count(); ++t) {
      const Rank root = rank_of_previous_[previous_.tree(TreeId(t)).root.index()];
      used.clear();
      const auto height = root.valid() && owed_[root] > 0 ? read_tree(TreeId(t), row, times, used)
                                                          : std::optional<std::int32_t>();
      if (height) {
        Candidate candidate{.root = root, .height = *height, .arcs_begin = uses_.size()};
        for (const ArcId arc : used) {
          if (times[arc.index()] > 0) uses_.push_back({arc, std::exchange(times[arc.index()], 0)});
        }
        candidate.arcs_end = uses_.size();
        candidate.wanted = previous_.tree(TreeId(t)).multiplicity;  // shared out in place()
        candidates_.push_back(candidate);
        rows_.insert(rows_.end(), row.begin(), row.end());
      } else {
        for (const ArcId arc : used) times[arc.index()] = 0;
        ++statistics_.touched;
      }
    }
  }

  // The tree's routes and uses of arcs, and its height; nothing where a link of it is gone, or
  // where a rank that is gone passed data on.
  std::optional<std::int32_t> read_tree(TreeId t, std::vector<Route>& row,
                                        std::vector<std::int64_t>& times,
                                        std::vector<ArcId>& used) {
    std::vector<std::int32_t> depth(previous_.rank_count(), 0);
    std::int32_t height = 0;
    for (const Rank child : previous_.by_depth(t)) {
      const Rank rank = rank_of_previous_[child.index()];
      if (child == previous_.tree(t).root) {
        row[rank.index()] = Route{};
        continue;
      }
      const Rank parent = previous_.parent(t, child);
      if (!rank.valid()) continue;
      if (!rank_of_previous_[parent.index()].valid()) return std::nullopt;
      depth[child.index()] = depth[parent.index()] + 1;
      height = std::max(height, depth[child.index()]);
      const std::vector<NodeId> path = previous_.path(t, child);
      for (std::size_t i = 0; i + 1 < path.size(); ++i) {
        const ArcId arc = network_.graph.find(path[i], path[i + 1]);
        if (!arc.valid() || residual_[arc] == 0) return std::nullopt;
        if (times[arc.index()]++ == 0) used.push_back(arc);
      }
      row[rank.index()] = routes_.add(rank_of_previous_[parent.index()], path);
    }
    return height;
  }

  // Multiplicities as the capacities allow: first in proportion to the previous ones; then more of
  // the same shapes rather than new ones.
  void place() {
    share_out();
    for (Candidate& tree : candidates_) add(tree, std::min(tree.wanted, room(tree)));
    for (Candidate& tree : candidates_) add(tree, room(tree));
  }

  // What is owed by the root, divided as the previous trees divided it; whole numbers by the
  // largest remainders, in the order of the trees where those are equal.
  void share_out() {
    IdVector<Rank, std::int64_t> all(owed_.size(), 0), standing(owed_.size(), 0);
    for (std::size_t t = 0; t < previous_.tree_count(); ++t) {
      const Forest::Tree& tree = previous_.tree(TreeId(t));
      const Rank root = rank_of_previous_[tree.root.index()];
      if (root.valid()) all[root] += tree.multiplicity;
    }
    for (const Candidate& tree : candidates_) standing[tree.root] += tree.wanted;
    IdVector<Rank, std::int64_t> left(owed_.size(), 0);
    for (std::size_t r = 0; r < owed_.size(); ++r) {
      if (standing[Rank(r)] == 0) continue;
      left[Rank(r)] =
          static_cast<std::int64_t>(Int128{owed_[Rank(r)]} * standing[Rank(r)] / all[Rank(r)]);
    }
    std::vector<std::pair<std::int64_t, std::size_t>> remainders;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      Candidate& tree = candidates_[i];
      const Int128 share = Int128{tree.wanted} * owed_[tree.root];
      tree.wanted = static_cast<std::int64_t>(share / all[tree.root]);
      left[tree.root] -= tree.wanted;
      remainders.emplace_back(static_cast<std::int64_t>(share % all[tree.root]), i);
    }
    std::stable_sort(remainders.begin(), remainders.end(),
                     [](const auto& a, const auto& b) { return b.first < a.first; });
    for (const auto& [remainder, i] : remainders) {
      Candidate& tree = candidates_[i];
      if (left[tree.root] == 0) continue;
      ++tree.wanted;
      --left[tree.root];
    }
  }

  [[nodiscard]] std::span<const Use> uses(const Candidate& tree) const {
    return std::span(uses_).subspan(tree.arcs_begin, tree.arcs_end - tree.arcs_begin);
  }

  [[nodiscard]] std::int64_t room(const Candidate& tree) const {
    std::int64_t room = owed_[tree.root];
    for (const Use& use : uses(tree)) room = std::min(room, residual_[use.arc] / use.times);
    return room;
  }

  // Negative: takes back.
  void add(Candidate& tree, std::int64_t multiplicity) {
    tree.multiplicity += multiplicity;
    owed_[tree.root] -= multiplicity;
    for (const Use& use : uses(tree)) residual_[use.arc] -= multiplicity * use.times;
  }

  // Takes trees back until every cut carries what is owed.
  void give_way() {
    graph::SinkFlow flow(network_.graph);
    const auto order = solver::locality_order(network_.graph, network_.capacity, network_.ranks,
                                              network_.ranks.front());
    std::vector<std::int64_t> supply(network_.graph.node_count(), 0);
    const auto load = [&] {
      for (std::size_t r = 0; r < owed_.size(); ++r) {
        supply[network_.ranks[r].index()] = owed_[Rank(r)];
      }
      flow.reset({&*residual_.begin(), residual_.size()}, supply);
      return std::accumulate(owed_.begin(), owed_.end(), std::int64_t{0});
    };
    const std::int64_t demand = load();
    const bool holds = solver::check_all(
        flow, order, demand, [&](const solver::SinkSide& side) -> std::optional<std::int64_t> {
          release(side);
          std::vector<NodeId> merged;
          for (const NodeId v : order) {
            if (flow.is_merged(v)) merged.push_back(v);
          }
          const std::int64_t next = load();
          for (const NodeId v : merged) flow.merge(v);
          return next;
        });
    FORESTCOLL_CHECK(holds, "without kept trees every cut holds");
  }

  // Takes back as much as the violated cut lacks, the last trees first.
  void release(const solver::SinkSide& inside) {
    std::int64_t lack = 0;
    for (std::size_t r = 0; r < owed_.size(); ++r) {
      if (!inside[network_.ranks[r].index()]) lack += owed_[Rank(r)];
    }
    for (std::size_t a = 0; a < residual_.size(); ++a) {
      if (enters(ArcId(a), inside)) lack -= residual_[ArcId(a)];
    }
    for (std::size_t i = candidates_.size(); i-- > 0 && lack > 0;) {
      Candidate& tree = candidates_[i];
      if (tree.multiplicity == 0) continue;
      std::int64_t waste = inside[network_.ranks[tree.root.index()].index()] ? 0 : -1;
      for (const Use& use : uses(tree)) {
        if (enters(use.arc, inside)) waste += use.times;
      }
      if (waste <= 0) continue;
      const std::int64_t released = std::min(tree.multiplicity, (lack + waste - 1) / waste);
      add(tree, -released);
      lack -= released * waste;
    }
    FORESTCOLL_CHECK(lack <= 0, "taking kept trees back must mend a cut");
  }

  [[nodiscard]] bool enters(ArcId arc, const solver::SinkSide& inside) const {
    return !inside[network_.graph.tail(arc).index()] && inside[network_.graph.head(arc).index()];
  }

  /// A packing of what is still owed; none where nothing is. Inner nothing: it does not work out.
  struct Rest {
    std::optional<Packing> packing;
  };

  // In a network of what is left, at a scale of 1.
  Expected<std::optional<Rest>> pack_rest(const PackOptions& options) {
    if (std::all_of(owed_.begin(), owed_.end(), [](auto trees) { return trees == 0; })) {
      return std::optional(Rest{});
    }
    Network left;
    std::vector<Arc> arcs;
    for (std::size_t a = 0; a < residual_.size(); ++a) {
      if (residual_[ArcId(a)] == 0) continue;
      arcs.push_back(network_.graph.arcs()[a]);
      left.capacity.push_back(residual_[ArcId(a)]);
    }
    left.graph = Digraph(network_.graph.node_count(), arcs);
    left.unit = network_.unit;
    left.ranks = network_.ranks;
    left.rank_of = network_.rank_of;
    auto packing = pack(left, owed_, {.k = 1, .scale = 1, .capacity = left.capacity}, options);
    if (!packing) return packing.errors();
    if (Ratio(1) < packing->scaling.scale) return std::optional<Rest>();
    return std::optional(Rest{*std::move(packing)});
  }

  // The kept trees and the new ones, in one forest, by root. A new tree that is the same as a kept
  // one is more of that.
  Repacking finish(Rest& rest) {
    std::vector<Forest::Tree> trees;
    std::vector<Route> routes;
    const std::size_t ranks = network_.ranks.size();
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const Candidate& tree = candidates_[i];
      if (tree.multiplicity == 0) continue;
      trees.push_back({tree.root, tree.multiplicity, tree.height});
      const auto row = rows_.begin() + static_cast<std::ptrdiff_t>(i * ranks);
      routes.insert(routes.end(), row, row + static_cast<std::ptrdiff_t>(ranks));
      statistics_.kept_multiplicity += tree.multiplicity;
    }
    solver::join_equal_trees(trees, routes, ranks);
    statistics_.kept = static_cast<std::int64_t>(trees.size());
    PackStatistics statistics;
    if (rest.packing) {
      statistics = rest.packing->statistics;
      append(rest.packing->forest, trees, routes);
      solver::join_equal_trees(trees, routes, ranks);
      statistics_.added = static_cast<std::int64_t>(trees.size()) - statistics_.kept;
    }
    return {{Forest(routes_.take(), std::move(trees), std::move(routes)), scaling_, statistics},
            statistics_};
  }

  void append(const Forest& added, std::vector<Forest::Tree>& trees, std::vector<Route>& routes) {
    for (std::size_t t = 0; t < added.tree_count(); ++t) {
      trees.push_back(added.tree(TreeId(t)));
      for (std::size_t v = 0; v < added.rank_count(); ++v) {
        routes.push_back(
            Rank(v) == trees.back().root
                ? Route{}
                : routes_.add(added.parent(TreeId(t), Rank(v)), added.path(TreeId(t), Rank(v))));
      }
    }
  }

  const Network& network_;
  const Forest& previous_;
  const Scaling& scaling_;
  IdVector<ArcId, Capacity> residual_;
  Weights owed_;
  std::int64_t total_ = 0;
  RouteBuilder routes_;
  std::vector<Rank> rank_of_previous_;  ///< by previous rank; invalid: gone
  std::vector<Candidate> candidates_;
  std::vector<Use> uses_;
  std::vector<Route> rows_;  ///< one per candidate
  RepackStatistics statistics_;
};

}  // namespace

Expected<Repacking> repack(const Network& network, const Weights& weights, const Scaling& scaling,
                           const Forest& previous, const PackOptions& options) {
  FORESTCOLL_CHECK(!previous.is_in_forest(), "out-trees");
  auto repacked = Repacker(network, weights, scaling, previous).run(1, options);
  if (!repacked) return repacked.errors();
  if (*repacked) return **std::move(repacked);
  // Balance failed the rest. What a packing from scratch reaches is room enough for fewer trees.
  auto packing = pack(network, weights, scaling, options);
  if (!packing) return packing.errors();
  const Scaling reached = packing->scaling;
  for (std::int64_t parts = 1; parts <= kFewestKept; parts *= 2) {
    auto again = Repacker(network, weights, reached, previous).run(Ratio(1, parts), options);
    if (!again) return again.errors();
    if (*again) return **std::move(again);
  }
  return Repacker(network, weights, reached, previous).without(*std::move(packing));
}

}  // namespace forestcoll
