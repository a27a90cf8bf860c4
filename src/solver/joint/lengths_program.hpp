// The best lengths of links by cutting planes, and with them trees and paths by column generation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <stop_token>
#include <vector>

#include "forestcoll/network.hpp"
#include "solver/joint/portions.hpp"
#include "solver/joint/pricing.hpp"
#include "solver/linear/linear_program.hpp"

namespace forestcoll::solver {

/// A tree or a system of paths that was found, for a piece.
struct Column {
  std::size_t portion = 0, way = 0, piece = 0;
  Crossing crossing;
};

/// minimise the time in which all portions are sent by columns, of which those so far are known:
/// each way of a portion sends what every piece of it sends by its trees, all ways together the
/// portion, and a class of links or limits carries c(e) in a unit of time (column generation). The
/// prices of classes are lengths y ≥ 0 with Σ c(e) · y(e) ≤ Σ c(e), the other side of the proof:
/// they maximise Σ copies · amount · cost, where the cost of a portion is at most that of each of
/// its ways, and of a piece at most the length of each of its trees; a cheaper tree is a column
/// that is missing (Kelley 1960). Costs of paths are of one of their parts, so that all are of one
/// size. In floating point.
class LengthsProgram {
 public:
  /// REQUIRES: all of them outlive this.
  LengthsProgram(const Network& network, const Portions& portions);

  struct Limits {
    int rounds = 0;
    std::int64_t pivots = 0;
    std::stop_token stop = {};
    /// Ends where lengths prove that no time is as short, in units of amount by capacity.
    double longest = std::numeric_limits<double>::infinity();
  };
  /// Lengths at which trees are sought lie between the program's and the best so far (Wentges
  /// 1997), which saves most rounds. Ends where no cheaper tree is left, or after 30,000 pivots
  /// where the two sides are within half a per cent. Cost: per round a primal simplex and what
  /// `Pricing::cheapest` costs. False where floating point finds no optimum.
  bool run(Pricing& pricing, const Limits& limits);

  /// Whether it ended at `Limits::longest`: columns then have no weights.
  [[nodiscard]] bool is_too_long() const { return is_too_long_; }
  /// By class of arcs and limits: those of the last program, and those with the best bound.
  [[nodiscard]] const std::vector<double>& lengths() const { return lengths_; }
  [[nodiscard]] const std::vector<double>& best_lengths() const { return best_; }
  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }
  /// What goes by each column, beside the amount of the portion that has the largest.
  [[nodiscard]] std::vector<double> weights() const;
  /// What goes each way, portion by portion, likewise.
  [[nodiscard]] std::vector<double> way_weights() const;

 private:
  bool solve(const Limits& limits);
  void drop_dear_columns();
  // The cheapest trees at these lengths, which are noted where their bound is the best so far.
  Pricing::Crossings priced(Pricing& pricing, const std::vector<double>& at);
  // Whether some are not among the columns.
  [[nodiscard]] bool has_others(const Pricing::Crossings& crossings) const;
  void add_columns(Pricing::Crossings crossings);
  [[nodiscard]] double value_of(const Pricing::Crossings& crossings,
                                const std::vector<double>& at) const;
  [[nodiscard]] ArcLengths whole_lengths(const std::vector<double>& at) const;

  const Portions& portions_;
  std::vector<std::vector<std::size_t>> piece_row_;  // of a portion and way, the first
  std::vector<double> worth_;                        // of portions, beside the largest
  double unit_ = 1;                                  // of weights, beside the largest amount
  double largest_ = 1;                               // amount of a portion and its copies
  double room_ = 0;                                  // all capacities
  LinearProgram program_;
  std::vector<Column> columns_;
  std::set<std::pair<std::size_t, ClassLoad>> known_;  // by row of the piece
  std::vector<double> lengths_, best_;
  double value_ = 0, best_value_ = 0;  // of the program, and of the best lengths
  double value_at_drop_ = std::numeric_limits<double>::infinity();
  std::size_t rows_ = 0;
  std::int64_t pivots_ = 0;
  int rounds_ = 0;
  bool is_too_long_ = false;
};

}  // namespace forestcoll::solver
