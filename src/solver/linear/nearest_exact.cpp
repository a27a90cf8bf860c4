// Of the multiples of a grid next to the values, as few as possible are changed, and those by as
// little: minimise Σ |x − rounded|. What is rounded keeps nearly all rows and cuts, so that a dual
// simplex that begins there ends soon, at a vertex: most of what is taken stays on the grid.
#include "solver/linear/nearest_exact.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

#include "solver/linear/simple_fractions.hpp"

namespace forestcoll::solver {
namespace {

constexpr int kRoundsOfCuts = 60;
constexpr std::int64_t kMostPivots = 200'000;

// Of a step of the grid: nearer values are a fraction.
constexpr double kTolerance = 1e-5;
constexpr std::int64_t kMostDenominator = 1 << 12;

// Of the grid, up to the largest value.
constexpr double kLeastSteps = 16;

// Of all that the arcs of a commodity take together.
constexpr double kMostTaken = 0x1p46;

/// The program of what is changed: by variable, what there is more and less than what is rounded.
class Changes {
 public:
  Changes(const CutProgram& program, const ExactSolution& owned, std::span<const double> values,
          std::int64_t grid)
      : program_(program),
        grid_(grid),
        changes_(2 * program.variables),
        rounded_(program.variables, 0),
        is_owned_(program.variables, false) {
    for (const TreeCommodity& commodity : program.commodities) {
      for (const Term& term : commodity.owned) {
        if (term.coefficient == 0) continue;
        is_owned_[term.variable] = true;
        rounded_[term.variable] = owned.numerators[term.variable] * (grid / owned.denominator);
      }
    }
    std::vector<Term> objective;
    for (std::size_t j = 0; j < program.variables; ++j) {
      if (is_owned_[j]) continue;
      rounded_[j] = std::llround(values[j] * static_cast<double>(grid));
      objective.push_back({more(j), -1});
      objective.push_back({less(j), -1});
      changes_.add_at_most(std::vector<Term>{{less(j), 1}}, static_cast<double>(rounded_[j]));
    }
    changes_.maximise(objective);
    for (const TreeCommodity& commodity : program.commodities) {
      std::int64_t total = 0;
      for (const Term& term : owned_terms(commodity)) {
        total += term.coefficient * rounded_[term.variable];
      }
      totals_.push_back(total);
    }
    for (const CapacityRow& row : program.capacity) {
      add_row(row.terms, static_cast<Int128>(row.bound) * grid, false);
    }
    for (const auto& row : program.balance) add_row(row, 0, true);
  }

  void add_cut(const std::vector<Term>& terms) { add_row(terms, 0, false); }

  [[nodiscard]] bool solve() { return changes_.solve(kMostPivots); }

  // Of the last program that was solved.
  [[nodiscard]] std::optional<ExactSolution> solution() const {
    std::vector<double> steps;
    for (std::size_t j = 0; j < program_.variables; ++j) {
      const double change = is_owned_[j] ? 0 : changes_.value(more(j)) - changes_.value(less(j));
      steps.push_back(change);
    }
    const auto fractions = simple_fractions(steps, kTolerance, kMostDenominator);
    if (!fractions) return std::nullopt;
    ExactSolution solution{fractions->numerators, fractions->denominator * grid_};
    for (std::size_t j = 0; j < program_.variables; ++j) {
      solution.numerators[j] += rounded_[j] * fractions->denominator;
    }
    return solution;
  }

 private:
  [[nodiscard]] static std::size_t more(std::size_t j) { return 2 * j; }
  [[nodiscard]] static std::size_t less(std::size_t j) { return 2 * j + 1; }

  void add_row(const std::vector<Term>& terms, Int128 bound, bool is_equation) {
    std::vector<Term> row;
    for (const Term& term : terms) {
      if (term.variable >= program_.variables) {
        bound -= Int128{term.coefficient} * totals_[term.variable - program_.variables];
        continue;
      }
      bound -= Int128{term.coefficient} * rounded_[term.variable];
      if (is_owned_[term.variable]) continue;
      row.push_back({more(term.variable), term.coefficient});
      row.push_back({less(term.variable), -term.coefficient});
    }
    if (row.empty()) return;
    if (is_equation) {
      changes_.add_equal(row, static_cast<double>(bound));
    } else {
      changes_.add_at_most(row, static_cast<double>(bound));
    }
  }

  const CutProgram& program_;
  const std::int64_t grid_;
  LinearProgram changes_;
  std::vector<std::int64_t> rounded_;
  std::vector<bool> is_owned_;
  std::vector<std::int64_t> totals_;  // by commodity
};

// Steps of the grid in one unit.
std::optional<std::int64_t> grid_of(const CutProgram& program, const ExactSolution& owned,
                                    std::span<const double> values) {
  double largest = 0, most = 0;
  for (const TreeCommodity& commodity : program.commodities) {
    double all = 0;
    for (const std::size_t j : commodity.variable) {
      largest = std::max(largest, values[j]);
      all += values[j];
    }
    most = std::max(most, all);
  }
  if (!(largest > 0) || !std::isfinite(most)) return std::nullopt;
  const auto whole = static_cast<double>(owned.denominator);
  const double times = std::max(std::ceil(kLeastSteps / largest / whole), 1.0);
  if (times * whole * most >= kMostTaken) return std::nullopt;
  return static_cast<std::int64_t>(times) * owned.denominator;
}

}  // namespace

std::optional<ExactSolution> nearest_exact(const CutProgram& program, const ExactSolution& owned,
                                           std::span<const double> values, CutGeneration& cuts,
                                           const std::stop_token& stop) {
  const auto grid = grid_of(program, owned, values);
  if (!grid) return std::nullopt;
  Changes changes(program, owned, values, *grid);
  std::size_t known = 0;
  for (int round = 0; round < kRoundsOfCuts && !stop.stop_requested(); ++round) {
    for (; known < cuts.cuts().size(); ++known) changes.add_cut(cuts.cuts()[known]);
    if (!changes.solve()) return std::nullopt;
    auto solution = changes.solution();
    if (!solution) return std::nullopt;
    if (cuts.add_cuts_violated_by(*solution)) continue;
    if (!is_solution(program, *solution)) return std::nullopt;
    return solution;
  }
  return std::nullopt;
}

}  // namespace forestcoll::solver
