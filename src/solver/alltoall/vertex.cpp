#include "solver/alltoall/vertex.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "solver/linear/exact_equations.hpp"

namespace forestcoll::solver::alltoall {
namespace {

// What is this near to 0 is 0, in terms of the largest of its kind.
constexpr double kZero = 1e-7;

constexpr std::int64_t kMaxDenominator = std::int64_t{1} << 60;

constexpr std::size_t kUnnumbered = static_cast<std::size_t>(-1);

// Numbers those that count among all.
struct Numbering {
  std::vector<std::size_t> of;
  std::size_t count = 0;

  template <class Counts>
  Numbering(std::size_t size, Counts&& counts) : of(size, kUnnumbered) {
    for (std::size_t i = 0; i < size; ++i) {
      if (counts(i)) of[i] = count++;
    }
  }
};

// What the numbered unknowns are in terms of all, 0 where they have no number.
CommonFractions spread(const CommonFractions& solution, const Numbering& numbering,
                       std::size_t size) {
  CommonFractions all{std::vector<std::int64_t>(size, 0), solution.denominator};
  for (std::size_t i = 0; i < size; ++i) {
    if (numbering.of[i] != kUnnumbered) all.numerators[i] = solution.numerators[numbering.of[i]];
  }
  return all;
}

std::vector<Term> renumbered(const std::vector<Term>& terms, const Numbering& numbering) {
  std::vector<Term> known;
  for (const Term& term : terms) {
    const std::size_t number = numbering.of[term.variable];
    if (number != kUnnumbered) known.push_back({number, term.coefficient});
  }
  return known;
}

}  // namespace

std::optional<CommonFractions> exact_flows(const Program& program, const FloatSolution& solution,
                                           std::int64_t max_parts) {
  const Numbering positive(program.variables(),
                           [&](std::size_t j) { return j > 0 && solution.flow[j] > kZero; });
  const std::size_t time = positive.count;  // 1/θ, the last unknown
  std::vector<Equation> equations;
  for (const auto& row : program.conservation) {
    Equation& equation = equations.emplace_back(Equation{renumbered(row, positive), 0});
    if (row.front().variable == 0) equation.right = -row.front().coefficient;
  }
  for (const CapacityRow& row : program.capacity) {
    double carried = 0;
    for (const Term& term : row.terms) {
      carried += static_cast<double>(term.coefficient) * solution.flow[term.variable];
    }
    const double room = static_cast<double>(row.bound) / solution.rate - carried;
    if (room > kZero * static_cast<double>(row.bound) / solution.rate) continue;
    Equation& equation = equations.emplace_back(Equation{renumbered(row.terms, positive), 0});
    equation.terms.push_back({time, -row.bound});
  }
  const auto exact = solve_exactly(equations, positive.count + 1, max_parts);
  if (!exact) return std::nullopt;
  return spread(*exact, positive, program.variables());
}

std::optional<CommonFractions> exact_prices(const Program& program, const FloatSolution& solution) {
  const double dearest = largest(solution.price);
  const Numbering priced(program.capacity.size(),
                         [&](std::size_t i) { return solution.price[i] > kZero * dearest; });
  // By variable: what the rows that hold it are worth together. It is 0 where the variable is not.
  std::vector<Equation> columns(program.variables());
  std::vector<double> worth(program.variables(), 0), size(program.variables(), 0);
  const auto add = [&](const std::vector<Term>& row, std::size_t unknown, double price) {
    for (const Term& term : row) {
      const double part = static_cast<double>(term.coefficient) * price;
      worth[term.variable] += part;
      size[term.variable] = std::max(size[term.variable], std::abs(part));
      columns[term.variable].terms.push_back({unknown, term.coefficient});
    }
  };
  for (std::size_t i = 0; i < program.capacity.size(); ++i) {
    if (priced.of[i] != kUnnumbered)
      add(program.capacity[i].terms, priced.of[i], solution.price[i]);
  }
  for (std::size_t i = 0; i < program.conservation.size(); ++i) {
    add(program.conservation[i], priced.count + i, solution.potential[i]);
  }
  std::vector<Equation> equations;
  columns[0].right = 1;
  equations.push_back(std::move(columns[0]));
  for (std::size_t j = 1; j < columns.size(); ++j) {
    const bool tight =
        solution.flow[j] > kZero || std::abs(worth[j]) <= kZero * std::max(size[j], dearest);
    if (tight) equations.push_back(std::move(columns[j]));
  }
  const auto exact =
      solve_exactly(equations, priced.count + program.conservation.size(), kMaxDenominator);
  if (!exact) return std::nullopt;
  return spread(*exact, priced, program.capacity.size());
}

}  // namespace forestcoll::solver::alltoall
