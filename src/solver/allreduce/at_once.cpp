#include "solver/allreduce/at_once.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "forestcoll/allreduce.hpp"
#include "solver/allreduce/allreduce_program.hpp"
#include "solver/allreduce/whole_paths.hpp"
#include "solver/common/reaches_all.hpp"
#include "solver/linear/cut_generation.hpp"
#include "solver/linear/cut_proof.hpp"
#include "solver/linear/even_solution.hpp"
#include "solver/symmetry/automorphisms.hpp"

namespace forestcoll::solver {
namespace {

// Of sums of capacities times the ranks, as `Network` promises.
constexpr Int128 kMost = Int128{1} << 62;

// Of more ranks that are not alike, the program takes minutes, and CLP may abort on it.
constexpr std::size_t kMostRanks = 1024;

// What even divisions reach of the rate that is proved: less leaves them more room.
constexpr double kEvenRate = 1 - 1.0 / 320;

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

std::optional<AllreduceDivision> division_of(const AllreduceFabric& fabric,
                                             const AllreduceProgram& program,
                                             const ExactSolution& solution, const Weights& shares) {
  AllreduceDivision division{.algbw = 0, .shares = shares, .broadcast = {}};
  for (std::size_t p = 0; p < program.commodities().size(); ++p) {
    auto part = part_of(fabric.network, program.commodities()[p], program.program().commodities[p],
                        solution, shares);
    if (!part) return std::nullopt;
    if (p == 0) {
      division.broadcast = *std::move(part);
    } else {
      division.reduce = std::move(part);
    }
  }
  return division;
}

/// The linear program for some shares of the roots, and what its solution is worth.
class Division {
 public:
  Division(const AllreduceFabric& fabric, AllreduceProgram program, const std::stop_token& stop)
      : fabric_(fabric),
        program_(std::move(program)),
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

  // Where the program's vertex is to be had exactly.
  [[nodiscard]] std::optional<AllreduceDivision> exact() const {
    const CutProgram& program = program_.program();
    const auto reached =
        prove_best_reached(program, generation_.cuts(), generation_.values(), upper_);
    if (!reached) return std::nullopt;
    auto division =
        division_of(fabric_, program_, reached->solution,
                    shares_of(fabric_.network, program.commodities.front(), reached->solution));
    const auto algbw = checked_mul(reached->worth, fabric_.network.unit);
    if (!division || !algbw) return std::nullopt;
    division->algbw = *algbw;
    return division;
  }

  // With these shares, and a little less than the most.
  std::optional<AllreduceDivision> even(const Weights& shares) {
    std::vector<double> owned = generation_.values();
    const double data = std::accumulate(shares.begin(), shares.end(), 0.0);
    const TreeCommodity& trees = program_.program().commodities.front();
    for (const NodeId v : fabric_.network.ranks) {
      const Term& term = trees.owned[v];
      owned[term.variable] = kEvenRate * upper_.to_double() / data *
                             static_cast<double>(shares[fabric_.network.rank_of[v]]) /
                             static_cast<double>(term.coefficient);
    }
    const auto values = even_solution(program_.program(), std::move(owned), generation_, stop_);
    const auto whole = values ? whole_paths(fabric_, program_, *values) : std::nullopt;
    auto division = whole ? division_of(fabric_, program_, *whole, shares) : std::nullopt;
    if (!division) return std::nullopt;
    const auto algbw = rate_on(division->broadcast, shares);
    const auto back = division->reduce ? rate_on(*division->reduce, shares) : algbw;
    if (!algbw || !back) return std::nullopt;
    division->algbw = std::min(*algbw, *back);
    return division;
  }

 private:
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
  CutGeneration generation_;
  const std::stop_token& stop_;
  Ratio upper_ = 0;  // in the network's units
};

/// Of all programs.
struct Divisions {
  std::optional<Ratio> upper;
  std::optional<AllreduceDivision> best, even;

  [[nodiscard]] BothAtOnce result(const Ratio& two_phases) {
    if (!best) best.swap(even);
    if (!best || !upper) return {std::nullopt, true};
    if (even && even->algbw <= two_phases) even.reset();
    const bool is_open = std::max(best->algbw, two_phases) < *upper;
    if (best->algbw <= two_phases) return {std::nullopt, is_open};
    return {AllreduceParts{*upper, *std::move(best), std::move(even)}, is_open};
  }
};

// With what the ranks own as shares of the roots; where all are as good, they are these.
void add_as_owned(const Network& network, const Weights& weights, const std::stop_token& stop,
                  Divisions& found) {
  const AllreduceFabric fabric(network, {}, weights);
  Division division(fabric, AllreduceProgram::of_shares(fabric, weights), stop);
  if (!division.solve()) return;
  if (!found.upper) found.upper = division.upper();
  auto exact = division.exact();
  if (exact && (!found.best || found.best->algbw <= exact->algbw)) {
    found.best = std::move(exact);
    found.best->shares = weights;
    found.best->as_owned = true;
  }
  found.even = division.even(weights);
  if (found.even) found.even->as_owned = true;
}

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
  std::optional<Division> any;
  Divisions found;
  if (!fabric.reversible) {
    any.emplace(fabric, AllreduceProgram::relaxed(fabric), stop);
    if (!any->solve()) return {std::nullopt, true};
    found.upper = any->upper();
    if (found.upper && *found.upper <= two_phases) return {};
    found.best = any->exact();
  }
  add_as_owned(network, weights, stop, found);
  // Only where other shares are better.
  if (found.best && !found.best->as_owned && is_much_slower(found.even, *found.best)) {
    found.even = any->even(found.best->shares);
  }
  return found.result(two_phases);
}

Weights rounded_shares(const Weights& shares, std::int64_t total) {
  const Int128 all = std::accumulate(shares.begin(), shares.end(), Int128{0});
  Weights rounded;
  std::int64_t left = total;
  for (const std::int64_t share : shares) {
    rounded.push_back(static_cast<std::int64_t>(Int128{share} * total / all));
    left -= *(rounded.end() - 1);
  }
  std::vector<Rank> order;
  for (std::size_t r = 0; r < shares.size(); ++r) order.emplace_back(r);
  const auto remainder = [&](Rank r) { return Int128{shares[r]} * total % all; };
  std::ranges::stable_sort(order, [&](Rank a, Rank b) { return remainder(a) > remainder(b); });
  for (std::size_t i = 0; i < static_cast<std::size_t>(left); ++i) ++rounded[order[i]];
  return rounded;
}

std::int64_t take_common_factor(Weights& shares) {
  std::int64_t common = 0;
  for (const std::int64_t share : shares) common = std::gcd(common, share);
  for (std::int64_t& share : shares) share /= common;
  return common;
}

bool keeps_fabric(const Symmetry& symmetry, const Network& network) {
  return std::ranges::all_of(symmetry.generators(), [&](const Symmetry::Generator& generator) {
    return is_automorphism(network, generator.nodes);
  });
}

}  // namespace forestcoll::solver
