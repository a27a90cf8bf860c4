#include "solver/allreduce/at_once.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "forestcoll/allreduce.hpp"
#include "solver/allreduce/allreduce_program.hpp"
#include "solver/allreduce/split.hpp"
#include "solver/common/few_ranks.hpp"
#include "solver/common/reaches_all.hpp"
#include "solver/linear/cut_generation.hpp"
#include "solver/linear/cut_proof.hpp"
#include "solver/linear/even_solution.hpp"
#include "solver/linear/nearest_exact.hpp"
#include "solver/symmetry/automorphisms.hpp"

namespace forestcoll::solver {
namespace {

// Of sums of capacities times the ranks, as `Network` promises.
constexpr Int128 kMost = Int128{1} << 62;

// Of more ranks that are not alike, the program takes minutes, and CLP may abort on it.
constexpr std::size_t kMostRanks = 1024;

// What even divisions reach of the rate that is proved: less leaves them more room.
constexpr double kEvenRate = 1 - 1.0 / 320;

// What those reach that exact ones are looked for next to: with all of it they would be found too
// slowly where little room is left.
constexpr double kNextTo = 1 - 1e-4;

// X, if what enters all ranks were the only limit, in GB/s.
std::optional<Ratio> allowed_by_ranks(const Network& network) {
  std::int64_t entering = 0;
  for (const NodeId v : network.ranks) {
    for (const ArcId a : network.graph.in(v)) entering += network.capacity[a];
  }
  const auto ranks = static_cast<std::int64_t>(network.ranks.size());
  return checked_mul(Ratio(entering, 2 * (ranks - 1)), network.unit);
}

bool are_alike(const AllreduceFabric& fabric, const Weights& weights) {
  const auto orbit = [&](NodeId v) { return fabric.orbits.nodes.of[v.index()]; };
  return std::ranges::all_of(
             fabric.network.ranks,
             [&](NodeId v) { return orbit(v) == orbit(fabric.network.ranks.front()); }) &&
         std::ranges::all_of(weights, [&](std::int64_t w) { return w == *weights.begin(); });
}

// What a commodity takes, as a fabric: arcs that it takes nothing of are left out.
std::optional<Network> part_of(const Network& network, const AllreduceCommodity& commodity,
                               const TreeCommodity& variables, const ExactSolution& solution,
                               const Weights& shares) {
  Network part;
  std::vector<Arc> arcs;
  std::int64_t common = solution.denominator;
  Int128 all = 0;
  for (std::size_t a = 0; a < variables.variable.size(); ++a) {
    const std::int64_t taken = solution.numerators[variables.variable[a]];
    if (taken == 0) continue;
    arcs.push_back(commodity.twins.graph.arcs()[a]);
    part.capacity.push_back(taken);
    common = std::gcd(common, taken);
    all += taken;
  }
  for (Capacity& capacity : part.capacity) capacity /= common;
  const Int128 data = std::accumulate(shares.begin(), shares.end(), Int128{0});
  const Int128 most = std::max(data, static_cast<Int128>(network.ranks.size()));
  const auto unit = checked_mul(network.unit, Ratio(common, solution.denominator));
  if (!unit || most >= kMost || all / common >= kMost / most) return std::nullopt;
  part.graph = Digraph(network.graph.node_count(), arcs);
  part.unit = *unit;
  part.ranks = network.ranks;
  part.rank_of = network.rank_of;
  part.weight = shares;
  return part;
}

// What the roots have of the broadcast; of the reduce it is the same.
Weights shares_of(const Network& network, const TreeCommodity& variables,
                  const ExactSolution& solution) {
  Weights shares;
  for (const NodeId v : network.ranks) {
    const Term& owned = variables.owned[v];
    shares.push_back(owned.coefficient * solution.numerators[owned.variable]);
  }
  take_common_factor(shares);
  return shares;
}

/// The linear program for some shares of the roots, and what its solution is worth.
class Division {
 public:
  /// `owned`: the shares of the roots; empty: any.
  Division(const AllreduceFabric& fabric, AllreduceProgram program, Weights owned,
           const std::stop_token& stop)
      : fabric_(fabric),
        program_(std::move(program)),
        owned_(std::move(owned)),
        generation_(program_.program()),
        stop_(stop) {}

  // False where nothing is proved.
  bool solve() {
    const AllreduceLimits limits;
    const auto outcome = generation_.run({limits.rounds, stop_, limits.pivots});
    if (outcome != CutGeneration::Outcome::complete) return false;
    const auto upper = prove_upper(program_.program(), generation_.cuts(), generation_.prices());
    if (!upper) return false;
    upper_ = upper->bound;
    return true;
  }

