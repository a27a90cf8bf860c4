// Allreduces whose phases run at once, and trees that branch at switches: the optimum, and packing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <stop_token>
#include <vector>

#include "forestcoll/branching_forest.hpp"
#include "forestcoll/collective.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/pack.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

/// What trees that branch at the same switches take of one arc.
struct AllreduceArc {
  ArcId arc;  ///< as data flows
  /// Whether they branch at its ends. Where a switch is no branching point, they go through it.
  bool branches_at_tail = false, branches_at_head = false;
  Ratio amount;
};

/// The trees of one phase that branch at the same switches: out-trees, or in-trees.
struct AllreduceTrees {
  /// Trees of one kind are what the fabric's symmetries make of each other; in-trees may be of the
  /// kind of the out-trees that they are, turned round.
  std::size_t kind = 0;
  IdVector<NodeId, NodeId> image;   ///< the symmetry that makes these of the first of the kind
  std::vector<NodeId> switches;     ///< where they branch: every tree spans all of them
  IdVector<NodeId, Ratio> root;     ///< what is broadcast from a node, or reduced at it; 0 for most
  std::vector<AllreduceArc> taken;  ///< positive amounts, without what echoes take
};

/// How an allreduce is divided: in the network's units. What all broadcast trees have at a root,
/// the reduce trees have there, too.
struct AllreduceSplit {
  Ratio algbw;  ///< GB/s: all roots together
  std::vector<AllreduceTrees> broadcast, reduce;
};

struct AllreduceStatistics {
  std::size_t variables = 0;  ///< of the largest linear program, after symmetry
  std::size_t cuts = 0;       ///< rows that were generated for it
  int rounds = 0;             ///< programs solved
};

struct AllreduceOptimum {
  Ratio upper;  ///< GB/s: no schedule of the class is faster, by a sum of cuts in exact arithmetic
  /// What trees reach, by exact maximum flows: the optimum, where that is `upper`. None where the
  /// linear program was not solved, or exact arithmetic does not confirm it.
  std::optional<AllreduceSplit> split = {};
  /// GB/s: what trees reach in floating point, not above `upper`: that of the split where there is
  /// one, else what the linear program is worth. None where it was not solved: then the optimum is
  /// between reduce-scatter, then allgather, and `upper`.
  std::optional<double> value = {};
  /// GB/s, proved like `upper`: no trees that branch at most once at each switch are faster. None
  /// where not all sets of switches were looked at; then more of them might be.
  std::optional<Ratio> of_trees = {};
  AllreduceStatistics statistics;

  [[nodiscard]] bool is_exact() const { return split && split->algbw == upper; }
  /// GB/s.
  [[nodiscard]] std::optional<Ratio> reached() const {
    return split ? std::optional(split->algbw) : std::nullopt;
  }
};

/// How far the linear programs are followed: by count, so that the answer is always the same.
struct AllreduceLimits {
  int rounds = 200;              ///< of cuts, for each program
  std::int64_t pivots = 20'000;  ///< of the simplex, for each program
  /// Sets of switches to branch at, symmetric ones not counted; 0: no trees are looked for, and
  /// `upper`, which does not depend on them, is all that is found.
  std::size_t classes = 40;
  std::stop_token stop = {};
};

