#include "support/balance_oracle.hpp"

#include <lemon/glpk.h>

#include <cstdlib>
#include <numeric>
#include <vector>

namespace forestcoll::test {
namespace {

using lemon::LpBase;
using Columns = std::vector<LpBase::Col>;

// By arc; each 0 or more.
Columns add_columns(lemon::GlpkLp& program, const Network& network) {
  Columns columns;
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    columns.push_back(program.addCol());
    program.colLowerBound(columns.back(), 0);
  }
  return columns;
}

// What leaves the node, less what enters it.
LpBase::Expr net_exit(const Network& network, const Columns& columns, std::size_t node) {
  LpBase::Expr sum;
  for (std::size_t a = 0; a < columns.size(); ++a) {
    const Arc& arc = network.graph.arcs()[a];
    if (arc.tail.index() == node) sum += columns[a];
    if (arc.head.index() == node) sum -= columns[a];
  }
  return sum;
}

}  // namespace

double rate_by_flows(const Network& network, const Weights& weights) {
  lemon::GlpkLp program;
  const LpBase::Col rate = program.addCol();
  program.colLowerBound(rate, 0);
  const Columns part = add_columns(program, network);
  for (std::size_t a = 0; a < part.size(); ++a) {
    program.colUpperBound(part[a], static_cast<double>(network.capacity[ArcId(a)]));
  }
  const auto owned = [&](std::size_t node) {
    const Rank rank = network.rank_of[NodeId(node)];
    return rank.valid() ? static_cast<double>(weights[rank]) : 0.0;
  };
  const auto all =
      static_cast<double>(std::accumulate(weights.begin(), weights.end(), std::int64_t{0}));
  for (std::size_t v = 0; v < network.graph.node_count(); ++v) {
    if (!network.is_compute(NodeId(v))) {
      program.addRow(net_exit(network, part, v) == 0);
      continue;
    }
    const Columns flow = add_columns(program, network);
    for (std::size_t a = 0; a < flow.size(); ++a) program.addRow(flow[a] - part[a] <= 0);
    for (std::size_t u = 0; u < network.graph.node_count(); ++u) {
      const double supply = u == v ? owned(u) - all : owned(u);
      program.addRow(net_exit(network, flow, u) - supply * rate <= 0);
    }
  }
  program.max();
  program.obj(rate);
  if (program.solve() != LpBase::SOLVED || program.primalType() != lemon::LpSolver::OPTIMAL) {
    std::abort();
  }
  return program.primal();
}

}  // namespace forestcoll::test
