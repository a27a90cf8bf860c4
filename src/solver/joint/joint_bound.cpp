// Floating point finds lengths, trees and paths; exact arithmetic proves what they are worth.
#include "forestcoll/joint_bound.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "forestcoll/codes.hpp"
#include "solver/joint/lengths_program.hpp"
#include "solver/joint/mixture.hpp"
#include "solver/joint/portions.hpp"
#include "solver/joint/pricing.hpp"
#include "solver/joint/shares.hpp"
#include "solver/linear/simple_fractions.hpp"

namespace forestcoll {
namespace {

// Of a length: sums over paths, trees and capacities stay far below 128 bits.
constexpr std::int64_t kMostLength = std::int64_t{1} << 40;
constexpr int kLengthBits = 30;

constexpr int kWeightBits = 40;
constexpr int kPartBits = 64;  // so that a part of a weight is as exact as the weight
constexpr int kLoadBits = 60;

struct LengthsProof {
  Ratio at_most;                       // in units of capacity
  std::vector<std::int64_t> by_class;  // of arcs and limits
};

// The best bound of lengths near these, which are by class: they are taken as simple fractions, and
// as they are.
class LengthsProver {
 public:
  LengthsProver(const Network& network, const JointDemand& demand, const solver::Portions& portions,
                solver::Pricing& pricing)
      : network_(network), demand_(demand), portions_(portions), pricing_(pricing) {}

  void consider(std::vector<double> found) {
    const double longest = found.empty() ? 0 : std::ranges::max(found);
    if (!(longest > 0) || !std::isfinite(longest)) return;
    for (double& length : found) length /= longest;
    for (const double tolerance : solver::kGuessTolerances) {
      const auto guess = solver::simple_fractions(found, tolerance, kMostLength);
      if (guess) prove(guess->numerators);
    }
    std::vector<std::int64_t> rounded;
    for (const double length : found) {
      rounded.push_back(std::llround(std::ldexp(length, kLengthBits)));
    }
    prove(rounded);
  }

  [[nodiscard]] const std::optional<LengthsProof>& best() const { return best_; }

 private:
  void prove(const std::vector<std::int64_t>& by_class) {
    if (!known_.insert(by_class).second) return;
    const auto bound =
        solver::bound_by_lengths(network_, portions_, demand_.whole(), pricing_, by_class);
    if (bound && (!best_ || *bound < best_->at_most)) best_ = {*bound, by_class};
  }

