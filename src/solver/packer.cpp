// Packing spanning trees straight into a switched fabric, by lazy cuts.
//
// Let q_r be the trees that root r still owes. A completion exists as long as, for every set X
// that holds a compute node,
//     residual capacity into X ≥ Σ_{r∉X} q_r   (+ a tree in progress that has not reached X),
// provided that every switch can pass on what enters it: balanced switches can be split off
// without lowering any of these cuts (Bang-Jensen, Frank, Jackson 1995, after Mader), and what
// remains is Edmonds' theorem (1973) on disjoint branchings. A route through switches takes as
// much from a switch's ingress as from its egress, so balance is kept.
//
// Testing that invariant for each step is what made published packers slow. Here trees grow
// greedily, guarded only by a pool of known cuts, and the invariant is tested after whole batches
// by one flow per sink. A violated cut joins the pool, and the newest trees that damage it are
// taken back: that never lowers any cut's slack, so the sinks that were already tested stay good
// and the same pass goes on. Each failed test adds a cut that the pool lacked, so this ends.
// When nothing is owed any more, the forest itself is the proof.
#include "solver/packer.hpp"

#include <algorithm>
#include <vector>

#include "base/check.hpp"
#include "graph/sink_flow.hpp"
#include "solver/demand_check.hpp"
#include "solver/growth.hpp"
#include "solver/packing_state.hpp"
#include "solver/sink_order.hpp"

namespace forestcoll::solver {
namespace {

// Trees between two tests of the invariant, at first.
constexpr std::size_t kFirstBatch = 16;

// Failed tests of one tree after which its edges are tested one by one.
constexpr int kFailedTests = 4;

// Routes through switches that are tried for one edge: few, and all (in effect) before a tree is
// called impossible.
constexpr int kRoutesTried = 64;
constexpr int kAllRoutes = 1 << 20;

// The core with one more node, the source of the tree in progress, that leads to every rank: what
// the tree has reached may pass its data on.
Digraph with_tree_source(const Core& core) {
  const std::size_t n = core.graph.node_count();
  std::vector<Arc> arcs(core.graph.arcs().begin(), core.graph.arcs().end());
  for (const NodeId v : core.compute) arcs.push_back({NodeId(n), v});
  return Digraph(n + 1, arcs);
}

class Packer {
 public:
  Packer(const Core& core, const IdVector<Rank, std::int64_t>& owed, const Progress& progress)
      : core_(core),
        state_(core, owed),
        growth_(state_, [this](std::span<const ArcId> route) { return allows(route); }),
        progress_(progress),
        flow_(with_tree_source(core)),
        edge_flow_(core.graph),
        order_(locality_order(core.graph, core.capacity, core.compute, first_root(core, owed))),
        total_(state_.total_owed()),
        least_owed_(total_) {}

  std::optional<PackedTrees> run() {
    if (!seed_pool()) return std::nullopt;
    while (state_.total_owed() > 0) {
      for (std::size_t r = 0; r < core_.compute.size(); ++r) {
        while (state_.owed(Rank(r)) > 0) {
          if (!pack_one(Rank(r))) return std::nullopt;
        }
      }
    }
    statistics_.cuts = static_cast<std::int64_t>(state_.pool().size());
    return PackedTrees{state_.release(), statistics_};
  }

 private:
  // The order of sinks starts at a root, so that for a single root its cuts come first.
  static NodeId first_root(const Core& core, const IdVector<Rank, std::int64_t>& owed) {
    const auto it = std::find_if(owed.begin(), owed.end(), [](auto q) { return q > 0; });
    return core.compute[static_cast<std::size_t>(it - owed.begin())];
  }

  // The tight cuts of the untouched fabric. False where its capacities cannot carry the demand.
  bool seed_pool() {
    const std::int64_t demand = load_flow();
    for (const NodeId sink : order_) {
      if (!flow_.send(sink, demand)) return false;
      SinkSide side = flow_.tight_sink_side(sink);
      if (std::count(side.begin(), side.end(), true) > 1) add_cut(std::move(side));
      flow_.merge(sink);
    }
    return true;
  }

