#include "solver/linear/cut_program.hpp"

#include <cstdint>
#include <map>
#include <utility>

namespace forestcoll::solver {

std::vector<Term> nonzero_terms(const std::map<std::size_t, std::int64_t>& coefficients) {
  std::vector<Term> terms;
  for (const auto& [variable, coefficient] : coefficients) {
    if (coefficient != 0) terms.push_back({variable, coefficient});
  }
  return terms;
}

std::vector<Term> owned_terms(const TreeCommodity& commodity) {
  std::map<std::size_t, std::int64_t> sum;
  for (const Term& owned : commodity.owned) {
    if (owned.coefficient != 0) sum[owned.variable] += owned.coefficient;
  }
  return nonzero_terms(sum);
}

std::vector<Term> cut_row(const CutProgram& program, std::size_t commodity, const SinkSide& side) {
  const TreeCommodity& trees = program.commodities[commodity];
  std::map<std::size_t, std::int64_t> inside, outside;
  for (std::size_t v = 0; v < side.size(); ++v) {
    const Term& owned = trees.owned[NodeId(v)];
    if (owned.coefficient != 0) (side[v] ? inside : outside)[owned.variable] += owned.coefficient;
  }
  std::map<std::size_t, std::int64_t> sum = std::move(outside);
  if (inside.size() + 1 < sum.size()) {
    sum = {{program.total(commodity), 1}};
    for (const auto& [variable, coefficient] : inside) sum[variable] -= coefficient;
  }
  for (std::size_t a = 0; a < trees.variable.size(); ++a) {
    const Arc& arc = trees.graph.arcs()[a];
    if (!side[arc.tail.index()] && side[arc.head.index()]) --sum[trees.variable[a]];
  }
  return nonzero_terms(sum);
}

std::vector<Term> balance_row(const TreeCommodity& commodity, NodeId node) {
  std::map<std::size_t, std::int64_t> sum;
  for (const ArcId a : commodity.graph.in(node)) ++sum[commodity.variable[a.index()]];
  for (ArcId a = commodity.graph.first_out(node); a != commodity.graph.last_out(node); ++a.value) {
    --sum[commodity.variable[a.index()]];
  }
  return nonzero_terms(sum);
}

}  // namespace forestcoll::solver
