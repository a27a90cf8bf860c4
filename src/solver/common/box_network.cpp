#include "solver/common/box_network.hpp"

#include <map>

namespace forestcoll::solver {

BoxNetwork::BoxNetwork(const Core& core, const Boxes& boxes, std::size_t box, bool is_backward) {
  std::map<NodeId, std::size_t> number;
  std::vector<NodeId> nodes;
  const auto add = [&](NodeId v) {
    if (boxes.is_outside[v.index()] != 0) return;
    if (number.emplace(v, nodes.size()).second) nodes.push_back(v);
  };
  for (const Rank r : boxes.members[box]) add(core.compute[r.index()]);
  std::vector<Arc> arcs;
  std::vector<ArcId> of_core;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    for (ArcId a = core.graph.first_out(nodes[i]); a != core.graph.last_out(nodes[i]); ++a.value) {
      const NodeId head = core.graph.head(a);
      add(head);
      const auto to = number.find(head);
      if (to == number.end()) continue;
      const NodeId tail(i), end(to->second);
      arcs.push_back(is_backward ? Arc{end, tail} : Arc{tail, end});
      of_core.push_back(a);
    }
  }
  std::vector<std::size_t> order;
  network_.graph = Digraph(nodes.size(), arcs, &order);
  for (const std::size_t at : order) {
    arc_.push_back(of_core[at]);
    network_.capacity.push_back(core.capacity[of_core[at]]);
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const bool is_member = i < boxes.members[box].size();
    network_.rank_of.push_back(is_member ? Rank(i) : Rank());
    if (is_member) network_.ranks.emplace_back(i);
  }
}

std::vector<std::int64_t> BoxNetwork::key() const {
  std::vector<std::int64_t> key{static_cast<std::int64_t>(network_.ranks.size())};
  for (std::size_t a = 0; a < arc_.size(); ++a) {
    const Arc& arc = network_.graph.arcs()[a];
    key.insert(key.end(), {arc.tail.value, arc.head.value, network_.capacity[ArcId(a)]});
  }
  return key;
}

}  // namespace forestcoll::solver
