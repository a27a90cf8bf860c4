#include "solver/rate/alike_sinks.hpp"

#include <utility>

namespace forestcoll::solver {
namespace {

// What looking for automorphisms costs, in looks at each arc.
constexpr std::int64_t kLooksPerArc = 64;

}  // namespace

void AlikeSinks::find_orbits() {
  orbits_ = find_node_orbits(network_, weights_);
  members_.resize(orbits_->count);
  for (const NodeId v : network_.ranks) members_[orbits_->of[v.index()]].push_back(v);
}

void AlikeSinks::merge_orbit(graph::SinkFlow& flow, NodeId sink) {
  // Once is enough: what is merged stays so.
  for (const NodeId v : std::exchange(members_[orbits_->of[sink.index()]], {})) {
    if (flow.is_merged(v)) continue;
    flow.merge(v);
    merged_.push_back(v);
  }
}

void AlikeSinks::merge(graph::SinkFlow& flow, NodeId sink) {
  if (!flow.is_merged(sink)) flow.merge(sink);
  merged_.push_back(sink);
  if (orbits_) return merge_orbit(flow, sink);
  const auto arcs = static_cast<std::int64_t>(network_.graph.arc_count());
  if (flow.arcs_seen() < kLooksPerArc * arcs) return;
  find_orbits();
  const std::vector<NodeId> one_by_one = merged_;
  for (const NodeId v : one_by_one) merge_orbit(flow, v);
}

void AlikeSinks::merge_again(graph::SinkFlow& flow) const {
  for (const NodeId v : merged_) flow.merge(v);
}

}  // namespace forestcoll::solver
