// The algorithms, one file each.
#pragma once

#include "baseline/implicit_forest.hpp"

namespace forestcoll::baseline {

/// The rings that the vendor's library has for such boxes, else those that NCCL searches for; or
/// those of its graph file. All collectives.
[[nodiscard]] Expected<BaselineResult> nccl_ring(const Request& request);

/// One ring in rank order, each hop by the fewest arcs: what papers call Ring on tori and meshes.
/// Hops between ranks that no switches join are relayed by the ranks between them, as the routers
/// of such machines do; then the rate alone is known. All collectives.
[[nodiscard]] Expected<BaselineResult> naive_ring(const Request& request);

/// NCCL's double binary tree, allreduce alone (Sanders, Speck, Träff, "Two-tree algorithms for full
/// bandwidth broadcast, reduction and scan", 2009): two complementary binary trees over the boxes,
/// a chain inside each box, one such pair per rail; each tree carries half of its rail's data up
/// and down again. The tree's data is owned by its root. Chains follow the rings of the box, from
/// the rank beside the rail's NIC.
/// Differs from NCCL: channels are one per rail; inside boxes NCCL may split a chain's ends over
/// two ranks ("split tree"). Errors: B01, B08.
[[nodiscard]] Expected<BaselineResult> double_tree(const Request& request);

/// The same over the boxes; inside, the rank beside the NIC hands to all others directly: fewer
/// hops than a chain, and two chunks per rail however many boxes there are. Errors: those of
/// `double_tree`; B02 one box.
[[nodiscard]] Expected<BaselineResult> double_tree_direct(const Request& request);
/// The same over the boxes; inside in binomial trees, the farthest on the ring first, for boxes of
/// so many GPUs that one cannot hand to all others. Errors: the same.
[[nodiscard]] Expected<BaselineResult> double_tree_binomial(const Request& request);

/// NVLink SHARP, allreduce alone: each GPU of a box reads the sum of its share through the switch
/// and stores it at all. In one box every GPU has a share; with an echo, C / (1 + 1/N) is reached,
/// C the bandwidth of a GPU to all switches that multicast and reduce. Between boxes (NCCL's
/// NVLSTree), those beside the NICs of a rail exchange what they read along the rail's double
/// binary tree before it is stored. Errors: B03, B04, B08.
[[nodiscard]] Expected<BaselineResult> nvls(const Request& request);

/// Recursive doubling (allgather) and halving (reduce-scatter), one after the other for allreduce
/// (Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations in MPICH",
/// 2005), nearest rank first. N must be a power of two, error B02. Ranks that no switches join have
/// their messages relayed; then the rate alone is known.
[[nodiscard]] Expected<BaselineResult> halving_doubling(const Request& request);

/// Bruck's concatenation (Bruck et al., "Efficient algorithms for all-to-all communications in
/// multiport message-passing systems", 1997), with one port, for any N.
[[nodiscard]] Expected<BaselineResult> bruck(const Request& request);

/// MultiTree (Huang et al., ISCA 2021): the trees of all roots grow together, in turn, an edge at a
/// time, each from the rank that it reached first; a link that is used is free again in the next
/// time step.
/// Differs: a link carries in a time step as many edges as it is times as fast as the slowest;
/// switches are passed through by free links, not modelled with their own routing. Errors: B04
/// beyond 512 ranks.
[[nodiscard]] Expected<BaselineResult> multitree(const Request& request);

/// Breadth-first broadcast (Zhao et al., "Efficient direct-connect topologies for collective
/// communications", NSDI 2025): every rank gets a root's data over a shortest path, from its
/// neighbours one step nearer to the root, in parts that a linear program per rank and step
/// balances over its links.
/// Differs: the parts are multiples of 1/k, found exactly for each k by maximum flow, with the k
/// out of 1, 2, 3, 4, 6, 8, 12 that comes out fastest; two ranks that switches join are neighbours,
/// at the width of one shortest path. Errors: B04 beyond 512 ranks.
[[nodiscard]] Expected<BaselineResult> bfb(const Request& request);

/// In two levels (Cho et al., "BlueConnect", 2019; the two-level rings of many libraries): data
/// goes round the ranks of its rail, one per box, and each of these passes it on round its box, on
/// the rings of `nccl_ring`. A reduce-scatter does it backwards. Errors: B01; B02 boxes of
/// different sizes; B08.
[[nodiscard]] Expected<BaselineResult> hierarchical(const Request& request);

/// In the manner of TACOS (Won et al., MICRO 2024): over an expanding time line, each free link is
/// matched with a chunk that its receiver lacks and its sender has.
/// Differs: TACOS takes a random chunk and the best of many runs; here it is the chunk that the
/// fewest ranks have, the lowest root of equals, in one run. A link carries in a time step as many
/// chunks as it is times as fast as the slowest. Errors: B04 beyond 512 ranks.
[[nodiscard]] Expected<BaselineResult> greedy(const Request& request);

/// Stars: a message from every root to every other rank, all at once.
[[nodiscard]] Expected<BaselineResult> direct(const Request& request);

/// The same in two levels: to one GPU in every other box, of the same place where that is, which
/// hands on to its box. Error B02: one box.
[[nodiscard]] Expected<BaselineResult> two_level_direct(const Request& request);

/// Parallel aggregated trees (NCCL 2.23; Jeaugey, 2025): Bruck's trees with the farthest ranks
/// first.
/// Differs: all ranks take part, where NCCL has one GPU per node; nothing is cut to the size of a
/// buffer, which pipelining of pieces does here.
[[nodiscard]] Expected<BaselineResult> pat(const Request& request);

/// The same from box to box along the root's rail, and then directly to all of each box: on many
/// boxes, fewer peers than a direct exchange in two levels, and shorter chains than rings. Error
/// B02: one box.
[[nodiscard]] Expected<BaselineResult> rail_pat(const Request& request);

/// The same along the rail, and round each box too, for boxes of so many GPUs that a direct
/// exchange takes too many messages (both levels in logarithmic steps: Bienz, Gautam, Kharel, "A
/// locality-aware Bruck allgather", EuroMPI 2022).
/// Differs from both: no box gathers its own data first, as all of its NICs send from the start.
/// Error B02: one box.
[[nodiscard]] Expected<BaselineResult> two_level_pat(const Request& request);

/// Swing (De Sensi et al., NSDI 2024), on one dimension; and Bine trees (De Sensi et al., SC 2025),
/// whose butterflies are the same, and which serve broadcast and reduce, too. Any even number that
/// the steps reach. Error B02.
[[nodiscard]] Expected<BaselineResult> swing(const Request& request);

}  // namespace forestcoll::baseline