  bool pack_one(Rank root) {
    state_.begin_tree(root);
    exact_ = failed_tests_ >= kFailedTests && unverified_.empty();
    bool verified = false;
    int routes = kRoutesTried;
    while (!verified) {
      if (!growth_.extend(routes, routes == kAllRoutes)) {
        if (!exact_ && test_and_repair()) continue;
        // The invariant holds, yet a tree this wide does not go on from here.
        if (state_.growing().multiplicity == 1) {
          if (routes == kAllRoutes) return false;
          routes = kAllRoutes;
          continue;
        }
        shrink_to_extend();
        ++statistics_.splits;
      } else if (!exact_ && state_.total_owed() > 0 && unverified_.size() + 1 >= batch_) {
        // Tested before it is finished, a tree loses only the subtrees that do damage.
        verified = !test_and_repair();
      } else {
        break;
      }
    }
    const SlotId slot = state_.finish_tree();
    if constexpr (base::check_proofs) prove_pool();
    if (!verified && !exact_) unverified_.push_back(slot);
    if (state_.total_owed() < least_owed_) {
      least_owed_ = state_.total_owed();
      failed_tests_ = 0;
    }
    if (progress_) {
      progress_(1.0 - static_cast<double>(state_.total_owed()) / static_cast<double>(total_));
    }
    return true;
  }

  // The exact test of one edge x→y, where the invariant is known to hold: with x merged into the
  // source and the tree in progress left out, y must receive all owed trees and this one. The only
  // cuts that the edge harms hold y and some reached node but not x, and those are what is tested.
  // A route through switches enters other cuts as well: it is taken on trust, and the next test of
  // all sinks judges it.
  bool allows(std::span<const ArcId> route) {
    if (!exact_) return true;
    if (route.size() > 1) {
      exact_ = false;
      return true;
    }
    const NodeId x = core_.graph.tail(route.front());
    const NodeId y = core_.graph.head(route.front());
    load_residual();
    edge_flow_.reset(std::span(capacity_).first(core_.graph.arc_count()),
                     std::span(supply_).first(core_.graph.node_count()));
    edge_flow_.merge(x);
    if (edge_flow_.send(y, state_.total_owed() + state_.growing().multiplicity)) return true;
    add_cut(edge_flow_.tight_sink_side(y));
    return false;
  }

  // The largest smaller multiplicity at which some rank can be attached; at 1 if nowhere.
  void shrink_to_extend() {
    std::int64_t fits = 1;
    std::int64_t fails = state_.growing().multiplicity;
    while (fails - fits > 1) {
      const std::int64_t middle = fits + (fails - fits) / 2;
      state_.set_multiplicity(middle);
      (growth_.can_extend(kRoutesTried) ? fits : fails) = middle;
    }
    state_.set_multiplicity(fits);
  }

  void load_residual() {
    const std::size_t arcs = core_.graph.arc_count();
    capacity_.assign(arcs + core_.compute.size(), 0);
    supply_.assign(core_.graph.node_count() + 1, 0);
    for (std::size_t a = 0; a < arcs; ++a) capacity_[a] = state_.residual(ArcId(a));
    for (std::size_t r = 0; r < core_.compute.size(); ++r) {
      supply_[core_.compute[r].index()] = state_.owed(Rank(r));
    }
  }

  std::int64_t load_flow() {
    load_residual();
    const std::size_t arcs = core_.graph.arc_count();
    const std::size_t n = core_.graph.node_count();
    const GrowingTree& tree = state_.growing();
    supply_[n] = tree.multiplicity;
    if (tree.active()) {
      // Arcs of the source follow the core's, by head.
      for (const Rank r : tree.reached) capacity_[arcs + source_arc(r)] = tree.multiplicity;
    }
    flow_.reset(capacity_, supply_);
    return state_.total_owed() + tree.multiplicity;
  }

  // The position of the rank's node among all compute nodes by id.
  std::size_t source_arc(Rank r) {
    if (by_id_.empty()) {
      by_id_.assign(core_.compute.begin(), core_.compute.end());
      std::sort(by_id_.begin(), by_id_.end());
    }
    const auto it = std::lower_bound(by_id_.begin(), by_id_.end(), core_.compute[r.index()]);
    return static_cast<std::size_t>(it - by_id_.begin());
  }

  // Tests the invariant at every sink. Violated cuts join the pool and trees are taken back until
  // all hold. True where something was violated.
  bool test_and_repair() {
    ++statistics_.checks;
    const std::size_t packed = unverified_.size() + 1;
    const std::size_t cuts = state_.pool().size();
    // Neighbours in what is left, not in the whole fabric: late in the packing they differ.
    order_ = locality_order(core_.graph, state_.residual(), core_.compute, order_.front());
    const std::int64_t demand = load_flow();
    check_all(flow_, order_, demand, [&](SinkSide side) -> std::optional<std::int64_t> {
      side.pop_back();  // the tree's source is no node of the core
      repair(side);
      reload_flow();
      return state_.total_owed() + state_.growing().multiplicity;
    });
    adapt_batch(packed, packed - unverified_.size() - 1);
    unverified_.clear();
    const bool violated = state_.pool().size() > cuts;
    if (violated) ++failed_tests_;
    exact_ = failed_tests_ >= kFailedTests;
    return violated;
  }

