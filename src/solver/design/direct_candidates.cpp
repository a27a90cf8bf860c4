// What can be asked for, and what `design direct` lists.
#include <fmt/format.h>

#include <set>
#include <utility>

#include "forestcoll/codes.hpp"
#include "forestcoll/design.hpp"
#include "solver/design/candidates.hpp"

namespace forestcoll {
namespace {

constexpr std::size_t kMostPorts = 16;

Diagnostic no_wiring(std::string problem, std::string remedy) {
  return make_error(Code::K01, std::move(problem), std::move(remedy));
}

}  // namespace

Expected<void> solver::check_request(const DirectRequest& request) {
  const auto [n, d] = std::pair(request.nodes, request.ports);
  if (n < 2 || n > kMostStudiedNodes) {
    return no_wiring(
        fmt::format("{} nodes: topologies are studied from 2 to {}", n, kMostStudiedNodes),
        "Ask for a number in between.");
  }
  if (d < 1 || d > kMostPorts) {
    return no_wiring(fmt::format("{} ports: topologies are studied from 1 to {}", d, kMostPorts),
                     "Ask for a number in between.");
  }
  if (d >= n) {
    return no_wiring(
        fmt::format("{} nodes have {} others each, fewer than their {} ports", n, n - 1, d),
        fmt::format("Ask for at most {} ports.", n - 1));
  }
  if (request.two_way && n * d % 2 != 0) {
    return no_wiring(
        fmt::format("{} nodes of {} ports: a cable both ways takes two ports, and {} is odd", n, d,
                    n * d),
        "Ask for an even number of nodes or ports, or for one-way links too.");
  }
  if (request.two_way && d == 1 && n > 2) {
    return no_wiring("cables both ways on one port join pairs, which do not reach one another",
                     "Ask for two ports.");
  }
  return {};
}

Expected<std::vector<std::string>> direct_candidates(const DirectRequest& request) {
  if (const auto possible = solver::check_request(request); !possible) return possible.errors();
  std::set<std::vector<std::pair<NodeId, NodeId>>> met;
  std::vector<std::string> names;
  solver::Candidates candidates(request.randoms, solver::Expanded::best);
  for (const auto& expression : candidates.all(static_cast<std::int64_t>(request.nodes),
                                               static_cast<std::int64_t>(request.ports))) {
    const auto wiring = topology::build(expression);
    if (!wiring || (request.two_way && !is_two_way(*wiring))) continue;
    if (met.insert(solver::links_of(*wiring)).second) names.push_back(wiring->name);
  }
  if (names.empty()) {
    return no_wiring(
        fmt::format("no construction has {} nodes of {} ports", request.nodes, request.ports),
        "Ask for one node or port more, or for one-way links too.");
  }
  return names;
}

}  // namespace forestcoll
