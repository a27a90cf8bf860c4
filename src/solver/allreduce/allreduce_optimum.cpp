// The programs are solved by cut generation in floating point, and what that finds is proved.
#include <algorithm>
#include <optional>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/rate.hpp"
#include "solver/allreduce/allreduce_program.hpp"
#include "solver/allreduce/class_search.hpp"
#include "solver/allreduce/part_both_ways.hpp"
#include "solver/allreduce/split.hpp"
#include "solver/linear/cut_generation.hpp"
#include "solver/linear/cut_proof.hpp"

namespace forestcoll {
namespace {

using solver::AllreduceFabric;
using solver::AllreduceProgram;
using solver::CutGeneration;

// Capacities that are this far apart are cut down first.
constexpr double kWideRange = 1e5;

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

// What trees can use of each arc. X trees of either phase have an edge to each rank and switch but
// one, none of which takes an arc twice, and its echo; and X is at most the narrowest cut. So much
// smaller a capacity than another one would be lost in the tolerances of floating point.
Network without_excess(Network network, const SwitchRoles& roles, Capacity narrowest) {
  const auto spanned = static_cast<Int128>(network.ranks.size()) - 1 +
                       std::ranges::count_if(roles, [](const SwitchRole& role) {
                         return role.copies || role.combines;
                       });
  const Int128 uses = (roles.empty() ? 2 : 4) * spanned;
  for (Capacity& capacity : network.capacity) {
    capacity = static_cast<Capacity>(std::min<Int128>(capacity, uses * narrowest));
  }
  return network;
}

// In the network's units: of the last program that was solved. With few cuts yet, it is a bound all
// the same.
Ratio prove_upper_bound(const Network& network, const AllreduceProgram& program,
                        const CutGeneration& generation, bool complete) {
  std::optional<solver::UpperProof> proved;
  if (!generation.values().empty()) {
    proved = solver::prove_upper(program.program(), generation.cuts(), generation.prices());
  }
  if (proved && complete) return proved->bound;
  const Ratio cut(narrowest_cut(network));
  return proved ? std::min(proved->bound, cut) : cut;
}

Diagnostic too_large() {
  return make_error(Code::E14, "the exact allreduce optimum of this fabric does not fit 64 bits",
                    "round the bandwidths to a coarser grid with `quantize`");
}

}  // namespace

Expected<AllreduceOptimum> allreduce_optimum(const Network& network, const SwitchRoles& roles,
                                             const AllreduceLimits& limits) {
  if (has_wide_range(network)) {
    const Network usable = without_excess(network, roles, narrowest_cut(network));
    if (usable.capacity != network.capacity) return allreduce_optimum(usable, roles, limits);
  }
  const AllreduceFabric fabric(network, roles);
  const AllreduceProgram relaxed = AllreduceProgram::relaxed(fabric);
  CutGeneration generation(relaxed.program());
  const auto outcome = generation.run({limits.rounds, limits.stop, limits.pivots});
  const bool complete = outcome == CutGeneration::Outcome::complete;
  const Ratio upper = prove_upper_bound(network, relaxed, generation, complete);
  const auto algbw = checked_mul(upper, network.unit);
  if (!algbw) return too_large();
  AllreduceOptimum optimum{.upper = *algbw, .statistics = {}};
  optimum.statistics = {relaxed.program().variables, generation.cuts().size(), generation.rounds()};
  if (!complete || limits.classes == 0) return optimum;
  if (roles.empty()) {
    solver::add_reached(network, relaxed, generation, upper, optimum);
    return optimum;
  }
  if (const auto part = solver::part_both_ways(network)) {
    const auto of_part = allreduce_optimum(*part, roles, limits);
    if (of_part && of_part->split) {
      optimum.split = solver::on_whole(*of_part->split, *part, network);
      optimum.value = optimum.split->algbw.to_double();
    }
    if (optimum.is_exact()) return optimum;
  }
  solver::ClassSearch search(fabric, limits);
  search.run(relaxed.arc_prices(generation.prices()), upper.to_double());
  search.add_reached(upper, optimum);
  return optimum;
}

}  // namespace forestcoll
