#include "solver/rate/balance_program.hpp"

#include <utility>

namespace forestcoll::solver {

BalanceProgram::BalanceProgram(const Network& network, const Weights& weights)
    : orbits(find_network_orbits(network, weights)) {
  rate = orbits.arcs.count;
  program.variables = rate + 1;
  program.objective = {{rate, 1}};
  TreeCommodity& commodity =
      program.commodities.emplace_back(TreeCommodity{network.graph, orbits.arcs.of, {}, {}});
  std::vector<bool> seen(orbits.arcs.count, false);
  for (std::size_t a = 0; a < network.graph.arc_count(); ++a) {
    const std::size_t variable = orbits.arcs.of[a];
    if (seen[variable]) continue;
    seen[variable] = true;
    program.capacity.push_back({{{variable, 1}}, network.capacity[ArcId(a)]});
  }
  seen.assign(orbits.nodes.count, false);
  for (std::size_t i = 0; i < network.graph.node_count(); ++i) {
    const NodeId v(i);
    const Rank rank = network.rank_of[v];
    commodity.owned.push_back({rate, rank.valid() ? weights[rank] : 0});
    if (seen[orbits.nodes.of[i]]) continue;
    seen[orbits.nodes.of[i]] = true;
    if (rank.valid()) {
      commodity.sinks.push_back(v);
    } else if (auto row = balance_row(commodity, v); !row.empty()) {
      program.balance.push_back(std::move(row));
      switches.push_back(v);
    }
  }
}

std::vector<double> BalanceProgram::part_of(const std::vector<double>& values) const {
  std::vector<double> part;
  for (const std::size_t variable : orbits.arcs.of) part.push_back(values[variable]);
  return part;
}

}  // namespace forestcoll::solver