  // Proof level: what the pool has added up step by step is what the definition says.
  void prove_pool() {
    for (std::size_t x = 0; x < state_.pool().size(); ++x) {
      const SinkSide& inside = state_.pool().inside(CutId(x));
      FORESTCOLL_CHECK(state_.pool().slack(CutId(x)) == state_.slack_of(inside),
                       "a cut's slack is its definition");
      FORESTCOLL_CHECK(state_.pool().slack(CutId(x)) >= 0, "the pool's invariant");
    }
  }

  // Larger batches while little has to be taken back.
  void adapt_batch(std::size_t packed, std::size_t removed) {
    if (removed * 2 >= packed) {
      batch_ = std::max<std::size_t>(1, std::min(batch_, packed) / 2);
    } else if (removed * 8 <= packed && packed >= batch_) {
      batch_ *= 2;
    }
  }

  // After a repair: new capacities and supplies, the same merged sinks.
  void reload_flow() {
    std::vector<NodeId> merged;
    for (const NodeId v : order_) {
      if (flow_.is_merged(v)) merged.push_back(v);
    }
    load_flow();
    for (const NodeId v : merged) flow_.merge(v);
  }

  CutId add_cut(SinkSide side) {
    side.resize(core_.graph.node_count());
    const bool reached = state_.growing().active() && state_.growing_reaches(side);
    return state_.pool().add(side, state_.slack_of(side), reached);
  }

  // Makes the violated cut hold: first by dropping what enters it needlessly from the tree in
  // progress, then by taking back the newest trees that do.
  void repair(const SinkSide& side) {
    const CutId x = add_cut(side);
    CutPool& pool = state_.pool();
    FORESTCOLL_CHECK(pool.slack(x) < 0, "a violated cut has negative slack");
    while (pool.slack(x) < 0 && drop_newest_entry(side)) ++statistics_.repairs;
    for (std::size_t i = unverified_.size(); i-- > 0 && pool.slack(x) < 0;) {
      const SlotId slot = unverified_[i];
      const bool outside = !side[core_.compute[state_.root(slot).index()].index()];
      if (state_.entries(slot, side) <= (outside ? 1 : 0)) continue;
      state_.remove_tree(slot);
      unverified_.erase(unverified_.begin() + static_cast<std::ptrdiff_t>(i));
      ++statistics_.repairs;
    }
    FORESTCOLL_CHECK(pool.slack(x) >= 0, "taking trees back must mend a cut");
  }

  // Takes the newest edge of the tree in progress that damages the cut back; false without one.
  // The first entry of a tree from outside is no damage, if the route then ends inside.
  bool drop_newest_entry(const SinkSide& side) {
    const GrowingTree& tree = state_.growing();
    if (!tree.active()) return false;
    bool free_entry = !side[tree.root.index()];
    Rank newest;
    for (const Rank r : tree.reached) {
      const Route route = tree.routes[r];
      const std::int64_t entries = route.valid() ? state_.entries(route, side) : 0;
      if (entries == 0) continue;
      const bool ends_inside = side[core_.compute[r.index()].index()];
      if (entries > (free_entry && ends_inside ? 1 : 0)) newest = r;
      if (ends_inside) free_entry = false;
    }
    if (!newest.valid()) return false;
    state_.detach_subtree(newest);
    return true;
  }

  const Core& core_;
  PackingState state_;
  Growth growth_;
  const Progress& progress_;
  graph::SinkFlow flow_;       ///< for the test of all sinks
  graph::SinkFlow edge_flow_;  ///< for the test of one edge
  std::vector<NodeId> order_;
  std::vector<NodeId> by_id_;
  std::int64_t total_;
  std::vector<std::int64_t> capacity_, supply_;
  std::vector<SlotId> unverified_;
  std::size_t batch_ = kFirstBatch;
  bool exact_ = false;    ///< the invariant holds as things stand, and edges are tested one by one
  int failed_tests_ = 0;  ///< since fewer trees than ever were owed
  std::int64_t least_owed_;
  PackStatistics statistics_;
};

}  // namespace

std::optional<PackedTrees> pack_trees(const Core& core, const IdVector<Rank, std::int64_t>& owed,
                                      const Progress& progress) {
  return Packer(core, owed, progress).run();
}

}  // namespace forestcoll::solver