  const Network& network_;
  const JointDemand& demand_;
  const solver::Portions& portions_;
  solver::Pricing& pricing_;
  std::set<std::vector<std::int64_t>> known_;
  std::optional<LengthsProof> best_;
};

// Of one operation bytes do not count, nor of several that have as many.
Diagnostic rate_too_large(const JointDemand& demand) {
  if (demand.operations.size() == 1) {
    return inexact("the exact rate of this collective does not fit 64 bits");
  }
  const char* message = "the exact joint rate of these operations does not fit 64 bits";
  if (std::ranges::count(demand.buffers, demand.whole()) == std::ssize(demand.buffers)) {
    return inexact(message);
  }
  return make_error(Code::E14, message,
                    "round the bandwidths to a coarser grid with `quantize`, or the bytes");
}

// The weights that floating point found, as the vertex that they are, or as they are.
std::optional<solver::Mixture> prove_reached(const Network& network, const JointDemand& demand,
                                             const solver::Portions& portions,
                                             const solver::LengthsProgram& program) {
  const std::vector<double> weights = program.weights();
  const auto parts_of = [&](std::size_t i) {
    return portions.portions[program.columns()[i].portion].parts;
  };
  double largest = 0;  // what a column carries, of all its parts
  for (std::size_t i = 0; i < weights.size(); ++i) {
    largest = std::max(largest, weights[i] * static_cast<double>(parts_of(i)));
  }
  if (!(largest > 0) || !std::isfinite(largest)) return std::nullopt;
  std::optional<solver::Mixture> best;
  const auto consider = [&](const solver::ColumnWeights& whole) {
    auto found = solver::add_up(network, portions, demand.whole(), program.columns(), whole);
    if (found && (!best || found->reached > best->reached)) best = std::move(found);
  };
  if (const auto exact = solver::exact_weights(network, portions, program)) consider(*exact);
  solver::ColumnWeights rounded;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const double carried = weights[i] * static_cast<double>(parts_of(i)) / largest;
    solver::ColumnWeights::value_type weight = std::llround(std::ldexp(carried, kWeightBits));
    weight <<= kPartBits;
    rounded.push_back(weight / parts_of(i));
  }
  solver::level(portions, program.columns(), rounded);
  consider(rounded);
  return best;
}

// A class of arcs shares evenly what it carries. Parts of the capacity, to be shown.
std::vector<IdVector<ArcId, double>> loads_of(const Network& network,
                                              const solver::Portions& portions,
                                              const solver::Mixture& mixture) {
  const std::vector<Capacity> capacity = solver::capacity_by_class(network, portions);
  std::vector<IdVector<ArcId, double>> loads;
  for (const auto& of_operation : mixture.loads) {
    auto& load = loads.emplace_back();
    for (const std::size_t k : portions.arcs.of) {
      const solver::ColumnWeights::value_type parts =
          (of_operation[k] << kLoadBits) / (mixture.parts * capacity[k]);
      load.push_back(std::ldexp(parts.convert_to<double>(), -kLoadBits));
    }
  }
  return loads;
}

Expected<JointOptimum> optimum_alone(const Network& network, const JointDemand& demand,
                                     std::size_t operation, const JointLimits& limits) {
  return joint_optimum(network,
                       {{demand.operations[operation]}, {demand.buffers[operation]}, demand.relays},
                       limits);
}

// Times in floating point, a little more than they are, where their exact sum does not fit.
std::optional<Ratio> no_less_than(double time) {
  constexpr int kTimeBits = 40;
  const double parts = std::ceil(std::ldexp(time, kTimeBits) * (1 + 0x1p-40));
  if (!(parts < 0x1p62)) return std::nullopt;
  return Ratio(static_cast<std::int64_t>(parts) + 1, std::int64_t{1} << kTimeBits);
}

// 1 / Σ (buffer / whole) / rate, of buffers with their weights, or without: these say who is done
// first at once, and not how much there is to do.
std::optional<Ratio> rate_in_turn(const StepBound& bound, bool weighted) {
  const std::int64_t of_largest = bound.demand.weight(bound.demand.largest());
  Ratio time;
  for (std::size_t i = 0; i < bound.alone.size(); ++i) {
    const Ratio without = weighted ? Ratio(1) : Ratio(of_largest, bound.demand.weight(i));
    const auto part = checked_mul(Ratio(bound.demand.buffers[i], bound.demand.whole()), without);
    if (!part) return std::nullopt;
    const Ratio& rate = bound.alone[i].reached;
    const auto of_one = checked_div(*part, rate);
    auto sum = of_one ? checked_add(time, *of_one) : std::nullopt;
    if (!sum) sum = no_less_than(time.to_double() + part->to_double() / rate.to_double());
    if (!sum) return std::nullopt;
    time = *sum;
  }
  return checked_div(Ratio(1), time);
}

}  // namespace

Expected<JointOptimum> joint_optimum(const Network& network, const JointDemand& demand,
                                     const JointLimits& limits) {
  const solver::Portions portions = solver::portions_of(network, demand);
  solver::Pricing pricing(network, demand.relays, portions);
  solver::LengthsProgram program(network, portions);
  const double longest =
      static_cast<double>(demand.whole()) * network.unit.to_double() / limits.least_rate;
  if (!program.run(pricing, {limits.rounds, limits.pivots, limits.stop, longest})) {
    return rate_too_large(demand);
  }
  JointOptimum optimum;
  LengthsProver prover(network, demand, portions, pricing);
  prover.consider(program.lengths());
  prover.consider(program.best_lengths());
  if (!prover.best()) return rate_too_large(demand);
  const auto at_most = checked_mul(prover.best()->at_most, network.unit);
  if (!at_most) return rate_too_large(demand);
  optimum.at_most = *at_most;
  const auto& proof = prover.best()->by_class;
  for (const std::size_t k : portions.arcs.of) optimum.lengths.push_back(proof[k]);
  for (const std::size_t k : portions.limits.of) {
    optimum.limit_lengths.push_back(proof[portions.arcs.count + k]);
  }
  if (program.is_too_long()) return optimum;
  const auto mixture = prove_reached(network, demand, portions, program);
  const auto reached = mixture ? checked_mul(mixture->reached, network.unit) : std::nullopt;
  if (!reached) return rate_too_large(demand);
  optimum.reached = *reached;
  optimum.loads = loads_of(network, portions, *mixture);
  if (limits.shares) {
    optimum.shares = solver::shares_of(network, demand, portions, program.columns(), *mixture);
  }
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
  const auto in_turn = rate_in_turn(bound, false);
  const auto in_parts = rate_in_turn(bound, true);
  if (!in_turn || !in_parts) return rate_too_large(bound.demand);
  bound.in_turn = *in_turn;
  // One after the other in small parts is one way to do all of it at once.
  if (!bound.together.is_exact()) {
    bound.together.reached = std::max(bound.together.reached, *in_parts);
  }
  return bound;
}

}  // namespace forestcoll
