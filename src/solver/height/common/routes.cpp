#include "solver/height/common/routes.hpp"

#include <vector>

namespace forestcoll::solver {
namespace {

std::uint64_t key_of(PrefixId prefix, ArcId arc) {
  return (static_cast<std::uint64_t>(prefix.value) << 32) | static_cast<std::uint32_t>(arc.value);
}

}  // namespace

bool is_simple(const Digraph& graph, std::span<const ArcId> arcs) {
  for (std::size_t i = 0; i < arcs.size(); ++i) {
    for (std::size_t j = i + 1; j < arcs.size(); ++j) {
      if (graph.head(arcs[i]) == graph.head(arcs[j])) return false;
    }
  }
  return true;
}

void RouteMaker::note(std::span<const Route> routes) {
  std::vector<char> seen;
  for (const Route route : routes) {
    if (!route.valid()) continue;
    for (PrefixId p = route.prefix; table_.segment(p).valid(); p = table_.before(p)) {
      if (p.index() >= seen.size()) seen.resize(2 * p.index() + 2, 0);
      if (seen[p.index()] != 0) break;
      seen[p.index()] = 1;
      prefix_of_.emplace(key_of(table_.before(p), ArcId(table_.segment(p).value)), p);
    }
  }
}

PrefixId RouteMaker::extended(PrefixId prefix, ArcId arc) {
  const auto [it, is_new] = prefix_of_.try_emplace(key_of(prefix, arc));
  if (is_new) it->second = table_.extend(prefix, SegmentId(arc.value));
  return it->second;
}

Route RouteMaker::along(std::span<const ArcId> arcs) {
  PrefixId prefix(core_.rank_of[core_.graph.tail(arcs.front())].value);
  for (const ArcId arc : arcs.first(arcs.size() - 1)) prefix = extended(prefix, arc);
  return {prefix, SegmentId(arcs.back().value)};
}

}  // namespace forestcoll::solver