/// The highest algbw of an allreduce in the following class of schedules. The data is divided
/// among roots, in any shares; each piece flows to its root along an in-tree that spans the ranks,
/// is added up on the way, and flows back along an out-tree. Both happen at the same time,
/// pipelined, and share the bandwidth of every arc. Ranks add and copy, and so do the switches that
/// can, by their roles: a tree may span such a switch besides the ranks, as a point where it
/// branches. Through other switches a piece takes a path. Roots are ranks, and switches that do
/// both and do not echo. Where a switch echoes, what a rank on it sends to be copied takes the link
/// back as well, and what a rank on it reads combined the link there.
///
/// Reduce-scatter followed by allgather is in the class, with shares that are given and the time of
/// all arcs divided in two (Zhao et al., ForestColl, NSDI'26, ask when that is optimal). Without
/// able switches it is as good on most fabrics whose ranks are alike. On others it can lose up to
/// half: a rank behind a weak link sends and receives everything once, and while it does one, the
/// link's other direction is idle. It never loses more: the optimum's two phases cross every cut
/// one way or the other, so either phase could have as much alone; for the same reason no cut with
/// ranks on both sides is narrower than the optimum, whatever switches can do. What ranks own
/// (`network.weight`) does not matter. Not in the class: results that are computed in several
/// places at once, as by recursive doubling.
///
/// Where both directions of every link are alike, a tree can be used both ways, from any root: the
/// optimum is reached from any single one, and without switches it is the largest fractional
/// packing of undirected spanning trees, min over partitions of (capacity between the parts) /
/// (parts − 1) (Nash-Williams 1961, Tutte 1961). Where they are not, several roots can be needed.
///
/// It is a linear program: maximise Σ x_v such that for every set T of nodes that holds a rank
///   broadcast(arcs into T)   + Σ_{v∈T} x_v ≥ Σ x_v  and
///   reduce(arcs out of T)    + Σ_{v∈T} x_v ≥ Σ x_v,
/// both capacities together, and their echoes, are at most the arc's, what they take of arcs that
/// share a limit is at most that, and each of them enters a switch as much as it leaves it. By
/// Edmonds' theorem (1973), and splitting off at the balanced switches (Bang-Jensen, Frank, Jackson
/// 1995), exactly then there are trees. The fabric's own switches need not be balanced: the program
/// takes a part of the fabric that is.
///
/// A switch where trees branch gets a twin with the same links, which is a node like a rank, but
/// owns nothing: it need not be balanced, and T may hold it alone. Trees that branch at different
/// switches are of different classes, each with shares and capacities of its own. Which classes pay
/// is found by cheap trees at the program's prices. The bound is the program in which data can be
/// mixed in able switches: T must hold a rank, and twins are free. (Network coding could reach
/// it.) Where the classes reach it, it is the optimum; where they do not, the optimum is between.
///
/// Cuts are generated by maximum flows; arcs and ranks that the fabric's symmetries exchange share
/// a variable, classes that they exchange are one, and where both directions of all links are
/// alike, so are reduce and broadcast.
///
/// Where the directions of links differ, the part of the fabric that has both of all is tried
/// first, for its program is smaller.
///
/// Programs are solved in floating point, without the part of an arc's capacity that no trees can
/// use; both answers are then rounded to simple fractions and proved in exact arithmetic, each by
/// itself. Where the first is more than the second, and all sets of switches are among the classes,
/// the program of classes is bounded in the same way, which says whether trees could do better.
/// Where the second proof fails, the bound is the narrowest cut if that is less. Where the
/// program is beyond `limits`, the bound is what it was worth so far, or the narrowest cut.
/// REQUIRES: at least two compute nodes, all of which reach one another; roles as `switch_roles`
/// gives them.
/// Errors: E14 where the exact optimum does not fit.
/// Cost: per round a dual simplex and two maximum flows per orbit of ranks; two maximum flows per
/// rank where capacities are far apart or a proof fails.
[[nodiscard]] Expected<AllreduceOptimum> allreduce_optimum(const Network& network,
                                                           const SwitchRoles& roles = {},
                                                           const AllreduceLimits& limits = {});

// Packing the trees of an allreduce that branch at switches.

struct BranchingOptions {
  PackOptions packing = {};
  /// Trees of each phase, multiplicities counted; none: as many as the optimum takes.
  std::optional<std::int64_t> chunks = {};
  /// No tree higher, edges into and out of switches counted, at whatever rate that leaves.
  std::optional<std::int32_t> max_height = {};
  /// Trees to keep, of the same collective, root and ranks: where a class of trees branches at the
  /// same switches, see `repack`. Not together with `max_height`.
  const BranchingForest* previous = nullptr;
};

