#include "topology/wiring/expansions.hpp"

namespace forestcoll::topology {

Links line_digraph(const Links& links) {
  std::vector<std::vector<NodeNumber>> leaving(static_cast<std::size_t>(links.nodes));
  for (std::size_t i = 0; i < links.links.size(); ++i) {
    leaving[static_cast<std::size_t>(links.links[i].first)].push_back(static_cast<NodeNumber>(i));
  }
  Links result{.nodes = static_cast<NodeNumber>(links.links.size())};
  for (std::size_t i = 0; i < links.links.size(); ++i) {
    for (const NodeNumber next : leaving[static_cast<std::size_t>(links.links[i].second)]) {
      result.add(static_cast<NodeNumber>(i), next);
    }
  }
  return result;
}

Links degree_expanded(const Links& links, std::int64_t times) {
  Links result{.nodes = links.nodes * times};
  for (const auto& [from, to] : links.links) {
    for (std::int64_t i = 0; i < times; ++i) {
      for (std::int64_t j = 0; j < times; ++j) result.add(from * times + i, to * times + j);
    }
  }
  return result;
}

Links cartesian_product(const Links& a, const Links& b) {
  Links result{.nodes = a.nodes * b.nodes};
  for (NodeNumber v = 0; v < b.nodes; ++v) {
    for (const auto& [from, to] : a.links) result.add(from * b.nodes + v, to * b.nodes + v);
  }
  for (NodeNumber u = 0; u < a.nodes; ++u) {
    for (const auto& [from, to] : b.links) result.add(u * b.nodes + from, u * b.nodes + to);
  }
  return result;
}

}  // namespace forestcoll::topology
