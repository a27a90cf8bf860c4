// All cuts of small fabrics, for programs of trees.
#pragma once

#include <algorithm>
#include <cstdint>

#include "forestcoll/network.hpp"
#include "solver/linear/cut_program.hpp"

namespace forestcoll::test {

/// Calls visit(p, row) for every commodity of the program and every set of nodes with a rank in it,
/// with the row of that cut.
template <class Visit>
void for_each_cut(const Network& network, const solver::CutProgram& program, Visit&& visit) {
  for (std::size_t p = 0; p < program.commodities.size(); ++p) {
    for (std::uint32_t bits = 1; bits < (1U << network.graph.node_count()); ++bits) {
      solver::SinkSide side;
      for (std::size_t v = 0; v < network.graph.node_count(); ++v) {
        side.push_back((bits >> v & 1) != 0);
      }
      const auto is_inside = [&](NodeId v) { return side[v.index()]; };
      if (std::ranges::any_of(network.ranks, is_inside)) visit(p, cut_row(program, p, side));
    }
  }
}

}  // namespace forestcoll::test
