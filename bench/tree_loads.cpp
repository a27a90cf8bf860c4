#include "tree_loads.hpp"

#include <algorithm>

namespace forestcoll::bench {

// Found on the side with fewer arcs.
ArcId find_arc(const Digraph& graph, NodeId tail, NodeId head) {
  const auto entering = graph.in(head);
  const auto first = graph.first_out(tail).index();
  const auto leaving = graph.arcs().subspan(first, graph.last_out(tail).index() - first);
  if (entering.size() < leaving.size()) {
    const auto it =
        std::ranges::lower_bound(entering, tail, {}, [&](ArcId a) { return graph.tail(a); });
    return it != entering.end() && graph.tail(*it) == tail ? *it : ArcId();
  }
  const auto it = std::ranges::lower_bound(leaving, head, {}, &Arc::head);
  if (it == leaving.end() || it->head != head) return {};
  return ArcId(first + static_cast<std::size_t>(it - leaving.begin()));
}

std::string find_excess(const Network& network, const Weights& weights, const Scaling& scaling,
                        const Loads& loads) {
  for (std::size_t r = 0; r < loads.rooted.size(); ++r) {
    if (loads.rooted[Rank(r)] != scaling.k * weights[Rank(r)]) {
      return "rank " + std::to_string(r) + " roots " + std::to_string(loads.rooted[Rank(r)]);
    }
  }
  for (std::size_t a = 0; a < loads.arc.size(); ++a) {
    if (Int128{loads.arc[ArcId(a)]} * scaling.scale.den() >
        Int128{network.capacity[ArcId(a)]} * scaling.scale.num()) {
      return "arc " + std::to_string(a) + " is overloaded";
    }
  }
  return {};
}

TreeCheck::TreeCheck(const Network& network, const Forest& forest)
    : network_(network),
      forest_(forest),
      parent_(network.ranks.size()),
      depth_(network.ranks.size(), 0) {}

std::string TreeCheck::add(TreeId t, Loads& loads) {
  const char* flaw = add_edges(t, loads);
  return flaw == nullptr ? std::string() : "tree " + std::to_string(t.value) + " " + flaw;
}

const char* TreeCheck::add_edges(TreeId t, Loads& loads) {
  const Forest::Tree& tree = forest_.tree(t);
  if (tree.multiplicity < 1) return "has no multiplicity";
  loads.rooted[tree.root] += tree.multiplicity;
  for (std::size_t v = 0; v < parent_.size(); ++v) {
    parent_[Rank(v)] = forest_.parent(t, Rank(v));
    depth_[Rank(v)] = -1;
  }
  if (parent_[tree.root].valid()) return "has a root with a parent";
  depth_[tree.root] = 0;
  std::int32_t height = 0;
  for (std::size_t v = 0; v < parent_.size(); ++v) {
    const Rank child(v);
    if (child == tree.root) continue;
    if (!find_depth(child)) return "does not span, or has a cycle";
    height = std::max(height, depth_[child]);
    const char* flaw = add_path(forest_.path(t, child), child, tree.multiplicity, loads);
    if (flaw != nullptr) return flaw;
  }
  return height == tree.height ? nullptr : "has another height";
}

// Up to a rank whose depth is known, and down again.
bool TreeCheck::find_depth(Rank from) {
  chain_.clear();
  Rank at = from;
  for (; at.valid() && depth_[at] < 0; at = parent_[at]) {
    if (chain_.size() == parent_.size()) return false;
    chain_.push_back(at);
  }
  if (!at.valid()) return false;
  std::int32_t depth = depth_[at];
  for (auto it = chain_.rbegin(); it != chain_.rend(); ++it) depth_[*it] = ++depth;
  return true;
}

const char* TreeCheck::add_path(const std::vector<NodeId>& path, Rank child,
                                std::int64_t multiplicity, Loads& loads) const {
  if (path.size() < 2 || path.front() != network_.ranks[parent_[child].index()] ||
      path.back() != network_.ranks[child.index()]) {
    return "has a path with the wrong ends";
  }
  for (std::size_t i = 0; i + 1 < path.size(); ++i) {
    if (i > 0 && network_.is_compute(path[i])) return "passes through a compute node";
    const ArcId arc = find_arc(network_.graph, path[i], path[i + 1]);
    if (!arc.valid()) return "uses an arc that is not there";
    loads.arc[arc] += multiplicity;
  }
  return nullptr;
}

}  // namespace forestcoll::bench
