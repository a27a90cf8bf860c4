#include "solver/linear_program.hpp"

#include <lemon/glpk.h>

#include <vector>

namespace forestcoll::solver {

struct LinearProgram::State {
  lemon::GlpkLp program;
  std::vector<lemon::LpBase::Col> columns;
  std::vector<lemon::LpBase::Row> rows;

  [[nodiscard]] lemon::LpBase::Expr sum(std::span<const Term> terms) const {
    lemon::LpBase::Expr sum;
    for (const Term& term : terms) {
      sum += static_cast<double>(term.coefficient) * columns[term.variable];
    }
    return sum;
  }
};

LinearProgram::LinearProgram(std::size_t variables) : state_(std::make_unique<State>()) {
  state_->program.presolver(false);  // it would forget the basis
  for (std::size_t j = 0; j < variables; ++j) {
    state_->columns.push_back(state_->program.addCol());
    state_->program.colLowerBound(state_->columns.back(), 0);
  }
}

LinearProgram::~LinearProgram() = default;

void LinearProgram::maximise(std::span<const Term> objective) {
  state_->program.max();
  state_->program.obj(state_->sum(objective));
}

void LinearProgram::add_at_most(std::span<const Term> terms, double bound) {
  state_->rows.push_back(state_->program.addRow(-lemon::LpBase::INF, state_->sum(terms), bound));
}

void LinearProgram::add_zero(std::span<const Term> terms) {
  state_->rows.push_back(state_->program.addRow(0, state_->sum(terms), 0));
}

bool LinearProgram::solve() {
  return state_->program.solveDual() == lemon::LpBase::SOLVED &&
         state_->program.primalType() == lemon::LpSolver::OPTIMAL;
}

double LinearProgram::value(std::size_t variable) const {
  return state_->program.primal(state_->columns[variable]);
}

double LinearProgram::price(std::size_t row) const {
  return state_->program.dual(state_->rows[row]);
}

}  // namespace forestcoll::solver
