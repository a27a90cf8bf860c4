// Upper bounds. With a price u_i ≥ 0 on every cut row (any on an equation), add all rows up, each
// times its price. Let t_j be what that gives variable j. For a solution z, Σ t_j z_j ≤ 0, because
// every one of these rows is at most 0. A root's objective coefficient is c_j; with s the least
// t_j / c_j over the roots,
//     s · Σ c_j z_j  ≤  Σ_roots t_j z_j  ≤  Σ_arcs −t_j z_j  ≤  Σ_rows b · y,
// where y ≥ 0 are prices of the capacity rows that together cover −t_j of every arc variable. Only
// s > 0 and that cover have to be true.
#include "solver/linear/cut_proof.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <numeric>
#include <utility>

#include "graph/sink_flow.hpp"
#include "solver/linear/exact_vertex.hpp"
#include "solver/linear/simple_fractions.hpp"

namespace forestcoll::solver {
namespace {

// Of prices; a sum over all rows and arcs stays far below 128 bits.
constexpr std::int64_t kMaxPrice = std::int64_t{1} << 40;

bool add_row(const std::vector<Term>& terms, Int128 price, std::vector<Int128>& total) {
  for (const Term& term : terms) {
    Int128 product = 0, &sum = total[term.variable];
    if (__builtin_mul_overflow(static_cast<Int128>(term.coefficient), price, &product) ||
        __builtin_add_overflow(sum, product, &sum)) {
      return false;
    }
  }
  return true;
}

// What stands for all that is owned in a commodity, as what that consists of.
bool take_totals_apart(const CutProgram& program, std::vector<Int128>& total) {
  for (std::size_t p = 0; p < program.commodities.size(); ++p) {
    const Int128 price = total[program.total(p)];
    if (price != 0 && !add_row(owned_terms(program.commodities[p]), price, total)) return false;
  }
  total.resize(program.variables);
  return true;
}

// Prices are multiplied by what all coefficients of capacity rows divide, as far as that is small,
// so that quotients are whole.
constexpr std::int64_t kMostRefinement = 1 << 16;

std::int64_t refinement_of(const std::vector<CapacityRow>& rows) {
  std::int64_t common = 1;
  for (const CapacityRow& row : rows) {
    for (const Term& term : row.terms) {
      const std::int64_t next = std::lcm(common, term.coefficient);
      if (next <= kMostRefinement) common = next;
    }
  }
  return common;
}

Int128 floor_quotient(Int128 value, Int128 divisor) {
  const Int128 quotient = value / divisor;
  return value % divisor < 0 ? quotient - 1 : quotient;
}

// Prices of the capacity rows: from a guess, one row after the other is set to the least that
// covers −total of its variables beside the others, so that in the end all are covered.
class CapacityPrices {
 public:
  CapacityPrices(const std::vector<CapacityRow>& rows, std::vector<Int128> total)
      : rows_(rows), covered_(std::move(total)), prices_(rows.size(), 0) {}

  void guess(std::span<const std::int64_t> prices, std::int64_t refinement) {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      change(i, static_cast<Int128>(std::max<std::int64_t>(prices[i], 0)) * refinement);
    }
  }

  void tighten() {
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      std::optional<Int128> spare;
      for (const Term& term : rows_[i].terms) {
        const Int128 of_term = floor_quotient(covered_[term.variable], term.coefficient);
        spare = std::min(spare.value_or(of_term), of_term);
      }
      if (spare) change(i, -std::min(*spare, prices_[i]));
    }
  }

  // Σ b·y; nothing where that overflows.
  [[nodiscard]] std::optional<Int128> sum() const {
    Int128 sum = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      Int128 product = 0;
      if (__builtin_mul_overflow(prices_[i], static_cast<Int128>(rows_[i].bound), &product) ||
          __builtin_add_overflow(sum, product, &sum)) {
        return std::nullopt;
      }
    }
    return sum;
  }

  [[nodiscard]] bool covers_all() const {
    return std::ranges::all_of(covered_, [](Int128 covered) { return covered >= 0; });
  }

 private:
  void change(std::size_t row, Int128 by) {
    prices_[row] += by;
    for (const Term& term : rows_[row].terms) covered_[term.variable] += by * term.coefficient;
  }

  const std::vector<CapacityRow>& rows_;
  std::vector<Int128> covered_;  // by variable
  std::vector<Int128> prices_;
};

