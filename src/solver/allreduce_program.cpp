#include "solver/allreduce_program.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "forestcoll/rate.hpp"
#include "solver/network_orbits.hpp"
#include "solver/symmetry.hpp"

namespace forestcoll::solver {
namespace {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

NetworkOrbits find_orbits(const Network& network) {
  std::vector<NodeImage> automorphisms;
  for (const Symmetry& group : find_symmetries(network, uniform_weights(network))) {
    for (const Symmetry::Generator& generator : group.generators()) {
      automorphisms.push_back(generator.nodes);
    }
  }
  return orbits_under(network, automorphisms);
}

std::vector<Term> terms_of(const std::map<std::size_t, std::int64_t>& coefficients) {
  std::vector<Term> terms;
  for (const auto& [variable, coefficient] : coefficients) {
    if (coefficient != 0) terms.push_back({variable, coefficient});
  }
  return terms;
}

}  // namespace

AllreduceProgram::AllreduceProgram(const Network& network) : network_(network) {
  const auto [nodes, arcs] = find_orbits(network);
  number_arcs(arcs.of, arcs.count);
  number_roots(nodes.of, nodes.count);
  make_phases(!reversible());
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
  variables_ = turned ? orbits : 2 * orbits;
}

void AllreduceProgram::number_roots(const std::vector<std::size_t>& orbit, std::size_t orbits) {
  std::vector<std::size_t> number(orbits, kNone);
  root_.assign(orbit.size(), kNone);
  for (std::size_t i = 0; i < orbit.size(); ++i) {
    const NodeId v(i);
    const bool first = number[orbit[i]] == kNone;
    if (network_.is_compute(v)) {
      if (first) {
        number[orbit[i]] = variables_++;
        sinks_.push_back(v);
      }
      root_[v] = number[orbit[i]];
    } else if (first) {
      number[orbit[i]] = 0;
      switches_.push_back(v);
    }
  }
}

void AllreduceProgram::make_phases(bool both) {
  const Digraph& graph = network_.graph;
  phases_.push_back({graph, {broadcast_.begin(), broadcast_.end()}});
  if (!both) return;
  std::vector<Arc> turned;
  for (const Arc& arc : graph.arcs()) turned.push_back({arc.head, arc.tail});
  std::vector<std::size_t> original;
  AllreducePhase phase{Digraph(graph.node_count(), turned, &original), {}};
  for (const std::size_t a : original) phase.variable.push_back(reduce_[ArcId(a)]);
  phases_.push_back(std::move(phase));
}

std::vector<Term> AllreduceProgram::objective() const {
  std::map<std::size_t, std::int64_t> ranks;
  for (const NodeId v : network_.ranks) ++ranks[root_[v]];
  return terms_of(ranks);
}

std::vector<CapacityRow> AllreduceProgram::capacity_rows() const {
  std::set<std::pair<std::vector<Term>, Capacity>> rows;  // an orbit and its reverse share one
  for (const ArcId a : arcs_) {
    std::map<std::size_t, std::int64_t> phases;
    ++phases[broadcast_[a]];
    ++phases[reduce_[a]];
    rows.emplace(terms_of(phases), network_.capacity[a]);
  }
  std::vector<CapacityRow> list;
  for (const auto& [terms, bound] : rows) list.push_back({terms, bound});
  return list;
}

std::vector<std::vector<Term>> AllreduceProgram::balance_rows() const {
  std::vector<std::vector<Term>> rows;
  for (const AllreducePhase& phase : phases_) {
    for (const NodeId w : switches_) {
      std::map<std::size_t, std::int64_t> sum;
      for (const ArcId a : phase.graph.in(w)) ++sum[phase.variable[a.index()]];
      for (ArcId a = phase.graph.first_out(w); a != phase.graph.last_out(w); ++a.value) {
        --sum[phase.variable[a.index()]];
      }
      if (auto terms = terms_of(sum); !terms.empty()) rows.push_back(std::move(terms));
    }
  }
  return rows;
}

std::vector<Term> AllreduceProgram::cut_row(const AllreducePhase& phase,
                                            const SinkSide& side) const {
  std::map<std::size_t, std::int64_t> sum;
  for (const NodeId v : network_.ranks) {
    if (!side[v.index()]) ++sum[root_[v]];
  }
  for (std::size_t a = 0; a < phase.variable.size(); ++a) {
    const Arc& arc = phase.graph.arcs()[a];
    if (!side[arc.tail.index()] && side[arc.head.index()]) --sum[phase.variable[a]];
  }
  return terms_of(sum);
}

}  // namespace forestcoll::solver
