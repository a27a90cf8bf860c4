#include "solver/alltoall/program.hpp"

#include <map>
#include <numeric>
#include <utility>

#include "solver/linear/cut_program.hpp"

namespace forestcoll::solver::alltoall {
namespace {

// Sources times arcs: beyond, colour refinement alone would take seconds.
constexpr std::size_t kMostRefinedFlows = 1'500'000;

using Sum = std::map<std::size_t, std::int64_t>;

// One node of each class speaks for it: in − out − θ · need = 0.
void add_conservation(const Instance& instance, Program& program) {
  const Digraph& graph = instance.network.graph;
  const std::size_t nodes = graph.node_count(), arcs = graph.arc_count();
  std::vector<bool> done(program.classes.nodes.count, false);
  for (std::size_t i = 0; i < instance.sources.size(); ++i) {
    const Rank rank = instance.sources[i].rank;
    const auto needs = instance.needs(rank);
    const auto variable = [&](ArcId a) {
      return 1 + program.classes.flows.of[i * arcs + a.index()];
    };
    for (std::size_t v = 0; v < nodes; ++v) {
      const std::size_t number = program.classes.nodes.of[i * nodes + v];
      if (done[number] || NodeId(v) == instance.network.ranks[rank.index()]) continue;
      done[number] = true;
      Sum sum;
      for (const ArcId a : graph.in(NodeId(v))) ++sum[variable(a)];
      for (ArcId a = graph.first_out(NodeId(v)); a != graph.last_out(NodeId(v)); ++a.value) {
        --sum[variable(a)];
      }
      if (needs[NodeId(v)] > 0) sum[0] = -needs[NodeId(v)];
      auto terms = nonzero_terms(sum);
      if (!terms.empty()) program.conservation.push_back(std::move(terms));
    }
  }
}

// What the arcs of an orbit carry for all sources is what they carry for the chosen ones, times the
// members of the sources' orbits: symmetry spreads it evenly.
void add_capacity(const Instance& instance, Program& program) {
  const Partition& classes = program.classes.capacities;
  const std::size_t arcs = instance.network.graph.arc_count();
  program.capacity.resize(classes.count);
  program.orbits.assign(classes.count, 0);
  std::vector<std::size_t> speaker(classes.count);
  for (std::size_t orbit = classes.of.size(); orbit-- > 0;) {
    speaker[classes.of[orbit]] = orbit;
    ++program.orbits[classes.of[orbit]];
  }
  std::vector<Sum> loads(classes.count);
  for (std::size_t a = 0; a < arcs; ++a) {
    const std::size_t orbit = instance.orbits.arcs.of[a];
    const std::size_t number = classes.of[orbit];
    if (speaker[number] != orbit) continue;
    program.capacity[number].bound += instance.network.capacity[ArcId(a)];
    for (std::size_t i = 0; i < instance.sources.size(); ++i) {
      loads[number][1 + program.classes.flows.of[i * arcs + a]] += instance.sources[i].members;
    }
  }
  for (std::size_t number = 0; number < classes.count; ++number) {
    CapacityRow& row = program.capacity[number];
    row.terms = nonzero_terms(loads[number]);
    row.divisor = row.bound;
    for (const Term& term : row.terms) row.divisor = std::gcd(row.divisor, term.coefficient);
    for (Term& term : row.terms) term.coefficient /= row.divisor;
    row.bound /= row.divisor;
  }
}

}  // namespace

std::optional<Program> make_program(const Instance& instance, std::size_t max_variables) {
  if (instance.sources.size() * instance.network.graph.arc_count() > kMostRefinedFlows)
    return std::nullopt;
  auto classes = refine(instance, max_variables);
  if (!classes) return std::nullopt;
  Program program{*std::move(classes), {}, {}, {}};
  add_conservation(instance, program);
  add_capacity(instance, program);
  return program;
}

}  // namespace forestcoll::solver::alltoall
