#include "solver/linear/cut_program.hpp"

#include <cstdint>
#include <map>

namespace forestcoll::solver {
namespace {

std::vector<Term> terms_of(const std::map<std::size_t, std::int64_t>& coefficients) {
  std::vector<Term> terms;
  for (const auto& [variable, coefficient] : coefficients) {
    if (coefficient != 0) terms.push_back({variable, coefficient});
  }
  return terms;
}

}  // namespace

std::vector<Term> cut_row(const CutProgram& program, const TreePhase& phase, const SinkSide& side) {
  std::map<std::size_t, std::int64_t> sum;
  for (std::size_t v = 0; v < side.size(); ++v) {
    const Term& owned = program.owned[NodeId(v)];
    if (!side[v] && owned.coefficient != 0) sum[owned.variable] += owned.coefficient;
  }
  for (std::size_t a = 0; a < phase.variable.size(); ++a) {
    const Arc& arc = phase.graph.arcs()[a];
    if (!side[arc.tail.index()] && side[arc.head.index()]) --sum[phase.variable[a]];
  }
  return terms_of(sum);
}

std::vector<Term> balance_row(const TreePhase& phase, NodeId node) {
  std::map<std::size_t, std::int64_t> sum;
  for (const ArcId a : phase.graph.in(node)) ++sum[phase.variable[a.index()]];
  for (ArcId a = phase.graph.first_out(node); a != phase.graph.last_out(node); ++a.value) {
    --sum[phase.variable[a.index()]];
  }
  return terms_of(sum);
}

}  // namespace forestcoll::solver
