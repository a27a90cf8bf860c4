// Upper bounds. With a price u_i ≥ 0 on every cut row (any on an equation), add all rows up, each
// times its price. Let t_j be what that gives variable j. For a solution z, Σ t_j z_j ≤ 0, because
// every one of these rows is at most 0. A root's objective coefficient is c_j; with s the least
// t_j / c_j over the roots,
//     s · Σ c_j z_j  ≤  Σ_roots t_j z_j  ≤  Σ_arcs −t_j z_j  ≤  Σ_rows b · y,
// where every arc variable is in one capacity row, and y ≥ 0 is the row's least price that covers
// −t_j of its variables. Only s > 0 has to be true.
#include "solver/linear/cut_proof.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "graph/sink_flow.hpp"
#include "solver/linear/simple_fractions.hpp"

namespace forestcoll::solver {
namespace {

// How far a fraction may be from the number that it is guessed from, relative to the largest.
constexpr std::array kTolerances = {1e-11, 1e-10, 1e-9, 1e-8, 1e-7, 1e-6, 1e-5};

// Of prices; a sum over all rows and arcs stays far below 128 bits.
constexpr std::int64_t kMaxPrice = std::int64_t{1} << 40;

double largest(std::span<const double> values) {
  double most = 0;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

bool add_row(const std::vector<Term>& terms, std::int64_t price, std::vector<Int128>& total) {
  for (const Term& term : terms) {
    Int128& sum = total[term.variable];
    if (__builtin_add_overflow(sum, static_cast<Int128>(term.coefficient) * price, &sum)) {
      return false;
    }
  }
  return true;
}

// Twice Σ b·y, so that it is integral: a variable's coefficient in its capacity row is 1 or 2.
std::optional<Int128> twice_capacity_price(const std::vector<CapacityRow>& rows,
                                           const std::vector<Int128>& total) {
  Int128 sum = 0;
  for (const CapacityRow& row : rows) {
    Int128 price = 0;
    for (const Term& term : row.terms) {
      price = std::max(price, -total[term.variable] * (2 / term.coefficient));
    }
    Int128 product = 0;
    if (__builtin_mul_overflow(price, static_cast<Int128>(row.bound), &product) ||
        __builtin_add_overflow(sum, product, &sum)) {
      return std::nullopt;
    }
  }
  return sum;
}

// The bound of integral prices, of the equations and then the cuts.
std::optional<Ratio> bound_of(const CutProgram& program, std::span<const std::vector<Term>> cuts,
                              std::span<const std::int64_t> prices) {
  std::vector<Int128> total(program.variables, 0);
  for (std::size_t i = 0; i < prices.size(); ++i) {
    const bool cut = i >= program.balance.size();
    const auto& row = cut ? cuts[i - program.balance.size()] : program.balance[i];
    if (!add_row(row, prices[i], total)) return std::nullopt;
  }
  const auto capacity = twice_capacity_price(program.capacity, total);
  if (!capacity) return std::nullopt;
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
  return Ratio::reduced(num, static_cast<Int128>(worst->num()) * 2);
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

// Every set of nodes receives what is owned outside it, in every phase.
bool keeps_cuts(const CutProgram& program, const CommonFractions& solution) {
  std::vector<std::int64_t> supply;
  std::int64_t demand = 0;
  for (const Term& owned : program.owned) {
    supply.push_back(owned.coefficient * solution.numerators[owned.variable]);
    demand += supply.back();
  }
  for (const TreePhase& phase : program.phases) {
    std::vector<std::int64_t> capacity;
    for (const std::size_t j : phase.variable) capacity.push_back(solution.numerators[j]);
    graph::SinkFlow flow(phase.graph);
    flow.reset(capacity, supply);
    if (!check_all(flow, program.sinks, demand,
                   [](const SinkSide&) { return std::optional<std::int64_t>(); })) {
      return false;
    }
  }
  return true;
}

bool is_worth(const CutProgram& program, const CommonFractions& solution, const Ratio& worth) {
  Int128 sum = 0;
  for (const Term& root : program.objective) {
    sum += static_cast<Int128>(root.coefficient) * solution.numerators[root.variable];
  }
  return Ratio::reduced(sum, solution.denominator) == worth;
}

// What all arcs of a phase may carry, and all nodes own, is added up in 64 bits.
std::int64_t max_denominator(const CutProgram& program, const Ratio& worth) {
  std::map<std::size_t, Capacity> bound;  // of variables
  for (const CapacityRow& row : program.capacity) {
    for (const Term& term : row.terms) bound[term.variable] = row.bound;
  }
  Int128 all = worth.num() / worth.den() + 1;
  for (const TreePhase& phase : program.phases) {
    Int128 sum = 0;
    for (const std::size_t j : phase.variable) sum += bound[j];
    all = std::max(all, sum);
  }
  Int128 owned = 0;
  for (const Term& term : program.owned) owned += term.coefficient;
  all = std::max(all, owned * (worth.num() / worth.den() + 1));
  return static_cast<std::int64_t>((Int128{1} << 61) / all);
}

}  // namespace

std::optional<UpperProof> prove_upper(const CutProgram& program,
                                      std::span<const std::vector<Term>> cuts,
                                      std::span<const double> prices) {
  const auto used = prices.subspan(program.capacity.size());
  const double most = largest(used);
  if (!(most > 0) || !std::isfinite(most)) return std::nullopt;
  std::optional<UpperProof> best;
  const auto consider = [&](std::vector<std::int64_t> candidate) {
    for (std::size_t i = program.balance.size(); i < candidate.size(); ++i) {
      candidate[i] = std::max<std::int64_t>(candidate[i], 0);
    }
    const auto bound = bound_of(program, cuts, candidate);
    if (bound && (!best || *bound < best->bound)) best = {*bound, std::move(candidate)};
  };
  std::vector<double> relative;
  for (const double price : used) relative.push_back(price / most);
  for (const double tolerance : kTolerances) {
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

std::optional<ExactSolution> prove_reached(const CutProgram& program,
                                           std::span<const double> values, const Ratio& worth) {
  const std::int64_t most = max_denominator(program, worth);
  for (const double tolerance : kTolerances) {
    const auto guess = simple_fractions(values, tolerance * largest(values), most);
    if (guess && is_worth(program, *guess, worth) && keeps_rows(program, *guess) &&
        keeps_cuts(program, *guess)) {
      return ExactSolution{guess->numerators, guess->denominator};
    }
  }
  return std::nullopt;
}

}  // namespace forestcoll::solver
