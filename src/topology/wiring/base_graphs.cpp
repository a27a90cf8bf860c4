#include "topology/wiring/base_graphs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "forestcoll/codes.hpp"
#include "topology/wiring/expression.hpp"

namespace forestcoll::topology {

const std::vector<BaseGraph>& base_graphs() {
  static const std::vector<BaseGraph> all = [] {
    std::vector<BaseGraph> graphs = grid_graphs();
    for (auto family : {arithmetic_graphs, incidence_graphs}) {
      auto more = family();
      std::ranges::move(more, std::back_inserter(graphs));
    }
    return graphs;
  }();
  return all;
}

Diagnostic no_such_graph(std::string problem, std::string remedy) {
  return make_error(Code::G05, std::move(problem), std::move(remedy));
}

Expected<void> check_wiring_size(std::int64_t nodes, std::int64_t links) {
  if (nodes > kMostWiringNodes) {
    return no_such_graph(fmt::format("more than {} nodes", kMostWiringNodes), "Ask for fewer.");
  }
  if (links > kMostWiringLinks) {
    return no_such_graph(fmt::format("more than {} links", kMostWiringLinks), "Ask for fewer.");
  }
  return {};
}

std::int64_t bounded_product(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t kAbove = std::numeric_limits<std::int32_t>::max();
  return a != 0 && b > kAbove / a ? kAbove : a * b;
}

std::int64_t bounded_power(std::int64_t base, std::int64_t power) {
  if (base == 1) return 1;
  std::int64_t result = 1;
  for (std::int64_t i = 0; i < power && result <= kMostWiringLinks; ++i) {
    result = bounded_product(result, base);
  }
  return result;
}

void join_loops(Links& links) {
  std::vector<std::size_t> loops;
  for (std::size_t i = 0; i < links.links.size(); ++i) {
    if (links.links[i].first == links.links[i].second) loops.push_back(i);
  }
  if (loops.size() == 1) {
    auto& loop = links.links[loops.front()];
    const NodeNumber alone = loop.first;
    const auto taken = std::ranges::find_if(links.links, [alone](const auto& link) {
      return link.first != alone && link.second != alone;
    });
    if (taken == links.links.end()) return;
    loop.second = std::exchange(taken->second, alone);
    return;
  }
  const auto ends = links.links;
  for (std::size_t i = 0; i < loops.size(); ++i) {
    links.links[loops[i]].second = ends[loops[(i + 1) % loops.size()]].first;
  }
}

Wiring wired(std::string name, const Links& links) {
  Wiring wiring{.name = std::move(name), .nodes = static_cast<std::size_t>(links.nodes)};
  std::vector<std::size_t> out(wiring.nodes), in(wiring.nodes);
  for (const auto& [from, to] : links.links) {
    if (from == to) continue;
    const Arc arc{NodeId(static_cast<std::int32_t>(from)), NodeId(static_cast<std::int32_t>(to))};
    wiring.ports = std::max({wiring.ports, ++out[arc.tail.index()], ++in[arc.head.index()]});
    wiring.links.push_back(arc);
  }
  std::ranges::sort(wiring.links, {}, [](const Arc& a) { return std::pair(a.tail, a.head); });
  return wiring;
}

}  // namespace forestcoll::topology
