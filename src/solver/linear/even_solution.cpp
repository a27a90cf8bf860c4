// Hildreth's method (1957): one row after the other is met by the least change there is, and what
// it was changed by before is taken back where it is not needed any more. That is coordinate ascent
// in the prices of the rows, which are kept from one round of cuts to the next.
#include "solver/linear/even_solution.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>

namespace forestcoll::solver {
namespace {

constexpr int kRounds = 60;
constexpr std::int64_t kMostSteps = std::int64_t{1} << 29;  // terms of rows that are looked at
constexpr int kSweeps = 4'000;                              // of one round

// Violations that are none, as parts of what is owned by all.
constexpr double kOfRows = 1e-6;
constexpr double kOfCuts = 1e-5;

/// Σ terms ≤ bound, or = where `is_equation`.
struct Row {
  std::vector<std::pair<std::size_t, double>> terms;
  double bound = 0;
  bool is_equation = false;
  double price = 0, curvature = 0;
};

class EvenSolution {
 public:
  EvenSolution(const CutProgram& program, std::vector<double> owned)
      : program_(program), values_(std::move(owned)) {
    find_owned();
    find_middles();
    for (const CapacityRow& row : program.capacity) {
      add_row(row.terms, static_cast<double>(row.bound), false);
    }
    for (const auto& row : program.balance) add_row(row, 0, true);
    for (std::size_t j = 0; j < program.variables; ++j) add_row({{j, -1}}, 0, false);
  }

  void add_cut(const std::vector<Term>& terms) { add_row(terms, 0, false); }

  // False where no solution is near.
  bool solve(const std::stop_token& stop) {
    for (int sweep = 0; sweep < kSweeps && steps_ < kMostSteps; ++sweep) {
      double most = 0;
      for (Row& row : rows_) most = std::max(most, meet(row));
      if (most <= kOfRows * all_) return true;
      if (stop.stop_requested()) return false;
    }
    return false;
  }

  [[nodiscard]] std::vector<double> values() const {
    std::vector<double> values;
    for (const double value : values_) values.push_back(std::max(value, 0.0));
    return values;
  }

 private:
  // Variables that are given, and those of the totals.
  void find_owned() {
    is_given_.assign(program_.variables, false);
    for (const TreeCommodity& commodity : program_.commodities) {
      for (const Term& owned : commodity.owned) {
        if (owned.coefficient != 0) is_given_[owned.variable] = true;
      }
    }
    totals_.clear();
    for (const TreeCommodity& commodity : program_.commodities) {
      double total = 0;
      for (const Term& owned : owned_terms(commodity)) {
        total += static_cast<double>(owned.coefficient) * values_[owned.variable];
      }
      totals_.push_back(total);
      all_ = std::max(all_, total);
    }
  }

  void find_middles() {
    middle_.assign(program_.variables, -1);
    for (const CapacityRow& row : program_.capacity) {
      double uses = 0;
      for (const Term& term : row.terms) uses += static_cast<double>(term.coefficient);
      for (const Term& term : row.terms) {
        const double middle = static_cast<double>(row.bound) / uses;
        double& least = middle_[term.variable];
        least = least < 0 ? middle : std::min(least, middle);
      }
    }
    // How far a variable moves by a unit of price.
    ease_.assign(program_.variables, 0);
    std::vector<double> members(program_.variables, 0);
    for (const TreeCommodity& commodity : program_.commodities) {
      for (const std::size_t j : commodity.variable) members[j] += 1;
    }
    for (std::size_t j = 0; j < program_.variables; ++j) {
      if (is_given_[j]) continue;
      values_[j] = std::max(middle_[j], 0.0);
      if (members[j] > 0) ease_[j] = values_[j] / members[j];
    }
  }

  void add_row(const std::vector<Term>& terms, double bound, bool is_equation) {
    Row row{{}, bound, is_equation};
    for (const Term& term : terms) {
      const auto coefficient = static_cast<double>(term.coefficient);
      if (term.variable >= program_.variables) {
        row.bound -= coefficient * totals_[term.variable - program_.variables];
      } else if (is_given_[term.variable]) {
        row.bound -= coefficient * values_[term.variable];
      } else if (ease_[term.variable] > 0) {
        row.terms.emplace_back(term.variable, coefficient);
        row.curvature += coefficient * coefficient * ease_[term.variable];
      }
    }
    if (!row.terms.empty()) rows_.push_back(std::move(row));
  }

  // By how much the row was violated.
  double meet(Row& row) {
    steps_ += static_cast<std::int64_t>(row.terms.size());
    double excess = -row.bound;
    for (const auto& [j, coefficient] : row.terms) excess += coefficient * values_[j];
    double change = excess / row.curvature;
    if (!row.is_equation) change = std::max(change, -row.price);
    row.price += change;
    for (const auto& [j, coefficient] : row.terms) values_[j] -= change * coefficient * ease_[j];
    return row.is_equation ? std::abs(excess) : excess;
  }

  const CutProgram& program_;
  std::vector<double> values_;
  std::vector<double> totals_;  // by commodity
  double all_ = 0;
  std::vector<bool> is_given_;
  std::vector<double> middle_, ease_;
  std::vector<Row> rows_;
  std::int64_t steps_ = 0;
};

}  // namespace

std::optional<std::vector<double>> even_solution(const CutProgram& program,
                                                 std::vector<double> owned, CutGeneration& cuts,
                                                 const std::stop_token& stop) {
  EvenSolution solution(program, std::move(owned));
  std::size_t known = 0;
  for (int round = 0; round < kRounds; ++round) {
    for (; known < cuts.cuts().size(); ++known) solution.add_cut(cuts.cuts()[known]);
    if (!solution.solve(stop)) return std::nullopt;
    auto values = solution.values();
    if (!cuts.add_cuts_violated_by(values, kOfCuts)) return values;
  }
  return std::nullopt;
}

}  // namespace forestcoll::solver
