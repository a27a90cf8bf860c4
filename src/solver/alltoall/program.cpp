#include "solver/alltoall/program.hpp"

#include <map>
#include <numeric>
#include <utility>

namespace forestcoll::solver::alltoall {
namespace {

using Sum = std::map<std::size_t, std::int64_t>;

std::vector<Term> terms_of(const Sum& sum) {
  std::vector<Term> terms;
  for (const auto& [variable, coefficient] : sum) {
    if (coefficient != 0) terms.push_back({variable, coefficient});
  }
  return terms;
}

// One node of each class speaks for it: in − out − θ · need = 0.
void add_conservation(const Instance& instance, std::size_t i, Program& program) {
  const Digraph& graph = instance.network.graph;
  const Rank rank = instance.sources[i].rank;
  const NodeId source = instance.network.ranks[rank.index()];
  const auto needs = instance.needs(rank);
  const Partition& classes = program.views[i].nodes;
  std::vector<bool> done(classes.count, false);
  done[classes.of[source.index()]] = true;
  for (std::size_t v = 0; v < graph.node_count(); ++v) {
    if (done[classes.of[v]]) continue;
    done[classes.of[v]] = true;
    Sum sum;
    for (const ArcId a : graph.in(NodeId(v))) ++sum[program.variable(i, a)];
    for (ArcId a = graph.first_out(NodeId(v)); a != graph.last_out(NodeId(v)); ++a.value) {
      --sum[program.variable(i, a)];
    }
    if (needs[NodeId(v)] > 0) sum[0] = -needs[NodeId(v)];
    if (auto terms = terms_of(sum); !terms.empty()) {
      program.conservation.push_back(std::move(terms));
    }
  }
}

// What all arcs of an orbit carry for all sources is what they carry for the chosen ones, times
// the members of the sources' orbits: symmetry spreads it evenly.
void add_capacity(const Instance& instance, Program& program) {
  const Network& network = instance.network;
  std::vector<Sum> loads(instance.orbits.arcs.count);
  std::vector<std::int64_t> bounds(loads.size(), 0);
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    const std::size_t orbit = instance.orbits.arcs.of[a];
    bounds[orbit] += network.capacity[ArcId(a)];
    for (std::size_t i = 0; i < instance.sources.size(); ++i) {
      loads[orbit][program.variable(i, ArcId(a))] += instance.sources[i].members;
    }
  }
  std::map<std::pair<std::vector<Term>, std::int64_t>, std::vector<CapacityRow::Orbit>> rows;
  for (std::size_t orbit = 0; orbit < loads.size(); ++orbit) {
    std::vector<Term> terms = terms_of(loads[orbit]);
    std::int64_t divisor = bounds[orbit];
    for (const Term& term : terms) divisor = std::gcd(divisor, term.coefficient);
    for (Term& term : terms) term.coefficient /= divisor;
    rows[{std::move(terms), bounds[orbit] / divisor}].push_back({orbit, divisor});
  }
  for (auto& [row, orbits] : rows) {
    program.capacity.push_back({row.first, row.second, std::move(orbits)});
  }
}

}  // namespace

std::optional<Program> make_program(const Instance& instance, std::size_t max_variables) {
  Program program;
  for (const Source& source : instance.sources) {
    const NodeId node = instance.network.ranks[source.rank.index()];
    program.views.push_back(view_from(instance.network, node, instance.needs(source.rank)));
    program.first.push_back(program.variables);
    program.variables += program.views.back().arcs.count;
    if (program.variables > max_variables) return std::nullopt;
  }
  for (std::size_t i = 0; i < instance.sources.size(); ++i) {
    add_conservation(instance, i, program);
  }
  add_capacity(instance, program);
  return program;
}

}  // namespace forestcoll::solver::alltoall
