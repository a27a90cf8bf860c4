#include "baseline/path_finder.hpp"

#include <algorithm>
#include <limits>

#include "base/check.hpp"

namespace forestcoll::baseline {

bool PathFinder::is_better(const Mark& a, const Mark& b) {
  if (a.width != b.width) return a.width > b.width;
  if (a.taken != b.taken) return a.taken < b.taken;
  return a.before < b.before;
}

// Layer by layer: a layer's widths are final before the next one is entered from it.
void PathFinder::search(Rank from, Through through) {
  if (marks_.empty()) {
    marks_.assign(network_.graph.node_count(), {});
    taken_.assign(network_.graph.arc_count(), 0);
  }
  for (const NodeId v : reached_) marks_[v] = {};
  reached_.assign(1, network_.ranks[from.index()]);
  marks_[reached_.front()] = {0, std::numeric_limits<Capacity>::max(), 0, {}};
  source_ = from;
  through_ = through;
  const std::int32_t box = box_of_[reached_.front()];
  for (std::size_t at = 0; at < reached_.size(); ++at) {
    const NodeId v = reached_[at];
    if (at > 0 && through != Through::ranks && network_.is_compute(v)) continue;
    const Mark here = marks_[v];
    const Digraph& graph = network_.graph;
    for (ArcId a = graph.first_out(v); a != graph.last_out(v); ++a.value) {
      const NodeId next = graph.head(a);
      if (through == Through::box && box_of_[next] != box) continue;
      Mark& mark = marks_[next];
      const Mark found{here.arcs + 1, std::min(here.width, network_.capacity[a]),
                       std::max(here.taken, taken_[a]), v};
      if (mark.arcs < 0) {
        mark = found;
        reached_.push_back(next);
      } else if (mark.arcs == found.arcs && is_better(found, mark)) {
        mark = found;
      }
    }
  }
}

const PathFinder::Mark& PathFinder::mark(Rank from, Rank to, Through through) {
  if (source_ != from || through_ != through) search(from, through);
  return marks_[network_.ranks[to.index()]];
}

Path PathFinder::find(Rank from, Rank to, Through through) {
  Path path;
  if (mark(from, to, through).arcs < 0) return path;
  for (NodeId v = network_.ranks[to.index()]; v.valid(); v = marks_[v].before) path.push_back(v);
  std::reverse(path.begin(), path.end());
  return path;
}

Path PathFinder::take(Rank from, Rank to, Through through) {
  Path path = find(from, to, through);
  for (const ArcId a : arcs_of(network_, path)) ++taken_[a];
  return path;
}

std::int32_t PathFinder::arcs(Rank from, Rank to, Through through) {
  return std::max(0, mark(from, to, through).arcs);
}

Capacity PathFinder::width(Rank from, Rank to, Through through) {
  return mark(from, to, through).width;
}

std::vector<ArcId> arcs_of(const Network& network, std::span<const NodeId> path) {
  std::vector<ArcId> arcs;
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    arcs.push_back(network.graph.find(path[i], path[i + 1]));
    FORESTCOLL_CHECK(arcs.back().valid(), "a path follows arcs");
  }
  return arcs;
}

bool relays(const Network& network, std::span<const NodeId> path) {
  for (std::size_t i = 1; i + 1 < path.size(); ++i) {
    if (network.is_compute(path[i])) return true;
  }
  return false;
}

}  // namespace forestcoll::baseline