  // GB/s; nothing where that does not fit.
  [[nodiscard]] std::optional<Ratio> upper() const {
    return checked_mul(upper_, fabric_.network.unit);
  }

  // Of the most that is proved, as evenly divided as that allows.
  [[nodiscard]] std::optional<AllreduceDivision> most_even() {
    const auto owned = owned_at_most();
    const auto values =
        owned ? even_values(values_of(*owned), kNextTo) : std::optional<std::vector<double>>();
    const auto nearest =
        values ? nearest_exact(program_.program(), *owned, *values, generation_, stop_)
               : std::nullopt;
    return nearest ? division_at(*nearest) : std::nullopt;
  }

  // Where the program's vertex is to be had exactly.
  [[nodiscard]] std::optional<AllreduceDivision> at_vertex() {
    const auto& solution = vertex();
    return solution ? division_at(*solution) : std::nullopt;
  }

  // With these shares, and a little less than the most.
  std::optional<AllreduceDivision> even(const Weights& shares) {
    const auto values = even_values(owned_by(shares), kEvenRate);
    const auto whole = values ? whole_paths(fabric_, program_, *values) : std::nullopt;
    auto division = whole ? division_of(*whole, shares) : std::nullopt;
    if (!division) return std::nullopt;
    const auto algbw = rate_on(division->broadcast, shares);
    const auto back = division->reduce ? rate_on(*division->reduce, shares) : algbw;
    if (!algbw || !back) return std::nullopt;
    division->algbw = std::min(*algbw, *back);
    return division;
  }

 private:
  const std::optional<ExactSolution>& vertex() {
    if (!vertex_) {
      auto reached =
          prove_best_reached(program_.program(), generation_.cuts(), generation_.values(), upper_);
      vertex_.emplace(reached ? std::optional(std::move(reached->solution)) : std::nullopt);
    }
    return *vertex_;
  }

  // What the roots own: of the most, where their shares are given, and else what the vertex says.
  [[nodiscard]] std::optional<ExactSolution> owned_at_most() {
    const CutProgram& program = program_.program();
    if (owned_.empty()) return vertex();
    const Term& all = program.objective.front();
    const auto each = checked_div(upper_, Ratio(all.coefficient));
    if (!each) return std::nullopt;
    ExactSolution owned{std::vector<std::int64_t>(program.variables, 0), each->den()};
    owned.numerators[all.variable] = each->num();
    return owned;
  }

  // The most that is proved, by these shares.
  [[nodiscard]] std::vector<double> owned_by(const Weights& shares) const {
    std::vector<double> owned(program_.program().variables, 0);
    const double data = std::accumulate(shares.begin(), shares.end(), 0.0);
    const TreeCommodity& trees = program_.program().commodities.front();
    for (const NodeId v : fabric_.network.ranks) {
      const Term& term = trees.owned[v];
      owned[term.variable] = upper_.to_double() / data *
                             static_cast<double>(shares[fabric_.network.rank_of[v]]) /
                             static_cast<double>(term.coefficient);
    }
    return owned;
  }

  static std::vector<double> values_of(const ExactSolution& solution) {
    std::vector<double> values;
    for (const std::int64_t numerator : solution.numerators) {
      values.push_back(static_cast<double>(numerator) / static_cast<double>(solution.denominator));
    }
    return values;
  }

  // Where so much of what is owned is owned.
  std::optional<std::vector<double>> even_values(std::vector<double> owned, double part) {
    for (double& value : owned) value *= part;
    return even_solution(program_.program(), std::move(owned), generation_, stop_);
  }

  [[nodiscard]] std::optional<AllreduceDivision> division_of(const ExactSolution& solution,
                                                             const Weights& shares) const {
    const bool as_owned = !owned_.empty();
    AllreduceDivision division{0, as_owned ? owned_ : shares, as_owned, {}};
    for (std::size_t p = 0; p < program_.commodities().size(); ++p) {
      auto part = part_of(fabric_.network, program_.commodities()[p],
                          program_.program().commodities[p], solution, division.shares);
      if (!part) return std::nullopt;
      if (p == 0) {
        division.broadcast = *std::move(part);
      } else {
        division.reduce = std::move(part);
      }
    }
    return division;
  }

