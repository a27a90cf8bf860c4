// The linear program solved, and both of its answers made exact.
#pragma once

#include "solver/alltoall/instance/answer.hpp"
#include "solver/alltoall/instance/instance.hpp"
#include "solver/alltoall/program.hpp"

namespace forestcoll::solver::alltoall {

/// Improves `answer` by what the program says. Where floating point is near a vertex, fractions are
/// guessed from its values, and where they do not prove the optimum, solved for from the
/// constraints that look tight. Either side may stay as it was.
/// Cost: a simplex, a few proofs, at most two sparse eliminations.
void solve_by_simplex(const Instance& instance, const Program& program, Answer& answer);

}  // namespace forestcoll::solver::alltoall
