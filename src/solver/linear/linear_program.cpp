#include "solver/linear/linear_program.hpp"

#include <ClpSimplex.hpp>
#include <algorithm>
#include <vector>

namespace forestcoll::solver {
namespace {

// Rows and prices may be wrong by as much; CLP's own 1e-7 is more than simple fractions forgive.
constexpr double kSolverTolerance = 1e-9;

constexpr unsigned kNoRowCopy = 256;  // of ClpModel's special options

constexpr int kNone = -1;

}  // namespace

// CLP minimises: the objective and the prices change their signs on the way in and out.
struct LinearProgram::State {
  ClpSimplex program;

  Growth growth = Growth::rows;
  std::int64_t pivots = 0;  // of the last call

  // What each of our rows is: a row of CLP's, or the bound of a column, which costs it nothing.
  struct Row {
    int row = kNone, column = kNone;
  };
  std::vector<Row> rows;
  int clp_rows = 0;

  // Rows that CLP has not been given yet: one by one they would each copy all that it has.
  std::vector<int> starts{0}, columns;
  std::vector<double> coefficients, lower, upper;

  void add_row(std::span<const Term> terms, double least, double most) {
    for (const Term& term : terms) {
      columns.push_back(static_cast<int>(term.variable));
      coefficients.push_back(static_cast<double>(term.coefficient));
    }
    rows.push_back({clp_rows++, kNone});
    starts.push_back(static_cast<int>(columns.size()));
    lower.push_back(least);
    upper.push_back(most);
  }

  // Likewise of variables.
  struct {
    std::vector<int> starts{0}, rows;
    std::vector<double> coefficients;
  } added;

  void add_column(std::span<const InRow> in_rows) {
    for (const InRow& in_row : in_rows) {
      added.rows.push_back(rows[in_row.row].row);
      added.coefficients.push_back(static_cast<double>(in_row.coefficient));
    }
    added.starts.push_back(static_cast<int>(added.rows.size()));
  }

  void hand_over_columns() {
    const auto count = static_cast<int>(added.starts.size()) - 1;
    if (count == 0) return;
    program.addColumns(count, nullptr, nullptr, nullptr, added.starts.data(), added.rows.data(),
                       added.coefficients.data());
    added = {};
  }

  void solve_by_rows() {
    program.dual();
    pivots += program.numberIterations();
  }

  // From a first basis that is not feasible CLP raises its weight of infeasibilities until it takes
  // some programs for infeasible that are not; its dual simplex solves them.
  void solve_by_variables() {
    program.primal();
    pivots += program.numberIterations();
    if (program.isProvenPrimalInfeasible()) solve_by_rows();
  }

  // CLP crashes on a program without rows.
  void add_free_row() {
    program.addRow(0, nullptr, nullptr, -COIN_DBL_MAX, COIN_DBL_MAX);
    ++clp_rows;
  }

  // False where the column has a bound already.
  bool add_bound(int column, double bound) {
    if (program.columnUpper()[column] < COIN_DBL_MAX) return false;
    program.setColumnUpper(column, bound);
    rows.push_back({kNone, column});
    return true;
  }

  void hand_over_rows() {
    program.addRows(static_cast<int>(lower.size()), lower.data(), upper.data(), starts.data(),
                    columns.data(), coefficients.data());
    starts.resize(1);
    columns.clear();
    coefficients.clear();
    lower.clear();
    upper.clear();
  }
};

LinearProgram::LinearProgram(std::size_t variables, Matrix matrix, Growth growth)
    : state_(std::make_unique<State>()) {
  state_->growth = growth;
  state_->program.setLogLevel(0);
  state_->program.setPrimalTolerance(kSolverTolerance);
  state_->program.setDualTolerance(kSolverTolerance);
  if (matrix == Matrix::by_columns) {
    state_->program.setSpecialOptions(state_->program.specialOptions() | kNoRowCopy);
  }
  state_->program.resize(0, static_cast<int>(variables));  // columns of 0 and more
  state_->add_free_row();
}

LinearProgram::~LinearProgram() = default;

void LinearProgram::maximise(std::span<const Term> objective) {
  for (const Term& term : objective) {
    state_->program.setObjectiveCoefficient(static_cast<int>(term.variable),
                                            -static_cast<double>(term.coefficient));
  }
}

void LinearProgram::maximise(std::size_t variable, double coefficient) {
  state_->program.setObjectiveCoefficient(static_cast<int>(variable), -coefficient);
}

void LinearProgram::add_at_most(std::span<const Term> terms, double bound) {
  const bool is_bound = state_->growth == Growth::rows && terms.size() == 1 &&
                        terms.front().coefficient == 1 && bound >= 0;
  if (is_bound && state_->add_bound(static_cast<int>(terms.front().variable), bound)) return;
  state_->add_row(terms, -COIN_DBL_MAX, bound);
}

void LinearProgram::add_equal(std::span<const Term> terms, double right) {
  state_->add_row(terms, right, right);
}

void LinearProgram::add_variable(std::span<const InRow> in_rows) {
  state_->add_column(in_rows);
}

void LinearProgram::remove_variables(std::span<const std::size_t> variables) {
  const std::vector<int> columns(variables.begin(), variables.end());
  state_->program.deleteColumns(static_cast<int>(columns.size()), columns.data());
}

bool LinearProgram::solve(std::int64_t most_pivots) {
  state_->hand_over_rows();
  state_->hand_over_columns();
  state_->program.setMaximumIterations(static_cast<int>(std::min(most_pivots, kAnyPivots)));
  state_->pivots = 0;
  if (state_->growth == Growth::variables) {
    state_->solve_by_variables();
  } else {
    state_->solve_by_rows();
  }
  return state_->program.isProvenOptimal();
}

std::int64_t LinearProgram::pivots() const {
  return state_->pivots;
}

double LinearProgram::value(std::size_t variable) const {
  return state_->program.primalColumnSolution()[variable];
}

double LinearProgram::reduced_cost(std::size_t variable) const {
  return state_->program.dualColumnSolution()[variable];
}

double LinearProgram::price(std::size_t row) const {
  const auto [at, column] = state_->rows[row];
  if (at != kNone) return -state_->program.dualRowSolution()[at];
  return std::max(0.0, -state_->program.dualColumnSolution()[column]);
}

}  // namespace forestcoll::solver