// The bound of integral prices: of the capacities, a guess, then of the equations and the cuts.
std::optional<Ratio> bound_of(const CutProgram& program, std::span<const std::vector<Term>> cuts,
                              std::span<const std::int64_t> prices) {
  const std::int64_t refinement = refinement_of(program.capacity);
  const auto of_rows = prices.subspan(program.capacity.size());
  std::vector<Int128> total(program.total(program.commodities.size()), 0);
  for (std::size_t i = 0; i < of_rows.size(); ++i) {
    const bool cut = i >= program.balance.size();
    const auto& row = cut ? cuts[i - program.balance.size()] : program.balance[i];
    if (!add_row(row, static_cast<Int128>(of_rows[i]) * refinement, total)) return std::nullopt;
  }
  if (!take_totals_apart(program, total)) return std::nullopt;
  CapacityPrices capacities(program.capacity, total);
  capacities.guess(prices, refinement);
  capacities.tighten();
  const auto capacity = capacities.sum();
  if (!capacity || !capacities.covers_all()) return std::nullopt;
  std::optional<Ratio> worst;
  for (const Term& root : program.objective) {
    const auto share = Ratio::reduced(total[root.variable], root.coefficient);
    if (!share || *share <= Ratio(0)) return std::nullopt;
    if (!worst || *share < *worst) worst = share;
  }
  Int128 num = 0;
  if (__builtin_mul_overflow(*capacity, static_cast<Int128>(worst->den()), &num)) {
    return std::nullopt;
  }
  return Ratio::reduced(num, static_cast<Int128>(worst->num()));
}

// Every capacity row and equation, in units of 1 / denominator.
bool keeps_rows(const CutProgram& program, const CommonFractions& solution) {
  const auto sum = [&](const std::vector<Term>& terms) {
    Int128 total = 0;
    for (const Term& term : terms) {
      total += static_cast<Int128>(term.coefficient) * solution.numerators[term.variable];
    }
    return total;
  };
  return std::ranges::all_of(solution.numerators, [](std::int64_t n) { return n >= 0; }) &&
         std::ranges::all_of(program.capacity,
                             [&](const CapacityRow& row) {
                               return sum(row.terms) <=
                                      static_cast<Int128>(row.bound) * solution.denominator;
                             }) &&
         std::ranges::all_of(program.balance, [&](const auto& row) { return sum(row) == 0; });
}

// Every set of nodes receives what is owned outside it, in every commodity.
bool keeps_cuts(const CutProgram& program, const CommonFractions& solution) {
  for (const TreeCommodity& commodity : program.commodities) {
    std::vector<std::int64_t> supply, capacity;
    std::int64_t demand = 0;
    for (const Term& owned : commodity.owned) {
      supply.push_back(
          owned.coefficient == 0 ? 0 : owned.coefficient * solution.numerators[owned.variable]);
      demand += supply.back();
    }
    for (const std::size_t j : commodity.variable) capacity.push_back(solution.numerators[j]);
    graph::SinkFlow flow(commodity.graph);
    flow.reset(capacity, supply);
    if (!check_all(flow, commodity.sinks, demand,
                   [](const SinkSide&) { return std::optional<std::int64_t>(); })) {
      return false;
    }
  }
  return true;
}

std::optional<Ratio> worth_of(const CutProgram& program, const CommonFractions& solution) {
  Int128 sum = 0;
  for (const Term& root : program.objective) {
    sum += static_cast<Int128>(root.coefficient) * solution.numerators[root.variable];
  }
  return Ratio::reduced(sum, solution.denominator);
}

