// Methods that improve an answer, one file each.
#pragma once

#include <stop_token>
#include <vector>

#include "solver/alltoall/folded.hpp"
#include "solver/alltoall/instance/answer.hpp"
#include "solver/alltoall/instance/instance.hpp"
#include "solver/alltoall/program.hpp"

namespace forestcoll::solver::alltoall {

/// Makes the arcs that leave these nodes the answer's lengths, and names the nodes.
void take_cut(const Instance& instance, const std::vector<bool>& sends, Answer& answer);

/// Puts a cut in place of the lengths where one proves no less: people can read it. Lengths that
/// are averages over symmetries often stand for many cuts that are alike, and each arc that is long
/// points at one: the nodes from which the arc is on a shortest path to its head (in a graph whose
/// distances are a sum of cuts this is a side of a cut; Djoković 1973).
/// Cost: O(m log n) per orbit of arcs, for some of them.
void prefer_cut(const Instance& instance, Answer& answer);

/// The cut that proves most of those around what links faster than some capacity join: boxes, where
/// the network between them is slower, and single ranks. Nothing where links have many capacities
/// or only one. Cost: O(m + ranks²) for each island.
void consider_islands(const Instance& instance, Answer& answer);

/// Trees: all that a source sends goes over one tree of cheapest paths, source by source, where a
/// link costs exp(a · (its load − 1)) over its capacity, with loads at the rate that is proved so
/// far. Where `gap` is not reached so, again in five pieces: a half of what every source sends, a
/// quarter and so on, each over a tree that sees the pieces before. On clusters, where a box or a
/// NIC is what everybody waits for, that is an interval of some percent before a better method has
/// begun. Nothing where no rate is proved. Cost: O(sources · m log n) for each of six trees.
void consider_trees(const Instance& instance, double gap, Answer& answer);

struct FirstOrderLimits {
  double gap = 0;           ///< that is near enough, as a fraction of the bound
  int iterations = 20'000;  ///< more than ever was needed: single precision has said all by then
  int threads = 1;
  std::stop_token stop;
};

/// Improves `answer` by the first-order method, whose lengths and flows are proved as they come,
/// until it is near enough or `stop` asks for what there is. Returns how many iterations that took:
/// 0 where there was nothing to do, or too much for memory.
/// Cost: O(sources · m) per iteration, and a proof now and then.
int improve(const Instance& instance, const Folded& folded, const FirstOrderLimits& limits,
            Answer& answer);

/// Improves `answer` by what the program says. Where floating point is near a vertex, fractions are
/// guessed from its values, and where they do not prove the optimum, solved for from the
/// constraints that look tight. Either side may stay as it was.
/// Cost: a simplex, a few proofs, at most two sparse eliminations.
void solve_by_simplex(const Instance& instance, const Program& program, Answer& answer);

}  // namespace forestcoll::solver::alltoall
