#include "allreduce_oracle.hpp"

#include <glpk.h>
#include <gtest/gtest.h>
#include <lemon/glpk.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

namespace forestcoll::testing {
namespace {

// Every set of nodes, as bits, that holds a rank.
std::vector<std::uint32_t> sink_sides(const Network& network) {
  std::vector<std::uint32_t> sides;
  for (std::uint32_t side = 1; side < (1U << network.graph.node_count()); ++side) {
    const bool holds_rank =
        std::ranges::any_of(network.ranks, [&](NodeId v) { return (side >> v.index() & 1) != 0; });
    if (holds_rank) sides.push_back(side);
  }
  return sides;
}

bool enters(const Arc& arc, std::uint32_t side) {
  return (side >> arc.tail.index() & 1) == 0 && (side >> arc.head.index() & 1) != 0;
}

Ratio sum(const IdVector<Rank, Ratio>& values) {
  return std::accumulate(values.begin(), values.end(), Ratio(0));
}

}  // namespace

double by_definition(const Network& network) {
  using lemon::LpBase;
  lemon::GlpkLp program;
  const auto& arcs = network.graph.arcs();
  std::vector<LpBase::Col> broadcast, reduce, root(network.graph.node_count());
  LpBase::Expr all;
  for (std::size_t a = 0; a < arcs.size(); ++a) {
    broadcast.push_back(program.addCol());
    reduce.push_back(program.addCol());
    program.colLowerBound(broadcast.back(), 0);
    program.colLowerBound(reduce.back(), 0);
    program.addRow(broadcast.back() + reduce.back() <=
                   static_cast<double>(network.capacity[ArcId(a)]));
  }
  for (const NodeId v : network.ranks) {
    root[v.index()] = program.addCol();
    program.colLowerBound(root[v.index()], 0);
    all += root[v.index()];
  }
  for (std::size_t v = 0; v < network.graph.node_count(); ++v) {
    if (network.is_compute(NodeId(v))) continue;
    LpBase::Expr of_broadcast, of_reduce;
    for (std::size_t a = 0; a < arcs.size(); ++a) {
      const double sign = arcs[a].head == NodeId(v) ? 1 : arcs[a].tail == NodeId(v) ? -1 : 0;
      of_broadcast += sign * broadcast[a];
      of_reduce += sign * reduce[a];
    }
    program.addRow(of_broadcast == 0);
    program.addRow(of_reduce == 0);
  }
  for (const std::uint32_t side : sink_sides(network)) {
    LpBase::Expr in, out;
    for (std::size_t a = 0; a < arcs.size(); ++a) {
      if (enters(arcs[a], side)) in += broadcast[a];
      if (enters({arcs[a].head, arcs[a].tail}, side)) out += reduce[a];
    }
    for (const NodeId v : network.ranks) {
      if ((side >> v.index() & 1) != 0) continue;
      in -= root[v.index()];
      out -= root[v.index()];
    }
    program.addRow(in >= 0);
    program.addRow(out >= 0);
  }
  program.max();
  program.obj(all);
  EXPECT_EQ(program.solve(), LpBase::SOLVED);  // wherever that ends, the next one begins
  glp_prob* const problem = program.lpx();
  glp_smcp silent;
  glp_init_smcp(&silent);
  silent.msg_lev = GLP_MSG_ERR;
  EXPECT_EQ(glp_exact(problem, &silent), 0);
  EXPECT_EQ(glp_get_status(problem), GLP_OPT);
  return glp_get_obj_val(problem) * network.unit.to_double();
}

RankSplit of_ranks(const Network& network, const AllreduceSplit& split) {
  RankSplit plain;
  EXPECT_EQ(split.broadcast.size(), 1U);
  EXPECT_EQ(split.reduce.size(), 1U);
  EXPECT_EQ(split.broadcast.front().root, split.reduce.front().root);
  for (const NodeId v : network.ranks) plain.root.push_back(split.broadcast.front().root[v]);
  const auto by_arc = [&](const AllreduceTrees& trees) {
    EXPECT_TRUE(trees.switches.empty());
    IdVector<ArcId, Ratio> taken(network.graph.arc_count(), Ratio(0));
    for (const AllreduceArc& arc : trees.taken) {
      EXPECT_FALSE(arc.branches_at_tail || arc.branches_at_head);
      taken[arc.arc] = taken[arc.arc] + arc.amount;
    }
    return taken;
  };
  plain.broadcast = by_arc(split.broadcast.front());
  plain.reduce = by_arc(split.reduce.front());
  return plain;
}

std::string find_split_flaw(const Network& network, const AllreduceOptimum& optimum) {
  if (optimum.split->algbw != optimum.upper) return "it does not reach the bound";
  const RankSplit split = of_ranks(network, *optimum.split);
  const auto& arcs = network.graph.arcs();
  if (sum(split.root) * network.unit != optimum.upper) return "it does not reach the bound";
  for (std::size_t a = 0; a < arcs.size(); ++a) {
    const ArcId arc(a);
    if (split.reduce[arc] < Ratio(0) || split.broadcast[arc] < Ratio(0) ||
        split.reduce[arc] + split.broadcast[arc] > Ratio(network.capacity[arc])) {
      return "an arc carries more than it can";
    }
  }
  for (std::size_t v = 0; v < network.graph.node_count(); ++v) {
    if (network.is_compute(NodeId(v))) continue;
    for (const auto* phase : {&split.reduce, &split.broadcast}) {
      Ratio balance = 0;
      for (std::size_t a = 0; a < arcs.size(); ++a) {
        if (arcs[a].head == NodeId(v)) balance = balance + (*phase)[ArcId(a)];
        if (arcs[a].tail == NodeId(v)) balance = balance - (*phase)[ArcId(a)];
      }
      if (balance != Ratio(0)) return "a switch is not balanced";
    }
  }
  for (const std::uint32_t side : sink_sides(network)) {
    Ratio in = 0, out = 0;
    for (std::size_t a = 0; a < arcs.size(); ++a) {
      if (enters(arcs[a], side)) in = in + split.broadcast[ArcId(a)];
      if (enters({arcs[a].head, arcs[a].tail}, side)) out = out + split.reduce[ArcId(a)];
    }
    Ratio outside = 0;
    for (std::size_t r = 0; r < network.ranks.size(); ++r) {
      if ((side >> network.ranks[r].index() & 1) == 0) outside = outside + split.root[Rank(r)];
    }
    if (in < outside || out < outside) return "a cut is too narrow";
  }
  return "";
}

}  // namespace forestcoll::testing
