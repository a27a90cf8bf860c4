#include "solver/linear/exact_vertex.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

#include "solver/linear/exact_equations.hpp"

namespace forestcoll::solver {
namespace {

// What is this near to 0 is 0, beside the largest value.
constexpr double kNothing = 1e-8;

constexpr std::size_t kAbsent = static_cast<std::size_t>(-1);

class TightRows {
 public:
  TightRows(const CutProgram& program, std::span<const double> values)
      : values_(values.begin(), values.end()) {
    for (const TreeCommodity& commodity : program.commodities) {
      values_.push_back(sum(owned_terms(commodity)));
    }
    for (const double value : values_) largest_ = std::max(largest_, std::abs(value));
    for (const double value : values_) {
      numbers_.push_back(value > kNothing * largest_ ? unknowns_++ : kAbsent);
    }
  }

  // Σ terms = right, where floating point says so.
  void add(const std::vector<Term>& terms, std::int64_t right) {
    const double room = static_cast<double>(right) - sum(terms);
    if (std::abs(room) > kNothing * largest_) return;
    Equation equation{{}, right};
    for (const Term& term : terms) {
      const std::size_t number = numbers_[term.variable];
      if (number != kAbsent) equation.terms.push_back({number, term.coefficient});
    }
    if (!equation.terms.empty()) equations_.push_back(std::move(equation));
  }

  [[nodiscard]] std::optional<CommonFractions> solve(std::size_t variables,
                                                     std::int64_t max_denominator) const {
    const auto found = solve_exactly(equations_, unknowns_, max_denominator);
    if (!found) return std::nullopt;
    CommonFractions all{std::vector<std::int64_t>(variables, 0), found->denominator};
    for (std::size_t j = 0; j < variables; ++j) {
      if (numbers_[j] != kAbsent) all.numerators[j] = found->numerators[numbers_[j]];
    }
    return all;
  }

 private:
  [[nodiscard]] double sum(const std::vector<Term>& terms) const {
    double sum = 0;
    for (const Term& term : terms) {
      sum += static_cast<double>(term.coefficient) * values_[term.variable];
    }
    return sum;
  }

  std::vector<double> values_;  // of the variables, then of all that is owned in each commodity
  double largest_ = 0;
  std::vector<std::size_t> numbers_;
  std::size_t unknowns_ = 0;
  std::vector<Equation> equations_;
};

}  // namespace

std::optional<CommonFractions> exact_vertex(const CutProgram& program,
                                            std::span<const std::vector<Term>> cuts,
                                            std::span<const double> values,
                                            std::int64_t max_denominator) {
  TightRows rows(program, values);
  for (std::size_t p = 0; p < program.commodities.size(); ++p) {
    auto all = owned_terms(program.commodities[p]);
    all.push_back({program.total(p), -1});
    rows.add(all, 0);
  }
  for (const CapacityRow& row : program.capacity) rows.add(row.terms, row.bound);
  for (const auto& row : program.balance) rows.add(row, 0);
  for (const auto& row : cuts) rows.add(row, 0);
  return rows.solve(program.variables, max_denominator);
}

}  // namespace forestcoll::solver