  [[nodiscard]] std::optional<AllreduceDivision> division_at(const ExactSolution& solution) const {
    const CutProgram& program = program_.program();
    auto division =
        division_of(solution, shares_of(fabric_.network, program.commodities.front(), solution));
    Int128 worth = 0;
    for (const Term& root : program.objective) {
      worth += Int128{root.coefficient} * solution.numerators[root.variable];
    }
    const auto rate = Ratio::reduced(worth, solution.denominator);
    const auto algbw = rate ? checked_mul(*rate, fabric_.network.unit) : std::nullopt;
    if (!division || !algbw) return std::nullopt;
    division->algbw = *algbw;
    return division;
  }

  // GB/s; nothing where rounding left no way, where that does not fit, or was stopped.
  [[nodiscard]] std::optional<Ratio> rate_on(const Network& part, const Weights& shares) const {
    if (!reaches_all(part) || !reaches_all(reversed(part))) return std::nullopt;
    const Rate rate = tree_rate(part, shares, stop_);
    const std::int64_t data = std::accumulate(shares.begin(), shares.end(), std::int64_t{0});
    const auto algbw = checked_div(Ratio(data), rate.inverse);
    return algbw && rate.optimal ? checked_mul(*algbw, part.unit) : std::nullopt;
  }

  const AllreduceFabric& fabric_;
  const AllreduceProgram program_;
  const Weights owned_;
  CutGeneration generation_;
  const std::stop_token& stop_;
  Ratio upper_ = 0;                                     // in the network's units
  std::optional<std::optional<ExactSolution>> vertex_;  // once it is asked for
};

/// Of all programs.
struct Divisions {
  std::optional<Ratio> upper;
  std::optional<AllreduceDivision> best, vertex, even;

  // What a program reaches, in place of what is slower; of equals the later one.
  void take(Division& division, bool are_few) {
    auto most = division.most_even();
    auto corner = are_few || !most ? division.at_vertex() : std::nullopt;
    if (!most || (corner && most->algbw < corner->algbw)) most = std::exchange(corner, {});
    if (!most || (best && most->algbw < best->algbw)) return;
    best = std::move(most);
    vertex = std::move(corner);
  }

  [[nodiscard]] BothAtOnce result(const Ratio& two_phases) {
    if (!best) best.swap(even);
    if (!best || !upper) return {std::nullopt, true};
    if (even && even->algbw <= two_phases) even.reset();
    const bool is_open = std::max(best->algbw, two_phases) < *upper;
    if (best->algbw <= two_phases) return {std::nullopt, is_open};
    return {AllreduceParts{*upper, *std::move(best), std::move(vertex), std::move(even)}, is_open};
  }
};

bool is_much_slower(const std::optional<AllreduceDivision>& even, const AllreduceDivision& best) {
  return !even || even->algbw.to_double() < kEvenRate * kEvenRate * best.algbw.to_double();
}

}  // namespace

BothAtOnce parts_at_once(const Network& network, const Weights& weights, const Ratio& two_phases,
                         const std::stop_token& stop) {
  const auto allowed = allowed_by_ranks(network);
  if (allowed && *allowed <= two_phases) return {};
  const AllreduceFabric fabric(network, {});
  if (are_alike(fabric, weights)) return {};
  if (network.ranks.size() > kMostRanks) return {std::nullopt, true};
  const bool are_few = network.ranks.size() <= kFewRanks;
  std::optional<Division> any;
  Divisions found;
  if (!fabric.reversible) {
    any.emplace(fabric, AllreduceProgram::relaxed(fabric), Weights(), stop);
    if (!any->solve()) return {std::nullopt, true};
    found.upper = any->upper();
    if (found.upper && *found.upper <= two_phases) return {};
    found.take(*any, are_few);
  }
  // Where what the ranks own is as good a share of the roots as any, it is theirs.
  const AllreduceFabric weighted(network, {}, weights);
  Division as_owned(weighted, AllreduceProgram::of_shares(weighted, weights), weights, stop);
  if (as_owned.solve()) {
    if (!found.upper) found.upper = as_owned.upper();
    found.take(as_owned, are_few);
    found.even = as_owned.even(weights);
  }
  // Only where other shares are better.
  if (found.best && !found.best->as_owned && is_much_slower(found.even, *found.best)) {
    found.even = any->even(found.best->shares);
  }
  return found.result(two_phases);
}

std::int64_t take_common_factor(Weights& shares) {
  std::int64_t common = 0;
  for (const std::int64_t share : shares) common = std::gcd(common, share);
  for (std::int64_t& share : shares) share /= common;
  return common;
}

}  // namespace forestcoll::solver
