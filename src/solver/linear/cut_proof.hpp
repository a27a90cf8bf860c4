// Exact proofs of what floating point found for a program of trees.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "forestcoll/ratio.hpp"
#include "solver/linear/cut_program.hpp"

namespace forestcoll::solver {

/// What the prices of an optimum prove: no solution of the program is worth more. Prices are by
/// row: capacities, balances, and these cuts. Whatever the prices are, the bound holds; with the
/// right ones it is the optimum. Prices are taken as the simple fractions near them that give the
/// best bound. Nothing where exact arithmetic overflows or the prices prove nothing. Cost: O(size
/// of the rows), a few times.
struct UpperProof {
  Ratio bound;
  std::vector<std::int64_t> prices;  ///< of the balances, then the cuts, in common units
};
[[nodiscard]] std::optional<UpperProof> prove_upper(const CutProgram& program,
                                                    std::span<const std::vector<Term>> cuts,
                                                    std::span<const double> prices);

/// A solution with a common denominator.
struct ExactSolution {
  std::vector<std::int64_t> numerators;  ///< by variable
  std::int64_t denominator = 1;
};

/// Does it keep all rows, and the rows of all cuts, those that were never generated too?
/// Cost: a maximum flow per commodity and sink.
[[nodiscard]] bool is_solution(const CutProgram& program, const ExactSolution& solution);

/// A solution near `values` (by variable) that is worth `worth` exactly and keeps all rows, and
/// the rows of all cuts, those that were never generated too: proved by maximum flows. Nothing
/// where none is found among the simple fractions near them.
/// Cost: a maximum flow per commodity and sink, a few times at most.
[[nodiscard]] std::optional<ExactSolution> prove_reached(const CutProgram& program,
                                                         std::span<const double> values,
                                                         const Ratio& worth);

/// The same where it is not known what can be reached: the solution of the most worth among simple
/// fractions and, where `values` are those of a vertex with these cuts, that vertex.
/// `limit`: no solution is worth more.
struct ReachedProof {
  ExactSolution solution;
  Ratio worth;
};
[[nodiscard]] std::optional<ReachedProof> prove_best_reached(
    const CutProgram& program, std::span<const std::vector<Term>> cuts,
    std::span<const double> values, const Ratio& limit);

}  // namespace forestcoll::solver
