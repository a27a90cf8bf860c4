#include "solver/allreduce/at_once.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "forestcoll/allreduce_optimum.hpp"
#include "solver/allreduce/allreduce_program.hpp"
#include "solver/linear/cut_generation.hpp"
#include "solver/linear/cut_proof.hpp"

namespace forestcoll::solver {
namespace {

// Of sums of capacities times the ranks, as `Network` promises.
constexpr Int128 kMost = Int128{1} << 62;

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

// What a phase takes, as a fabric: arcs that it takes nothing of are left out.
std::optional<Network> part_of(const Network& network, const AllreducePhase& phase,
                               const TreePhase& variables, const ExactSolution& solution) {
  Network part;
  std::vector<Arc> arcs;
  std::int64_t common = solution.denominator;
  Int128 all = 0;
  for (std::size_t a = 0; a < variables.variable.size(); ++a) {
    const std::int64_t taken = solution.numerators[variables.variable[a]];
    if (taken == 0) continue;
    arcs.push_back(phase.twins.graph.arcs()[a]);
    part.capacity.push_back(taken);
    common = std::gcd(common, taken);
    all += taken;
  }
  for (Capacity& capacity : part.capacity) capacity /= common;
  std::int64_t data = static_cast<std::int64_t>(network.ranks.size());
  if (!network.weight.empty()) {
    data = std::max(data,
                    std::accumulate(network.weight.begin(), network.weight.end(), std::int64_t{0}));
  }
  const auto unit = checked_mul(network.unit, Ratio(common, solution.denominator));
  if (!unit || all / common * data >= kMost) return std::nullopt;
  part.graph = Digraph(network.graph.node_count(), arcs);
  part.unit = *unit;
  part.ranks = network.ranks;
  part.rank_of = network.rank_of;
  part.weight = network.weight;
  return part;
}

}  // namespace

std::optional<AllreduceParts> parts_at_once(const Network& network, const Weights& weights,
                                            const Ratio& two_phases, const std::stop_token& stop) {
  const auto allowed = allowed_by_ranks(network);
  if (!allowed || *allowed <= two_phases) return std::nullopt;
  const AllreduceFabric fabric(network, {}, weights);
  if (are_alike(fabric, weights)) return std::nullopt;
  const auto shared = AllreduceProgram::of_shares(fabric, weights);
  const CutProgram& program = shared.program();
  CutGeneration generation(program);
  const AllreduceLimits limits;
  const auto outcome = generation.run({limits.rounds, stop, limits.pivots});
  if (outcome != CutGeneration::Outcome::complete) return std::nullopt;
  const auto upper = prove_upper(program, generation.cuts(), generation.prices());
  const auto limit = upper ? checked_mul(upper->bound, network.unit) : std::nullopt;
  if (!limit || *limit <= two_phases) return std::nullopt;
  const auto reached =
      prove_best_reached(program, generation.cuts(), generation.values(), upper->bound);
  const auto algbw = reached ? checked_mul(reached->worth, network.unit) : std::nullopt;
  if (!algbw || *algbw <= two_phases) return std::nullopt;
  std::vector<Network> parts;
  for (std::size_t p = 0; p < shared.phases().size(); ++p) {
    auto part = part_of(network, shared.phases()[p], program.phases[p], reached->solution);
    if (!part) return std::nullopt;
    parts.push_back(*std::move(part));
  }
  AllreduceParts result{*algbw, *limit, std::move(parts.front())};
  if (!fabric.reversible) result.reduce = std::move(parts.back());
  return result;
}

bool keeps_fabric(const Symmetry& symmetry, const Network& network) {
  const Digraph& graph = network.graph;
  return std::ranges::all_of(symmetry.generators(), [&](const Symmetry::Generator& generator) {
    for (std::size_t i = 0; i < graph.arc_count(); ++i) {
      const Arc& arc = graph.arcs()[i];
      const ArcId image = graph.find(generator.nodes[arc.tail], generator.nodes[arc.head]);
      if (!image.valid() || network.capacity[image] != network.capacity[ArcId(i)]) return false;
    }
    return true;
  });
}

}  // namespace forestcoll::solver
