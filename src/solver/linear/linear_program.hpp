// Linear programs whose rows or variables come one after the other.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace forestcoll::solver {

struct Term {
  std::size_t variable = 0;
  std::int64_t coefficient = 0;
  auto operator<=>(const Term&) const = default;
};

/// maximise Σ c_j z_j, z ≥ 0, subject to rows that are added between solutions, or with variables
/// that are; each solution starts from the last one. In floating point, by CLP's dual simplex, or,
/// as the last solution stays feasible where variables are added, its primal one.
class LinearProgram {
 public:
  static constexpr std::int64_t kAnyPivots = 2'000'000'000;

  /// What CLP holds of the rows. With a copy by rows, too, it ends the process on some programs of
  /// cuts (1.17: ClpPackedMatrix.cpp, "Assertion elValue").
  enum class Matrix { by_columns_and_rows, by_columns };

  /// What is added between solutions.
  enum class Growth { rows, variables };

  explicit LinearProgram(std::size_t variables, Matrix matrix = Matrix::by_columns_and_rows,
                         Growth growth = Growth::rows);
  ~LinearProgram();
  LinearProgram(const LinearProgram&) = delete;
  LinearProgram& operator=(const LinearProgram&) = delete;

  void maximise(std::span<const Term> objective);
  /// Of one variable, where coefficients are no integers.
  void maximise(std::size_t variable, double coefficient);
  /// Σ terms ≤ bound. Rows are numbered in the order of the calls.
  void add_at_most(std::span<const Term> terms, double bound);
  /// Σ terms = right.
  void add_equal(std::span<const Term> terms, double right);

  /// A variable more, with its coefficients in rows so far, and none in the objective.
  /// REQUIRES: `Growth::variables`.
  struct InRow {
    std::size_t row = 0;
    std::int64_t coefficient = 0;
  };
  void add_variable(std::span<const InRow> in_rows);
  /// Those after them are numbered anew. REQUIRES: of the last solution; ascending, each 0 there.
  void remove_variables(std::span<const std::size_t> variables);

  /// False where there is no optimum, or none was found, or not within so many pivots.
  [[nodiscard]] bool solve(std::int64_t most_pivots = kAnyPivots);
  /// Of the last call.
  [[nodiscard]] std::int64_t pivots() const;
  /// Of the last solution.
  [[nodiscard]] double value(std::size_t variable) const;
  /// Of the last solution: what a unit of the variable would cost the objective; 0 or more.
  [[nodiscard]] double reduced_cost(std::size_t variable) const;
  /// Of the last solution; 0 or more for `add_at_most`, of either sign for `add_equal`.
  [[nodiscard]] double price(std::size_t row) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace forestcoll::solver
