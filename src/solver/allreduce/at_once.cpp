#include "solver/allreduce/at_once.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "forestcoll/allreduce.hpp"
#include "solver/allreduce/allreduce_program.hpp"
#include "solver/linear/cut_generation.hpp"
#include "solver/linear/cut_proof.hpp"
#include "solver/symmetry/automorphisms.hpp"

namespace forestcoll::solver {
namespace {

// Of sums of capacities times the ranks, as `Network` promises.
constexpr Int128 kMost = Int128{1} << 62;

// Of more ranks that are not alike, the program takes minutes, and CLP may abort on it.
constexpr std::size_t kMostRanks = 1024;

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

// What the linear program for some shares of the roots is worth, in the network's units.
struct Divided {
  Ratio upper;
  ReachedProof reached;
};

std::optional<Divided> solve(const CutProgram& program, const std::stop_token& stop) {
  CutGeneration generation(program);
  const AllreduceLimits limits;
  const auto outcome = generation.run({limits.rounds, stop, limits.pivots});
  if (outcome != CutGeneration::Outcome::complete) return std::nullopt;
  const auto upper = prove_upper(program, generation.cuts(), generation.prices());
  if (!upper) return std::nullopt;
  auto reached = prove_best_reached(program, generation.cuts(), generation.values(), upper->bound);
  if (!reached) return std::nullopt;
  return Divided{upper->bound, *std::move(reached)};
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

std::optional<AllreduceParts> parts_of(const AllreduceFabric& fabric,
                                       const AllreduceProgram& program, const Divided& divided) {
  const Network& network = fabric.network;
  const ExactSolution& solution = divided.reached.solution;
  const auto algbw = checked_mul(divided.reached.worth, network.unit);
  const auto upper = checked_mul(divided.upper, network.unit);
  if (!algbw || !upper) return std::nullopt;
  AllreduceParts parts{.algbw = *algbw, .upper = *upper, .shares = {}, .broadcast = {}};
  parts.shares = shares_of(network, program.program().commodities.front(), solution);
  for (std::size_t p = 0; p < program.commodities().size(); ++p) {
    auto part = part_of(network, program.commodities()[p], program.program().commodities[p],
                        solution, parts.shares);
    if (!part) return std::nullopt;
    if (p == 0) {
      parts.broadcast = *std::move(part);
    } else {
      parts.reduce = std::move(part);
    }
  }
  return parts;
}

// With what the ranks own as shares of the roots.
std::optional<AllreduceParts> parts_as_owned(const Network& network, const Weights& weights,
                                             const std::stop_token& stop) {
  const AllreduceFabric fabric(network, {}, weights);
  const auto program = AllreduceProgram::of_shares(fabric, weights);
  const auto divided = solve(program.program(), stop);
  auto parts = divided ? parts_of(fabric, program, *divided) : std::nullopt;
  if (!parts) return std::nullopt;
  parts->as_owned = true;
  parts->shares = weights;
  return parts;
}

std::optional<AllreduceParts> parts_of_any_shares(const AllreduceFabric& fabric,
                                                  const std::stop_token& stop) {
  const auto program = AllreduceProgram::relaxed(fabric);
  const auto divided = solve(program.program(), stop);
  return divided ? parts_of(fabric, program, *divided) : std::nullopt;
}

}  // namespace

BothAtOnce parts_at_once(const Network& network, const Weights& weights, const Ratio& two_phases,
                         const std::stop_token& stop) {
  const auto allowed = allowed_by_ranks(network);
  if (allowed && *allowed <= two_phases) return {};
  const AllreduceFabric fabric(network, {});
  if (are_alike(fabric, weights)) return {};
  if (network.ranks.size() > kMostRanks) return {std::nullopt, true};
  std::optional<AllreduceParts> best;
  if (!fabric.reversible) {
    best = parts_of_any_shares(fabric, stop);
    if (best && best->upper <= two_phases) return {};
  }
  if (best || fabric.reversible) {
    auto as_owned = parts_as_owned(network, weights, stop);
    if (as_owned && best) as_owned->upper = best->upper;
    if (as_owned && (!best || best->algbw <= as_owned->algbw)) best = std::move(as_owned);
  }
  if (!best) return {std::nullopt, true};
  const Ratio reached = std::max(best->algbw, two_phases);
  const bool is_open = reached < best->upper;
  if (best->algbw <= two_phases) best.reset();
  return {std::move(best), is_open};
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
