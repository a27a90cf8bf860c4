#include "solver/design/distances.hpp"

#include <algorithm>
#include <optional>

#include "forestcoll/design.hpp"

namespace forestcoll {
namespace solver {

Neighbours::Neighbours(const Wiring& wiring) : out_(wiring.nodes), in_(wiring.nodes) {
  for (std::size_t at = 0; at < wiring.links.size();) {
    const Arc link = wiring.links[at];
    std::int32_t count = 0;
    for (; at < wiring.links.size() && wiring.links[at] == link; ++at) ++count;
    out_[link.tail.index()].push_back({link.head.value, count});
    in_[link.head.index()].push_back({link.tail.value, count});
  }
}

std::vector<std::int32_t> Neighbours::distances(std::size_t root) const {
  std::vector<std::int32_t> distance(nodes(), -1);
  std::vector<std::size_t> queue = {root};
  queue.reserve(nodes());
  distance[root] = 0;
  for (std::size_t at = 0; at < queue.size(); ++at) {
    for (const Link& link : out_[queue[at]]) {
      const auto next = static_cast<std::size_t>(link.node);
      if (distance[next] >= 0) continue;
      distance[next] = distance[queue[at]] + 1;
      queue.push_back(next);
    }
  }
  return distance;
}

bool is_balanced(const Neighbours& neighbours) {
  for (std::size_t v = 0; v < neighbours.nodes(); ++v) {
    std::int64_t more = 0;
    for (const auto& link : neighbours.out(v)) more += link.count;
    for (const auto& link : neighbours.in(v)) more -= link.count;
    if (more != 0) return false;
  }
  return true;
}

}  // namespace solver

std::optional<WiringDistances> distances_of(const Wiring& wiring) {
  const solver::Neighbours neighbours(wiring);
  WiringDistances all;
  for (std::size_t root = 0; root < wiring.nodes; ++root) {
    for (const std::int32_t distance : neighbours.distances(root)) {
      if (distance < 0) return std::nullopt;
      all.steps = std::max(all.steps, static_cast<std::size_t>(distance));
      all.sum += distance;
    }
  }
  return all;
}

}  // namespace forestcoll
