#include "schedule/msccl/rails.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>

namespace forestcoll::schedule {

namespace {

Rank sender_of(const Forest& forest, TreeId t, Rank child) {
  return forest.is_in_forest() ? child : forest.parent(t, child);
}

}  // namespace

Rails::Rails(const CollectiveForest& forest, const IdVector<NodeId, std::int32_t>& boxes,
             const Views& views, bool of_firsts)
    : boxes_(boxes), views_(views), of_firsts_(of_firsts) {
  if (boxes.empty()) return;
  for (const auto* phase : {&forest.reduce, &forest.broadcast}) {
    if (*phase) add_edges(**phase);
  }
}

void Rails::add_edges(const Forest& forest) {
  const std::size_t ranks = forest.rank_count();
  exits_.resize(ranks);
  auto& edges = forest.is_in_forest() ? up_ : down_;
  edges.resize(forest.tree_count() * ranks);
  tbb::parallel_for(std::size_t{0}, forest.tree_count(), [&](std::size_t t) {
    if (of_firsts_ && !views_.is_first(forest.tree(TreeId(t)).root)) return;
    for (std::size_t v = 0; v < ranks; ++v) {
      if (!forest.parent(TreeId(t), Rank(v)).valid()) continue;
      edges[t * ranks + v] = exit(forest, TreeId(t), Rank(v));
    }
  });
  for (std::size_t t = 0; t < forest.tree_count(); ++t) {
    for (std::size_t v = 0; v < ranks; ++v) {
      const NodeId nic = edges[t * ranks + v];
      if (!nic.valid()) continue;
      auto& known = exits_[seen_sender(forest, TreeId(t), Rank(v))];
      const auto at = std::lower_bound(known.begin(), known.end(), nic);
      if (at == known.end() || *at != nic) known.insert(at, nic);
    }
  }
}

// Trees of one root have edges that leave all ranks of an orbit, and all of them see the same.
Rank Rails::seen_sender(const Forest& forest, TreeId t, Rank child) const {
  const Rank sender = sender_of(forest, t, child);
  return of_firsts_ ? views_.seen(sender, sender) : sender;
}

Rails::Rail Rails::of(const Forest& forest, TreeId t, Rank child) const {
  if (boxes_.empty()) return {};
  const auto& edges = forest.is_in_forest() ? up_ : down_;
  const NodeId nic = edges[t.index() * forest.rank_count() + child.index()];
  if (!nic.valid()) return {};
  const auto& known = exits_[seen_sender(forest, t, child)];
  const auto at = std::lower_bound(known.begin(), known.end(), nic);
  return {static_cast<std::int32_t>(at - known.begin()), static_cast<std::int32_t>(known.size())};
}

NodeId Rails::exit(const Forest& forest, TreeId t, Rank child) const {
  const NodeId nic = exit(forest.path(t, child));
  return nic.valid() ? views_.seen(sender_of(forest, t, child), nic) : nic;
}

// The last node in the sender's box; where that is the sender itself, the switch after it.
NodeId Rails::exit(const std::vector<NodeId>& path) const {
  const std::int32_t box = boxes_[path.front()];
  if (box < 0 || boxes_[path.back()] == box) return {};
  const auto outside =
      std::find_if(path.begin(), path.end(), [&](NodeId node) { return boxes_[node] != box; });
  if (outside != path.begin() + 1) return *(outside - 1);
  return path.size() > 2 ? *outside : NodeId();
}

}  // namespace forestcoll::schedule
