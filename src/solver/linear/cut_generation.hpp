// Solving programs of trees: with the cuts that are known, find cuts that the solution violates by
// maximum flows, add them, solve again. The first program without a violated cut is the whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <stop_token>
#include <vector>

#include "solver/linear/cut_program.hpp"
#include "solver/linear/cut_proof.hpp"
#include "solver/linear/linear_program.hpp"

namespace forestcoll::solver {

struct CutLimits {
  int rounds = 100;
  std::stop_token stop = {};
  std::int64_t pivots = LinearProgram::kAnyPivots;  ///< of all rounds together
};

/// In floating point: what it finds is for the exact proofs of cut_proof.hpp to confirm.
class CutGeneration {
 public:
  /// REQUIRES: `program` outlives this.
  explicit CutGeneration(const CutProgram& program);

  /// Begins with the cuts of a program whose commodities are the first of this one's, too.
  void take_cuts(const CutGeneration& before);

  enum class Outcome {
    complete,    ///< no cut is violated
    unsolvable,  ///< floating point found no optimum with the cuts so far
    given_up     ///< more rounds or pivots than the limits allow, or stopped
  };
  /// Cost: per round a dual simplex and a maximum flow per commodity and sink.
  Outcome run(const CutLimits& limits);

  /// Adds cuts that `values` (by variable) violate by more than this part of the data; false where
  /// there are none that are not known. Cost: a maximum flow per commodity and sink.
  bool add_cuts_violated_by(std::span<const double> values, double tolerance);
  /// The same exactly. REQUIRES: what all arcs of a commodity take, and all nodes own, fits 61
  /// bits.
  bool add_cuts_violated_by(const ExactSolution& solution);

  /// Of the last program that was solved; empty where none was.
  [[nodiscard]] const std::vector<double>& values() const { return values_; }
  /// By row: capacities, balances, and the cuts that it had.
  [[nodiscard]] const std::vector<double>& prices() const { return prices_; }
  /// What its solution is worth.
  [[nodiscard]] double worth() const;

  /// The cuts that were generated, as rows and as the sides that data enters.
  [[nodiscard]] std::span<const std::vector<Term>> cuts() const { return cuts_; }
  [[nodiscard]] std::span<const SinkSide> sides() const { return sides_; }
  [[nodiscard]] int rounds() const { return rounds_; }

 private:
  void begin();
  void add_first_cuts(std::size_t commodity);
  void remember();
  bool add_violated(std::span<const std::int64_t> parts, double tolerance);
  bool add_cut(std::size_t commodity, const SinkSide& side);

  const CutProgram& program_;
  LinearProgram solver_;
  std::vector<std::vector<Term>> cuts_;
  std::vector<SinkSide> sides_;
  std::vector<std::size_t> commodity_of_;  // of cuts
  std::set<std::vector<Term>> known_;
  std::vector<double> values_, prices_;
  double scale_ = 1;
  int rounds_ = 0;
};

}  // namespace forestcoll::solver
