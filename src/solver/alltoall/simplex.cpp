#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "solver/alltoall/instance/routing.hpp"
#include "solver/alltoall/methods.hpp"
#include "solver/alltoall/vertex.hpp"
#include "solver/linear/linear_program.hpp"
#include "solver/linear/simple_fractions.hpp"

namespace forestcoll::solver::alltoall {
namespace {

// Floating point is this far off its vertex, or less far.
constexpr std::array kTolerances = {1e-9, 1e-7, 1e-5};

// Largest length of an arc: distances and their sums fit easily.
constexpr std::int64_t kMaxLength = std::int64_t{1} << 30;

// Capacities are divided by `scale`, so that θ is near 1.
std::optional<FloatSolution> solve(const Program& program, double scale) {
  LinearProgram solver(program.variables());
  solver.maximise(std::array{Term{0, 1}});
  for (const auto& row : program.conservation) solver.add_equal(row, 0);
  for (const CapacityRow& row : program.capacity) {
    solver.add_at_most(row.terms, static_cast<double>(row.bound) / scale);
  }
  if (!solver.solve() || !(solver.value(0) > 0)) return std::nullopt;
  FloatSolution solution;
  solution.rate = solver.value(0) * scale;
  solution.flow.push_back(0);
  for (std::size_t j = 1; j < program.variables(); ++j) {
    solution.flow.push_back(std::max(solver.value(j), 0.0) / solver.value(0));
  }
  const std::size_t rows = program.conservation.size();
  for (std::size_t i = 0; i < rows; ++i) solution.potential.push_back(solver.price(i));
  for (std::size_t i = 0; i < program.capacity.size(); ++i) {
    solution.price.push_back(std::max(solver.price(rows + i), 0.0));
  }
  return solution;
}

ArcLengths by_arc(const Instance& instance, std::span<const std::int64_t> by_orbit) {
  ArcLengths lengths;
  for (const std::size_t orbit : instance.orbits.arcs.of) lengths.push_back(by_orbit[orbit]);
  return lengths;
}

// An arc is as long as what its orbit carries costs; orbits of a class share the price of their
// row.
void guess_lengths(const Instance& instance, const Program& program,
                   const std::vector<double>& price, Answer& answer) {
  std::vector<double> lengths;
  for (const std::size_t row : program.classes.capacities.of) {
    lengths.push_back(price[row] / (static_cast<double>(program.capacity[row].divisor) *
                                    static_cast<double>(program.orbits[row])));
  }
  const double longest = *std::ranges::max_element(lengths);
  if (!(longest > 0)) return;
  for (double& length : lengths) length /= longest;
  for (const double tolerance : kTolerances) {
    const auto guess = simple_fractions(lengths, tolerance, kMaxLength);
    if (guess) answer.consider(instance, by_arc(instance, guess->numerators));
  }
  // As they are, should they be no simple fractions.
  std::vector<std::int64_t> rounded;
  for (const double length : lengths) {
    rounded.push_back(std::llround(length * static_cast<double>(kMaxLength)));
  }
  answer.consider(instance, by_arc(instance, rounded));
}

// The same with prices that are exact.
void take_prices(const Instance& instance, const Program& program,
                 const std::vector<std::int64_t>& price, Answer& answer) {
  std::vector<Ratio> lengths;
  std::int64_t common = 1, divisor = 0;
  for (const std::size_t row : program.classes.capacities.of) {
    const auto length = Ratio::reduced(
        price[row], static_cast<Int128>(program.capacity[row].divisor) * program.orbits[row]);
    if (!length || *length < Ratio(0)) return;
    const std::int64_t factor = length->den() / std::gcd(length->den(), common);
    if (__builtin_mul_overflow(common, factor, &common)) return;
    lengths.push_back(*length);
  }
  std::vector<std::int64_t> integral;
  for (const Ratio& length : lengths) {
    const auto scaled = checked_mul(length, Ratio(common));
    if (!scaled) return;
    integral.push_back(scaled->num());
    divisor = std::gcd(divisor, scaled->num());
  }
  for (std::int64_t& length : integral) {
    length /= std::max<std::int64_t>(divisor, 1);
    if (length > kMaxLength) return;
  }
  answer.consider(instance, by_arc(instance, integral));
}

void take_flows(const Instance& instance, const Program& program,
                const CommonFractions& by_variable, Answer& answer) {
  const std::size_t arcs = instance.network.graph.arc_count();
  Flows flows(instance.sources.size());
  for (std::size_t j = 0; j < program.classes.flows.of.size(); ++j) {
    flows[j / arcs].push_back(by_variable.numerators[1 + program.classes.flows.of[j]]);
  }
  answer.consider(instance, std::move(flows), by_variable.denominator);
}

}  // namespace

void solve_by_simplex(const Instance& instance, const Program& program, Answer& answer) {
  const auto solution = solve(program, answer.at_most ? answer.at_most->to_double() : 1);
  if (!solution) return;
  guess_lengths(instance, program, solution->price, answer);
  const std::int64_t max_parts = most_parts(instance);
  for (const double tolerance : kTolerances) {
    const auto guess = simple_fractions(solution->flow, tolerance, max_parts);
    if (guess) take_flows(instance, program, *guess, answer);
  }
  if (answer.is_exact()) return;
  if (const auto exact = exact_flows(program, *solution, max_parts)) {
    take_flows(instance, program, *exact, answer);
  }
  if (answer.is_exact()) return;
  if (const auto exact = exact_prices(program, *solution)) {
    take_prices(instance, program, exact->numerators, answer);
  }
}

}  // namespace forestcoll::solver::alltoall
