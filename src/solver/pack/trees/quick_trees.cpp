// Prim's algorithm with congestion for length. A way to a rank leads from a rank of the tree
// through switches; it is as long as its most congested arc would be once this tree takes it too.
// An arc waits in the queue once, and once more where its length has grown by the time that its
// turn comes, and again where it has grown by an eighth: that bounds the work, and the lengths need
// not be exact.
#include "solver/pack/trees/quick_trees.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

#include "base/check.hpp"

namespace forestcoll::solver {

// Shortest first; then the least depth, so that trees stay low; then by arc.
bool QuickTrees::Entry::operator<(const Entry& other) const {
  return std::tie(length, depth, arc) > std::tie(other.length, other.depth, other.arc);
}

QuickTrees::QuickTrees(const Core& core, const Orbits& orbits, TreeStore& store,
                       IdVector<ArcId, std::int64_t> load)
    : core_(core),
      orbits_(orbits),
      store_(store),
      load_(std::move(load)),
      cost_(core.graph.arc_count(), 1) {
  const Capacity widest = *std::max_element(core.capacity.begin(), core.capacity.end());
  for (std::size_t a = 0; a < cost_.size(); ++a) {
    cost_[ArcId(a)] = (widest - 1) / core.capacity[ArcId(a)] + 1;
  }
}

void QuickTrees::add(Rank root, std::int64_t multiplicity) {
  const std::size_t n = core_.graph.node_count();
  multiplicity_ = multiplicity;
  into_.assign(n, ArcId());
  reached_.assign(n, false);
  row_.assign(core_.compute.size(), Route{});
  queue_ = {};
  reach(core_.compute[root.index()], 1);
  std::size_t missing = core_.compute.size() - 1;
  std::int32_t height = 0;
  while (missing > 0) {
    FORESTCOLL_CHECK(!queue_.empty(), "all compute nodes reach one another");
    const Entry next = queue_.top();
    queue_.pop();
    const NodeId head = core_.graph.head(next.arc);
    if (reached_[head.index()]) continue;
    const Int128 now = length_over(next.arc);
    if (now > (next.again ? next.length + next.length / 8 : next.length)) {
      queue_.push({now, next.depth, next.arc, true});
      continue;
    }
    into_[head.index()] = next.arc;
    if (core_.rank_of[head].valid()) {
      attach(head);
      height = std::max(height, next.depth);
      --missing;
      reach(head, next.depth + 1);
    } else {
      reach(head, next.depth);
    }
  }
  store_.add({root, multiplicity, height}, row_);
}

// Calls `visit` for the arcs of the way that ends with `arc`, the last one first.
template <class Visit>
void QuickTrees::walk_back(ArcId arc, Visit visit) const {
  visit(arc);
  for (NodeId v = core_.graph.tail(arc); !core_.rank_of[v].valid();
       v = core_.graph.tail(into_[v.index()])) {
    visit(into_[v.index()]);
  }
}

Int128 QuickTrees::length_over(ArcId arc) const {
  Int128 length = 0;
  walk_back(arc, [&](ArcId a) { length = std::max(length, Int128{load(a) + more(a)} * cost_[a]); });
  return length;
}

// `node` passes on what it has, to ranks at `depth`.
void QuickTrees::reach(NodeId node, std::int32_t depth) {
  reached_[node.index()] = true;
  const Digraph& graph = core_.graph;
  for (ArcId a = graph.first_out(node); a != graph.last_out(node); ++a.value) {
    if (!reached_[graph.head(a).index()]) queue_.push({length_over(a), depth, a, false});
  }
}

void QuickTrees::attach(NodeId rank) {
  const ArcId last = into_[rank.index()];
  walk_back(last, [&](ArcId a) { load_[orbits_.arc_orbit[a]] += more(a); });
  row_[core_.rank_of[rank].index()] = {prefix_at(core_.graph.tail(last)), SegmentId(last.value)};
}

PrefixId QuickTrees::prefix_at(NodeId v) {
  if (const Rank origin = core_.rank_of[v]; origin.valid()) return PrefixId(origin.value);
  const ArcId into = into_[v.index()];
  return store_.extended(prefix_at(core_.graph.tail(into)), into);
}

}  // namespace forestcoll::solver
