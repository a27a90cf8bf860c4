#include "forestcoll/digraph.hpp"

#include <algorithm>
#include <numeric>

#include "base/check.hpp"

namespace forestcoll {

Digraph::Digraph(std::size_t nodes, std::span<const Arc> arcs, std::vector<std::size_t>* order) {
  std::vector<std::size_t> by_ends(arcs.size());
  std::iota(by_ends.begin(), by_ends.end(), std::size_t{0});
  std::stable_sort(by_ends.begin(), by_ends.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(arcs[a].tail, arcs[a].head) < std::pair(arcs[b].tail, arcs[b].head);
  });
  arcs_.reserve(arcs.size());
  out_begin_.assign(nodes + 1, 0);
  in_begin_.assign(nodes + 1, 0);
  for (const std::size_t i : by_ends) {
    const Arc arc = arcs[i];
    FORESTCOLL_CHECK(arc.tail.valid() && arc.tail.index() < nodes, "arc tail out of range");
    FORESTCOLL_CHECK(arc.head.valid() && arc.head.index() < nodes, "arc head out of range");
    FORESTCOLL_CHECK(arc.tail != arc.head, "self-loop");
    arcs_.push_back(arc);
    ++out_begin_[arc.tail.index() + 1];
    ++in_begin_[arc.head.index() + 1];
  }
  std::partial_sum(out_begin_.begin(), out_begin_.end(), out_begin_.begin());
  std::partial_sum(in_begin_.begin(), in_begin_.end(), in_begin_.begin());
  in_.resize(arcs_.size());
  std::vector<std::int32_t> next(in_begin_.begin(), in_begin_.end());
  for (std::size_t a = 0; a < arcs_.size(); ++a) {
    in_[static_cast<std::size_t>(next[arcs_[a].head.index()]++)] = ArcId(a);
  }
  if (order) *order = std::move(by_ends);
}

ArcId Digraph::find(NodeId tail, NodeId head) const {
  const auto begin = arcs_.begin() + first_out(tail).value;
  const auto end = arcs_.begin() + last_out(tail).value;
  const auto it = std::lower_bound(begin, end, head,
                                   [](const Arc& arc, NodeId node) { return arc.head < node; });
  if (it == end || it->head != head) return {};
  return ArcId(static_cast<std::size_t>(it - arcs_.begin()));
}

}  // namespace forestcoll