/// Whether some switch copies where the collective broadcasts, or combines where it reduces.
[[nodiscard]] bool has_able_switches(const SwitchRoles& roles, Collective collective);

/// The optimum of a collective of one phase, where switches copy or combine.
struct PhaseOptimum {
  Ratio upper;  ///< GB/s, proved: no schedule is faster, whatever switches mix
  /// What trees reach, each by itself, in the network's units; of a reduce turned round, on the
  /// reversed network. Where they reach `upper`, by exact maximum flows, it is the optimum. Empty
  /// where the linear program was not solved or exact arithmetic does not confirm it.
  std::vector<AllreduceSplit> splits = {};
  /// GB/s, as of `AllreduceOptimum`, where trees do not reach `upper`.
  std::optional<Ratio> of_trees = {};

  /// GB/s.
  [[nodiscard]] std::optional<Ratio> reached() const {
    return splits.empty() ? std::nullopt : std::optional(splits.front().algbw);
  }
};

/// No cut gains by what switches can do, as a root's data crosses it once in any case. So where the
/// two sides of every switch are equal, and no links share a capacity, trees over ranks reach the
/// optimum, and trees that branch at switches only take fewer messages one after the other: sets of
/// switches that are tried are those at which a tree of the fewest links branches, and all that
/// can. Where what a switch gives out is more than what it takes in, only copies there use the rest
/// (of a reduce: sums, the other way round), and where what goes into a switch and what comes out
/// of it share a capacity, a copy spares the way back in: then the optimum is what the relaxed
/// program of `allreduce_optimum` allows these roots, and trees of several classes reach it or come
/// near. Without a root all ranks are roots, by their weights. REQUIRES: `collective` is no
/// allreduce, and has a root where it is broadcast or reduce. Errors: E14. Cost: that of
/// `allreduce_optimum`.
[[nodiscard]] Expected<PhaseOptimum> phase_optimum(const Network& network, const SwitchRoles& roles,
                                                   Collective collective, std::optional<Rank> root,
                                                   const AllreduceLimits& limits = {});

/// The trees that `optimum` promises: of its splits the fastest, of equally fast ones that with the
/// fewest messages in turn. Nothing where there is no split, or none could be packed.
/// REQUIRES: `optimum` is of this collective. Cost: a packing per split.
[[nodiscard]] std::optional<BranchingForest> branching_from_root(
    const Network& network, const SwitchRoles& roles, Collective collective, Rank root,
    const PhaseOptimum& optimum, const BranchingOptions& options = {});

/// The trees that `optimum.split` promises. Trees that branch at the same switches are packed into
/// what the split gives them, with a twin beside each of these switches: a rank that owns nothing,
/// or, where a switch is a root, what is rooted there. Other switches are balanced, so by Edmonds'
/// theorem and splitting off (Bang-Jensen, Frank, Jackson 1995) the trees exist. With a given
/// number of chunks, the shares of roots and classes are rounded to them, the largest remainders
/// first, and every class is packed at the highest rate that its capacities then allow. `algbw` is
/// added up from the trees, echoes included. REQUIRES: `optimum` is of this network with these
/// roles, and has a split; `chunks` is positive. Errors: E14 where the split's common denominator
/// is too large and no chunks are given; those of `scale_to_k`, `pack` and `pack_within_height`.
/// Cost: a packing per class of trees and phase, but for those that the fabric's symmetries make of
/// others, and in-trees that are out-trees turned round: their trees are moved there.
[[nodiscard]] Expected<BranchingForest> pack_branching(const Network& network,
                                                       const SwitchRoles& roles,
                                                       const AllreduceOptimum& optimum,
                                                       const BranchingOptions& options = {});

}  // namespace forestcoll
