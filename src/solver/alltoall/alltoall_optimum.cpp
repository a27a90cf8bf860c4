#include "forestcoll/alltoall_optimum.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/check.hpp"
#include "forestcoll/codes.hpp"
#include "solver/alltoall/folded.hpp"
#include "solver/alltoall/instance/answer.hpp"
#include "solver/alltoall/instance/instance.hpp"
#include "solver/alltoall/instance/routing.hpp"
#include "solver/alltoall/methods.hpp"
#include "solver/alltoall/program.hpp"
#include "solver/common/limits_unknown.hpp"

namespace forestcoll {
namespace {

using namespace solver::alltoall;

// Programs that take longer than a few iterations of the first-order method; where links that have
// no choice set the rate, those are enough for a proof.
constexpr std::size_t kManyVariables = 4'000;
constexpr int kTrialIterations = 150;

Diagnostic nothing_to_send() {
  return make_error(Code::A02, "the demand is 0 for all pairs of different ranks",
                    "give at least one pair something to send");
}

Diagnostic too_large() {
  return inexact("the exact all-to-all rate of this fabric does not fit 64 bits");
}

// Shortest paths, and the links that have no choice: a bound and flows to begin with, whatever
// fails later.
void consider_shortest_paths(const Instance& instance, const Folded& folded, Answer& answer) {
  const ArcLengths alike(instance.network.graph.arc_count(), 1);
  answer.consider(instance, alike);
  if (folded.fixed_load > 0) {
    ArcLengths fixed;
    for (const std::size_t orbit : instance.orbits.arcs.of) {
      fixed.push_back(orbit == folded.fixed_orbit ? 1 : 0);
    }
    answer.consider(instance, std::move(fixed));
  }
  const std::int64_t parts = parts_for_routing(instance);
  answer.consider(instance,
                  routed(
                      instance, alike, [](std::size_t, ArcId) { return 0.0; }, parts),
                  parts);
}

// What ranks have for themselves too, as sizes of buffers count it.
std::int64_t total_of(const Demand& demand) {
  if (demand.is_uniform()) return static_cast<std::int64_t>(demand.ranks() * demand.ranks());
  return std::max<std::int64_t>(1, demand.total());
}

Expected<AlltoallOptimum> in_public(const Instance& instance, Answer answer,
                                    const AlltoallStatistics& statistics) {
  if (!answer.at_most || !answer.reached) return too_large();
  const auto of_demand = checked_div(instance.network.unit, Ratio(instance.unit));
  if (!of_demand) return too_large();
  const bool exact = answer.is_exact();
  const std::int64_t total = total_of(instance.demand);
  const auto reached = exact ? checked_mul(*answer.reached, *of_demand)
                             : short_product(*answer.reached, *of_demand, total, Rounding::down);
  const auto at_most =
      exact ? reached : short_product(*answer.at_most, *of_demand, total, Rounding::up);
  if (!reached || !at_most) return too_large();
  AlltoallProof proof{.reached = *reached,
                      .at_most = *at_most,
                      .flows = {},
                      .lengths = std::move(answer.lengths),
                      .cut = std::move(answer.cut)};
  proof.flows.unit = instance.unit;
  proof.flows.parts = answer.parts;
  for (std::size_t i = 0; i < answer.flows.size(); ++i) {
    proof.flows.sources.push_back({instance.sources[i].rank, std::move(answer.flows[i])});
  }
  proof.flows.symmetries = instance.symmetries;
  return AlltoallOptimum{std::move(proof), statistics};
}

}  // namespace

Expected<AlltoallOptimum> alltoall_optimum(const Network& network, const Demand& demand,
                                           const AlltoallOptions& options) {
  FORESTCOLL_CHECK(demand.ranks() == network.ranks.size(), "a demand between the network's ranks");
  if (!network.limits.empty()) return solver::limits_unknown();
  const Instance instance = make_instance(network, demand);
  if (instance.unit == 0) return nothing_to_send();
  AlltoallStatistics statistics{.sources = instance.sources.size()};
  const Folded folded = fold(instance);
  Answer answer;
  std::optional<Program> program;
  // Where every rank is a source of its own, shortest paths from all of them take longer than cuts.
  const bool has_symmetries = !instance.symmetries.empty();
  if (!has_symmetries) {
    program = make_program(instance, options.variables);
    if (!program) consider_islands(instance, answer);
  }
  if (!answer.at_most) consider_shortest_paths(instance, folded, answer);
  if (has_symmetries && !answer.is_exact()) program = make_program(instance, options.variables);
  if (!has_symmetries && !program) consider_trees(instance, options.gap, answer);
  // Links without a choice are theirs to prove, and iterations do not know them.
  if (!answer.reached || !answer.is_near(options.gap)) {
    consider_shortest_paths(instance, folded, answer);
  }
  FirstOrderLimits limits{.gap = 0, .threads = options.threads, .stop = options.stop};
  if (program) {
    statistics.variables = program->variables();
    if (program->variables() > kManyVariables) {
      limits.iterations = kTrialIterations;
      statistics.iterations = improve(instance, folded, limits, answer);
    }
    if (!answer.is_exact()) solve_by_simplex(instance, *program, answer);
  }
  limits = {.gap = options.gap, .threads = options.threads, .stop = options.stop};
  statistics.iterations += improve(instance, folded, limits, answer);
  prefer_cut(instance, answer);
  return in_public(instance, std::move(answer), statistics);
}

}  // namespace forestcoll