// What all arcs of a commodity may carry, and all nodes own, is added up in 64 bits.
std::int64_t max_denominator(const CutProgram& program, const Ratio& worth) {
  std::map<std::size_t, Int128> bound;  // of variables
  for (const CapacityRow& row : program.capacity) {
    for (const Term& term : row.terms) bound[term.variable] = row.bound / term.coefficient + 1;
  }
  const Int128 reached = worth.num() / worth.den() + 1;
  Int128 all = reached;
  for (const TreeCommodity& commodity : program.commodities) {
    Int128 arcs = 0, owned = 0;
    for (const std::size_t j : commodity.variable) arcs += bound[j];
    for (const Term& term : commodity.owned) owned += term.coefficient;
    all = std::max({all, arcs, owned * reached});
  }
  return static_cast<std::int64_t>((Int128{1} << 61) / all);
}

}  // namespace

std::optional<UpperProof> prove_upper(const CutProgram& program,
                                      std::span<const std::vector<Term>> cuts,
                                      std::span<const double> prices) {
  const double most = largest(prices);
  if (!(most > 0) || !std::isfinite(most)) return std::nullopt;
  const std::size_t equations = program.capacity.size(),
                    first_cut = equations + program.balance.size();
  std::optional<UpperProof> best;
  const auto consider = [&](std::vector<std::int64_t> candidate) {
    for (std::size_t i = first_cut; i < candidate.size(); ++i) {
      candidate[i] = std::max<std::int64_t>(candidate[i], 0);
    }
    const auto bound = bound_of(program, cuts, candidate);
    if (!bound || (best && *bound >= best->bound)) return;
    candidate.erase(candidate.begin(), candidate.begin() + static_cast<std::ptrdiff_t>(equations));
    best = {*bound, std::move(candidate)};
  };
  std::vector<double> relative;
  for (const double price : prices) relative.push_back(price / most);
  for (const double tolerance : kGuessTolerances) {
    if (auto guess = simple_fractions(relative, tolerance, kMaxPrice)) {
      consider(std::move(guess->numerators));
    }
  }
  // As they are, should they be no simple fractions.
  std::vector<std::int64_t> rounded;
  for (const double price : relative) {
    rounded.push_back(std::llround(std::ldexp(price, 30)));
  }
  consider(std::move(rounded));
  return best;
}

bool is_solution(const CutProgram& program, const ExactSolution& solution) {
  const CommonFractions fractions{solution.numerators, solution.denominator};
  return keeps_rows(program, fractions) && keeps_cuts(program, fractions);
}

std::optional<ExactSolution> prove_reached(const CutProgram& program,
                                           std::span<const double> values, const Ratio& worth) {
  const std::int64_t most = max_denominator(program, worth);
  for (const double tolerance : kGuessTolerances) {
    const auto guess = simple_fractions(values, tolerance * largest(values), most);
    if (guess && worth_of(program, *guess) == worth && keeps_rows(program, *guess) &&
        keeps_cuts(program, *guess)) {
      return ExactSolution{guess->numerators, guess->denominator};
    }
  }
  return std::nullopt;
}

std::optional<ReachedProof> prove_best_reached(const CutProgram& program,
                                               std::span<const std::vector<Term>> cuts,
                                               std::span<const double> values, const Ratio& limit) {
  const std::int64_t most = max_denominator(program, limit);
  std::optional<ReachedProof> best;
  const auto consider = [&](const std::optional<CommonFractions>& guess) {
    if (!guess) return;
    const auto worth = worth_of(program, *guess);
    if (!worth || *worth <= Ratio(0) || (best && *worth <= best->worth)) return;
    if (!keeps_rows(program, *guess) || !keeps_cuts(program, *guess)) return;
    best = ReachedProof{{guess->numerators, guess->denominator}, *worth};
  };
  for (const double tolerance : kGuessTolerances) {
    consider(simple_fractions(values, tolerance * largest(values), most));
  }
  consider(exact_vertex(program, cuts, values, most));
  return best;
}

}  // namespace forestcoll::solver
