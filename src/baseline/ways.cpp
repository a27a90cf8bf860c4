#include "baseline/ways.hpp"

#include <algorithm>
#include <limits>

#include "base/check.hpp"

namespace forestcoll::baseline {

bool WayFinder::is_better(const Mark& a, const Mark& b) {
  if (a.width != b.width) return a.width > b.width;
  if (a.taken != b.taken) return a.taken < b.taken;
  return a.before < b.before;
}

// Layer by layer: a layer's widths are final before the next one is entered from it.
void WayFinder::search(Rank from, Through through) {
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

const WayFinder::Mark& WayFinder::mark(Rank from, Rank to, Through through) {
  if (source_ != from || through_ != through) search(from, through);
  return marks_[network_.ranks[to.index()]];
}

Way WayFinder::find(Rank from, Rank to, Through through) {
  Way way;
  if (mark(from, to, through).arcs < 0) return way;
  for (NodeId v = network_.ranks[to.index()]; v.valid(); v = marks_[v].before) way.push_back(v);
  std::reverse(way.begin(), way.end());
  return way;
}

Way WayFinder::take(Rank from, Rank to, Through through) {
  Way way = find(from, to, through);
  for (const ArcId a : arcs_of(network_, way)) ++taken_[a];
  return way;
}

std::int32_t WayFinder::arcs(Rank from, Rank to, Through through) {
  return std::max(0, mark(from, to, through).arcs);
}

Capacity WayFinder::width(Rank from, Rank to, Through through) {
  return mark(from, to, through).width;
}

std::vector<ArcId> arcs_of(const Network& network, std::span<const NodeId> way) {
  std::vector<ArcId> arcs;
  for (std::size_t i = 0; i + 1 < way.size(); ++i) {
    arcs.push_back(network.graph.find(way[i], way[i + 1]));
    FORESTCOLL_CHECK(arcs.back().valid(), "a way follows arcs");
  }
  return arcs;
}

bool relays(const Network& network, std::span<const NodeId> way) {
  for (std::size_t i = 1; i + 1 < way.size(); ++i) {
    if (network.is_compute(way[i])) return true;
  }
  return false;
}

}  // namespace forestcoll::baseline
