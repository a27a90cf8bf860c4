#include "solver/allreduce/allreduce_program.hpp"

#include <map>
#include <set>
#include <utility>

#include "forestcoll/rate.hpp"
#include "solver/symmetry/network_orbits.hpp"

namespace forestcoll::solver {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

}  // namespace

AllreduceProgram::AllreduceProgram(const Network& network) : network_(network) {
  const auto [nodes, arcs] = find_network_orbits(network, uniform_weights(network));
  number_arcs(arcs.of, arcs.count);
  number_roots(nodes.of, nodes.count);
  make_phases();
  add_capacity_rows();
  add_balance_rows();
}

// Whether every arc has an equal one the other way.
bool AllreduceProgram::reversible() const {
  const auto& arcs = network_.graph.arcs();
  for (std::size_t a = 0; a < arcs.size(); ++a) {
    const ArcId back = network_.graph.find(arcs[a].head, arcs[a].tail);
    if (!back.valid() || network_.capacity[back] != network_.capacity[ArcId(a)]) return false;
  }
  return true;
}

void AllreduceProgram::number_arcs(const std::vector<std::size_t>& orbit, std::size_t orbits) {
  const Digraph& graph = network_.graph;
  const bool turned = reversible();
  arcs_.assign(orbits, ArcId());
  broadcast_.assign(orbit.size(), 0);
  reduce_.assign(orbit.size(), 0);
  for (std::size_t a = 0; a < orbit.size(); ++a) {
    const Arc& arc = graph.arcs()[a];
    broadcast_[ArcId(a)] = orbit[a];
    reduce_[ArcId(a)] = turned ? orbit[graph.find(arc.head, arc.tail).index()] : orbits + orbit[a];
    if (!arcs_[orbit[a]].valid()) arcs_[orbit[a]] = ArcId(a);
  }
  program_.variables = turned ? orbits : 2 * orbits;
}

void AllreduceProgram::number_roots(const std::vector<std::size_t>& orbit, std::size_t orbits) {
  std::vector<std::size_t> number(orbits, kNone);
  std::map<std::size_t, std::int64_t> ranks;  // by variable
  program_.owned.assign(orbit.size(), Term());
  for (std::size_t i = 0; i < orbit.size(); ++i) {
    const NodeId v(i);
    const bool first = number[orbit[i]] == kNone;
    if (network_.is_compute(v)) {
      if (first) {
        number[orbit[i]] = program_.variables++;
        program_.sinks.push_back(v);
      }
      program_.owned[v] = {number[orbit[i]], 1};
      ++ranks[number[orbit[i]]];
    } else if (first) {
      number[orbit[i]] = 0;
      switches_.push_back(v);
    }
  }
  for (const auto& [variable, count] : ranks) program_.objective.push_back({variable, count});
}

void AllreduceProgram::make_phases() {
  const Digraph& graph = network_.graph;
  program_.phases.push_back({graph, {broadcast_.begin(), broadcast_.end()}});
  if (reversible()) return;
  std::vector<Arc> turned;
  for (const Arc& arc : graph.arcs()) turned.push_back({arc.head, arc.tail});
  std::vector<std::size_t> original;
  TreePhase phase{Digraph(graph.node_count(), turned, &original), {}};
  for (const std::size_t a : original) phase.variable.push_back(reduce_[ArcId(a)]);
  program_.phases.push_back(std::move(phase));
}

// Both phases share every arc.
void AllreduceProgram::add_capacity_rows() {
  std::set<std::pair<std::vector<Term>, Capacity>> rows;  // an orbit and its reverse share one
  for (const ArcId a : arcs_) {
    std::vector<Term> terms = {{broadcast_[a], 1}, {reduce_[a], 1}};
    if (broadcast_[a] == reduce_[a]) terms = {{broadcast_[a], 2}};
    if (reduce_[a] < broadcast_[a]) std::swap(terms.front(), terms.back());
    rows.emplace(std::move(terms), network_.capacity[a]);
  }
  for (const auto& [terms, bound] : rows) program_.capacity.push_back({terms, bound});
}

void AllreduceProgram::add_balance_rows() {
  for (const TreePhase& phase : program_.phases) {
    for (const NodeId w : switches_) {
      if (auto row = balance_row(phase, w); !row.empty())
        program_.balance.push_back(std::move(row));
    }
  }
}

}  // namespace forestcoll::solver
