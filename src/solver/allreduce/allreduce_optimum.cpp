// The program is solved by cut generation in floating point, and what that finds is proved.
#include "forestcoll/allreduce_optimum.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "forestcoll/rate.hpp"
#include "solver/allreduce/allreduce_program.hpp"
#include "solver/linear/cut_generation.hpp"
#include "solver/linear/cut_proof.hpp"

namespace forestcoll {
namespace {

using solver::AllreduceProgram;
using solver::CutGeneration;
using solver::Term;

// How near the exact bound the program's worth has to be to be believed, as a fraction.
constexpr double kAgreement = 1e-6;

// Capacities that are this far apart are cut down first.
constexpr double kWideRange = 1e5;

Diagnostic refusal(std::string code, std::string message, std::string remedy) {
  return {.code = std::move(code),
          .kind = ErrorKind::limit,
          .message = std::move(message),
          .remedy = std::move(remedy)};
}

// The least capacity from one set of nodes to the rest with ranks on both sides; no allreduce is
// faster. For a set T, let X be all data and x(T) what is rooted in T: X - x(T) has to enter T to
// be broadcast, and x(T), what is rooted outside the rest, has to leave the rest to be reduced.
Capacity narrowest_cut(const Network& network) {
  const Weights root = single_root(network, Rank(0));
  return std::min(optimal_rate(network, root).bottleneck.exit,
                  optimal_rate(reversed(network), root).bottleneck.exit);
}

bool has_wide_range(const Network& network) {
  const auto [least, most] = std::ranges::minmax(network.capacity);
  return static_cast<double>(most) > kWideRange * static_cast<double>(least);
}

// What trees can use of each arc. X trees of either phase have N - 1 edges each, none of which
// takes an arc twice, and X is at most the narrowest cut. So much smaller a capacity than another
// one would be lost in the tolerances of floating point.
Network without_excess(Network network, Capacity narrowest) {
  const Int128 uses = 2 * (static_cast<Int128>(network.ranks.size()) - 1);
  for (Capacity& capacity : network.capacity) {
    capacity = static_cast<Capacity>(std::min<Int128>(capacity, uses * narrowest));
  }
  return network;
}

// What a cut generation found, proved and told.
class Conclusion {
 public:
  Conclusion(const Network& network, const AllreduceProgram& program,
             const CutGeneration& generation)
      : network_(network),
        program_(program),
        generation_(generation),
        statistics_{.variables = program.program().variables,
                    .cuts = generation.cuts().size(),
                    .rounds = generation.rounds()} {}

  // Of the last program that was solved.
  Expected<AllreduceOptimum> of_complete() const {
    const auto proved =
        solver::prove_upper(program_.program(), generation_.cuts(), generation_.prices());
    if (!proved) return bound_by_cut();
    const auto exact =
        solver::prove_reached(program_.program(), generation_.values(), proved->bound);
    auto optimum = exact ? bounded_by(proved->bound) : bound_by_cut(proved->bound);
    if (!optimum) return optimum;
    if (exact) {
      optimum->split = split_of(*exact);
      optimum->value = optimum->upper.to_double();
      return optimum;
    }
    const double upper = optimum->upper.to_double();
    const double value = std::min(worth() * network_.unit.to_double(), upper);
    if (value >= upper * (1 - kAgreement)) optimum->value = value;
    return optimum;
  }

  // Where floating point did not find all of it.
  [[nodiscard]] Expected<AllreduceOptimum> bound_by_cut(
      const std::optional<Ratio>& proved = std::nullopt) const {
    const Ratio cut(narrowest_cut(network_));
    return bounded_by(proved ? std::min(*proved, cut) : cut);
  }

 private:
  // In the network's units.
  [[nodiscard]] double worth() const {
    double sum = 0;
    for (const Term& root : program_.program().objective) {
      sum += static_cast<double>(root.coefficient) * generation_.values()[root.variable];
    }
    return sum;
  }

  [[nodiscard]] Expected<AllreduceOptimum> bounded_by(const Ratio& limit) const {
    const auto upper = checked_mul(limit, network_.unit);
    if (upper) return AllreduceOptimum{.upper = *upper, .statistics = statistics_};
    return refusal("E14", "the exact allreduce optimum of this fabric does not fit 64 bits",
                   "round the bandwidths to a coarser grid with --quantize");
  }

  AllreduceSplit split_of(const solver::ExactSolution& solution) const {
    const auto value = [&](std::size_t variable) {
      return Ratio(solution.numerators[variable], solution.denominator);
    };
    AllreduceSplit split;
    for (const NodeId v : network_.ranks) split.root.push_back(value(program_.root(v)));
    for (std::size_t a = 0; a < network_.graph.arc_count(); ++a) {
      split.reduce.push_back(value(program_.reduce(ArcId(a))));
      split.broadcast.push_back(value(program_.broadcast(ArcId(a))));
    }
    return split;
  }

  const Network& network_;
  const AllreduceProgram& program_;
  const CutGeneration& generation_;
  AllreduceStatistics statistics_;
};

}  // namespace

Expected<AllreduceOptimum> allreduce_optimum(const Network& network,
                                             const AllreduceLimits& limits) {
  if (has_wide_range(network)) {
    Network usable = without_excess(network, narrowest_cut(network));
    if (usable.capacity != network.capacity) return allreduce_optimum(usable, limits);
  }
  const AllreduceProgram program(network);
  if (const std::size_t variables = program.program().variables; variables > limits.variables) {
    return refusal("A01",
                   fmt::format("the linear program of the allreduce optimum has {} variables after "
                               "symmetry; it is not tried beyond {}",
                               variables, limits.variables),
                   "");
  }
  CutGeneration generation(program.program());
  const auto outcome = generation.run({.rounds = limits.rounds});
  if (outcome == CutGeneration::Outcome::given_up) {
    return refusal("A01",
                   fmt::format("the linear program of the allreduce optimum was given up after {} "
                               "round{} of cuts",
                               limits.rounds, limits.rounds == 1 ? "" : "s"),
                   "");
  }
  const Conclusion conclusion(network, program, generation);
  return outcome == CutGeneration::Outcome::complete ? conclusion.of_complete()
                                                     : conclusion.bound_by_cut();
}

}  // namespace forestcoll
