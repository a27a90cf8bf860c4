// The rate of trees where switches' two sides differ: see rate.hpp and network.hpp.
#include <array>
#include <cstdint>
#include <numeric>
#include <optional>
#include <utility>
#include <vector>

#include "forestcoll/rate.hpp"
#include "solver/linear/cut_generation.hpp"
#include "solver/linear/cut_proof.hpp"
#include "solver/rate/balance.hpp"
#include "solver/rate/balance_program.hpp"
#include "solver/rate/scale.hpp"
#include "solver/rate/trim.hpp"
#include "solver/symmetry/symmetry.hpp"

namespace forestcoll {
namespace {

using solver::BalanceProgram;
using solver::CutGeneration;

// How many times the least number of trees per root a part may need that is rounded to.
constexpr std::array<std::int64_t, 7> kMultiples = {1, 2, 3, 4, 6, 8, 12};

// Of numbers that are added up in 64 bits.
constexpr Int128 kMost = Int128{1} << 61;

BalanceProof proof_of(const Network& network, const Weights& weights, const BalanceProgram& balance,
                      const CutGeneration& generation, const std::vector<std::int64_t>& prices) {
  BalanceProof proof;
  proof.price.assign(network.graph.node_count(), 0);
  for (std::size_t i = 0; i < balance.switches.size(); ++i) {
    proof.price[balance.switches[i]] = prices[i];
  }
  for (std::size_t i = 0; i < generation.sides().size(); ++i) {
    const std::int64_t price = prices[balance.switches.size() + i];
    if (price == 0) continue;
    PricedCut& cut = proof.cuts.emplace_back(PricedCut{{}, price});
    for (std::size_t v = 0; v < network.graph.node_count(); ++v) {
      if (!generation.sides()[i][v]) cut.sending.push_back(NodeId(v));
    }
  }
  for (const Symmetry& group : solver::find_symmetries(network, weights)) {
    for (const Symmetry::Generator& generator : group.generators()) {
      proof.symmetries.push_back(generator.nodes);
    }
  }
  return proof;
}

/// Finds the part that reaches a rate which is known not to be exceeded.
class PartSearch {
 public:
  PartSearch(const Network& network, const Weights& weights, const Rate& rate)
      : network_(network),
        weights_(weights),
        rate_(rate),
        data_(std::accumulate(weights.begin(), weights.end(), std::int64_t{0})),
        all_(std::accumulate(network.capacity.begin(), network.capacity.end(), Capacity{0})) {}

  std::optional<BalancedPart> where_spare() const {
    const auto at = whole(1);
    if (!at) return std::nullopt;
    auto left = solver::trim_where_spare(network_, at->capacity, owed(at->k));
    if (!left) return std::nullopt;
    return checked({*std::move(left), at->scale.num(), {}});
  }

  // Near a part in floating point, by arc: at first with few trees per root.
  std::optional<BalancedPart> near(const std::vector<double>& part) const {
    for (const std::int64_t multiple : kMultiples) {
      const auto at = whole(multiple);
      if (!at) return std::nullopt;
      std::vector<double> scaled = part;
      for (double& capacity : scaled) capacity *= at->scale.to_double();
      auto left = solver::trim_near(network_, at->capacity, owed(at->k), scaled);
      if (left) return checked({*std::move(left), at->scale.num(), {}});
    }
    return std::nullopt;
  }

  // As the linear program's solution has it.
  std::optional<BalancedPart> exact(const BalanceProgram& balance,
                                    const CutGeneration& generation) const {
    const auto found = solver::prove_reached(balance.program, generation.values(),
                                             Ratio(rate_.inverse.den(), rate_.inverse.num()));
    if (!found) return std::nullopt;
    BalancedPart part;
    part.denominator = found->denominator;
    for (const std::size_t variable : balance.orbits.arcs.of) {
      part.capacity.push_back(found->numerators[variable]);
    }
    return checked(std::move(part));
  }

 private:
  // A whole scale at which the rate is a whole number of trees per root, `multiple` of the least.
  std::optional<Scaling> whole(std::int64_t multiple) const {
    const Int128 k = Int128{rate_.inverse.den()} * multiple;
    const Int128 scale = Int128{rate_.inverse.num()} * multiple;
    if (k >= kMost || k * data_ >= kMost || scale >= kMost || scale * all_ >= kMost) {
      return std::nullopt;
    }
    const Ratio whole(static_cast<std::int64_t>(scale));
    return Scaling{static_cast<std::int64_t>(k), whole, solver::floor_capacities(network_, whole)};
  }

  Weights owed(std::int64_t k) const {
    Weights owed = weights_;
    for (std::int64_t& trees : owed) trees *= k;
    return owed;
  }

  // Nothing where its trees would be too many to count.
  std::optional<BalancedPart> checked(BalancedPart part) const {
    const auto scaling = solver::scaling_of_part(part, rate_.inverse);
    if (!scaling || Int128{scaling->k} * data_ >= kMost) return std::nullopt;
    return part;
  }

  const Network& network_;
  const Weights& weights_;
  const Rate& rate_;
  Int128 data_, all_;
};

void solve_program(const Network& network, const Weights& weights, const std::stop_token& stop,
                   const TreeRateLimits& limits, Rate& rate) {
  const BalanceProgram balance(network, weights);
  if (balance.program.variables > limits.variables) return;
  CutGeneration generation(balance.program);
  if (generation.run({limits.rounds, stop}) != CutGeneration::Outcome::complete) {
    rate.optimal = !stop.stop_requested();
    return;
  }
  const auto upper = solver::prove_upper(balance.program, generation.cuts(), generation.prices());
  if (!upper) return;
  const Ratio inverse(upper->bound.den(), upper->bound.num());
  const bool tighter = rate.inverse < inverse;
  if (tighter) rate.inverse = inverse;
  const PartSearch search(network, weights, rate);
  rate.part = search.near(balance.part_of(generation.values()));
  if (!rate.part) rate.part = search.exact(balance, generation);
  if (rate.part && tighter) {
    rate.part->proof = proof_of(network, weights, balance, generation, upper->prices);
  }
}

}  // namespace

Rate tree_rate(const Network& network, const Weights& weights, const std::stop_token& stop,
               const TreeRateLimits& limits) {
  return tree_rate(network, weights, optimal_rate(network, weights, {}, stop), stop, limits);
}

Rate tree_rate(const Network& network, const Weights& weights, Rate of_cuts,
               const std::stop_token& stop, const TreeRateLimits& limits) {
  Rate rate = std::move(of_cuts);
  if (!rate.optimal || solver::has_balanced_core(network)) return rate;
  rate.part = PartSearch(network, weights, rate).where_spare();
  if (!rate.part) solve_program(network, weights, stop, limits, rate);
  return rate;
}

bool is_proved_by_cut(const Rate& rate) {
  return rate.inverse == Ratio(rate.bottleneck.weight, rate.bottleneck.exit);
}

}  // namespace forestcoll
