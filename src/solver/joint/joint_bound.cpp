// The program is solved by cut generation in floating point; what that finds is proved.
#include "forestcoll/joint_bound.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "forestcoll/codes.hpp"
#include "solver/joint/joint_program.hpp"
#include "solver/joint/lengths_bound.hpp"
#include "solver/joint/stream_orbits.hpp"
#include "solver/joint/streams.hpp"
#include "solver/linear/cut_generation.hpp"
#include "solver/linear/cut_proof.hpp"
#include "solver/linear/simple_fractions.hpp"

namespace forestcoll {
namespace {

// Of a length: sums over paths, trees and capacities stay far below 128 bits.
constexpr std::int64_t kMostLength = std::int64_t{1} << 40;
constexpr int kLengthBits = 30;

struct LengthsProof {
  Ratio at_most;  // in units of capacity
  ArcLengths lengths;
};

// The best bound of lengths near these: they are taken as simple fractions, and as they are.
std::optional<LengthsProof> prove_at_most(const Network& network, const JointDemand& demand,
                                          IdVector<ArcId, double> found) {
  const double longest = std::ranges::max(found);
  if (!(longest > 0) || !std::isfinite(longest)) return std::nullopt;
  for (double& length : found) length /= longest;
  std::optional<LengthsProof> best;
  ArcLengths last;
  const auto consider = [&](ArcLengths lengths) {
    if (lengths == last) return;
    const auto bound = solver::bound_by_lengths(network, demand, lengths);
    if (bound && (!best || *bound < best->at_most)) best = {*bound, lengths};
    last = std::move(lengths);
  };
  const std::vector<double> values(found.begin(), found.end());
  for (const double tolerance : solver::kGuessTolerances) {
    const auto guess = solver::simple_fractions(values, tolerance, kMostLength);
    if (!guess) continue;
    ArcLengths lengths;
    for (const std::int64_t length : guess->numerators) lengths.push_back(length);
    consider(std::move(lengths));
  }
  ArcLengths rounded;
  for (const double length : values) {
    rounded.push_back(std::llround(std::ldexp(length, kLengthBits)));
  }
  consider(std::move(rounded));
  return best;
}

Diagnostic joint_rate_too_large() {
  return make_error(Code::E14, "the exact joint rate of these operations does not fit 64 bits",
                    "round the bandwidths to a coarser grid with `quantize`, or the bytes");
}

void add_reached(const Network& network, const JointDemand& demand,
                 const solver::JointProgram& program, const solver::CutGeneration& generation,
                 const Ratio& at_most, JointOptimum& optimum) {
  const Ratio scale(demand.whole(), program.largest_amount());
  const auto limit = checked_div(at_most, scale);
  if (!limit) return;
  const auto found =
      solver::prove_best_reached(program.program(), generation.cuts(), generation.values(), *limit);
  if (!found) return;
  const auto in_units = checked_mul(found->worth, scale);
  const auto reached = in_units ? checked_mul(*in_units, network.unit) : std::nullopt;
  if (!reached) return;
  optimum.reached = *reached;
  optimum.parts = found->solution.denominator;
  for (std::size_t i = 0; i < demand.operations.size(); ++i) {
    optimum.loads.push_back(program.load(i, found->solution.numerators));
  }
}

Expected<JointOptimum> optimum_alone(const Network& network, const JointDemand& demand,
                                     std::size_t operation, const JointLimits& limits) {
  return joint_optimum(network,
                       {{demand.operations[operation]}, {demand.buffers[operation]}, demand.relays},
                       limits);
}

// 1 / Σ (buffer / whole) / rate.
std::optional<Ratio> rate_in_turn(const StepBound& bound) {
  Ratio time;
  for (std::size_t i = 0; i < bound.alone.size(); ++i) {
    const Ratio part(bound.demand.buffers[i], bound.demand.whole());
    const auto of_one = checked_div(part, bound.alone[i].reached);
    const auto sum = of_one ? checked_add(time, *of_one) : std::nullopt;
    if (!sum) return std::nullopt;
    time = *sum;
  }
  return checked_div(Ratio(1), time);
}

}  // namespace

Expected<JointOptimum> joint_optimum(const Network& network, const JointDemand& demand,
                                     const JointLimits& limits) {
  const auto streams = solver::streams_of(network, demand);
  const auto orbits = solver::find_stream_orbits(network, demand, streams);
  const solver::JointProgram program(network, streams, orbits);
  solver::CutGeneration generation(program.program());
  generation.run({limits.rounds, limits.stop, limits.pivots});
  JointOptimum optimum;
  optimum.statistics = {program.program().variables, generation.cuts().size(), generation.rounds()};
  if (generation.values().empty()) return joint_rate_too_large();
  auto proof = prove_at_most(network, demand, program.lengths(generation.prices()));
  if (!proof) return joint_rate_too_large();
  const auto at_most = checked_mul(proof->at_most, network.unit);
  if (!at_most) return joint_rate_too_large();
  optimum.at_most = *at_most;
  optimum.lengths = std::move(proof->lengths);
  add_reached(network, demand, program, generation, proof->at_most, optimum);
  return optimum;
}

Expected<StepBound> bound_step(const Network& network, std::span<const JobOperation> operations,
                               bool relays, const JointLimits& limits) {
  auto demand = joint_demand(network, operations, relays);
  if (!demand) return demand.errors();
  auto together = joint_optimum(network, *demand, limits);
  if (!together) return together.errors();
  StepBound bound{*std::move(demand), *std::move(together), {}, {}};
  for (std::size_t i = 0; i < operations.size(); ++i) {
    auto alone = operations.size() == 1 ? Expected<JointOptimum>(bound.together)
                                        : optimum_alone(network, bound.demand, i, limits);
    if (!alone) return alone.errors();
    bound.alone.push_back(*std::move(alone));
  }
  const auto in_turn = rate_in_turn(bound);
  if (!in_turn) return joint_rate_too_large();
  bound.in_turn = *in_turn;
  return bound;
}

}  // namespace forestcoll
