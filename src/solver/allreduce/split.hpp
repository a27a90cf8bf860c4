// What a solution of the allreduce program says that trees take, in fractions and whole numbers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"
#include "solver/allreduce/allreduce_program.hpp"
#include "solver/linear/cut_generation.hpp"
#include "solver/linear/cut_proof.hpp"

namespace forestcoll::solver {

/// Of all images of all classes, those without trees left out; `algbw` is left open.
/// Cost: O(images · arcs · log degree).
[[nodiscard]] AllreduceSplit split_of(const Network& network, const AllreduceProgram& program,
                                      const ExactSolution& solution);

/// Puts what a solved program reaches into `optimum` (split and value), exactly where that can be
/// proved, unless what is there is more. `upper`, in the network's units, is not exceeded.
/// Cost: that of `prove_reached` and `prove_best_reached`.
void add_reached(const Network& network, const AllreduceProgram& program,
                 const CutGeneration& generation, const Ratio& upper, AllreduceOptimum& optimum);

/// The unit in which all amounts of a split are whole; or, where they have no common one of
/// 64 bits, a 2^32nd of the largest one, to whose multiples they are rounded down.
class SplitUnits {
 public:
  /// REQUIRES: something is broadcast. Cost: linear in the split.
  explicit SplitUnits(const AllreduceSplit& split);

  [[nodiscard]] bool exact() const { return exact_; }
  /// REQUIRES: one of the split's amounts, or 0.
  [[nodiscard]] std::int64_t count(const Ratio& amount) const;

 private:
  Ratio unit_;  ///< or the largest amount, where that is not exact
  bool exact_ = true;
};

/// What trees take of every arc, as sums of paths through switches from rank to rank: so as much
/// enters a switch as leaves it, exactly, and arcs of an orbit are taken alike. Some millionths
/// below `values` (by variable of the program), by a common denominator that keeps every capacity
/// row. Of what is owned there is nothing in it. Nothing where numbers do not fit.
/// REQUIRES: a program without switches that copy or combine. Cost: O(m · hops · degree).
[[nodiscard]] std::optional<ExactSolution> whole_paths(const AllreduceFabric& fabric,
                                                       const AllreduceProgram& program,
                                                       std::span<const double> values);

}  // namespace forestcoll::solver
