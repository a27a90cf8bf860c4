#include "graph/sink_flow.hpp"

#include <algorithm>

namespace forestcoll::graph {
namespace {

constexpr std::int32_t kUnlabelled = -1;

}  // namespace

SinkFlow::SinkFlow(const Digraph& graph)
    : begin_(graph.node_count() + 1, 0),
      tail_(graph.arc_count()),
      head_(graph.arc_count()),
      capacity_(graph.arc_count(), 0),
      flow_(graph.arc_count(), 0),
      excess_(graph.node_count(), 0),
      merged_(graph.node_count(), false),
      level_(graph.node_count(), kUnlabelled),
      next_half_(graph.node_count(), 0) {
  half_arcs_.reserve(2 * graph.arc_count());
  for (std::size_t i = 0; i < graph.node_count(); ++i) {
    const NodeId v(i);
    for (const ArcId a : graph.in(v)) half_arcs_.push_back({a.value, graph.tail(a).value, true});
    for (ArcId a = graph.first_out(v); a != graph.last_out(v); ++a.value) {
      half_arcs_.push_back({a.value, graph.head(a).value, false});
    }
    begin_[i + 1] = static_cast<std::int32_t>(half_arcs_.size());
  }
  for (std::size_t a = 0; a < graph.arc_count(); ++a) {
    tail_[a] = graph.tail(ArcId(a)).value;
    head_[a] = graph.head(ArcId(a)).value;
  }
}

void SinkFlow::reset(std::span<const Amount> capacity, std::span<const Amount> supply) {
  std::copy(capacity.begin(), capacity.end(), capacity_.begin());
  std::copy(supply.begin(), supply.end(), excess_.begin());
  std::fill(flow_.begin(), flow_.end(), 0);
  std::fill(merged_.begin(), merged_.end(), false);
  for (const auto v : queue_) level_[static_cast<std::size_t>(v)] = kUnlabelled;
  queue_.clear();
  received_ = 0;
}

void SinkFlow::add_capacity(ArcId arc, Amount delta) {
  capacity_[arc.index()] += delta;
  if (merged_[static_cast<std::size_t>(tail_[arc.index()])]) {
    excess_[static_cast<std::size_t>(head_[arc.index()])] += delta;
  }
}

void SinkFlow::merge(NodeId node) {
  merged_[node.index()] = true;
  received_ = 0;
  for (auto h = begin_[node.index()]; h < begin_[node.index() + 1]; ++h) {
    const HalfArc& half = half_arcs_[static_cast<std::size_t>(h)];
    const auto a = static_cast<std::size_t>(half.arc);
    Amount& neighbour = excess_[static_cast<std::size_t>(half.other)];
    if (half.in) {
      neighbour += flow_[a];
      flow_[a] = 0;
    } else {
      neighbour += capacity_[a] - flow_[a];
    }
  }
}

// Levels by distance to the sink, breadth first, until the labelled nodes could supply `wanted`.
// False where no labelled node has any excess left: the flow is maximum, and the labelled nodes
// are the sink side of the smallest minimum cut.
bool SinkFlow::label(std::size_t sink, Amount wanted) {
  for (const auto v : queue_) level_[static_cast<std::size_t>(v)] = kUnlabelled;
  queue_.clear();
  queue_.push_back(static_cast<std::int32_t>(sink));
  level_[sink] = 0;
  next_half_[sink] = begin_[sink];
  Amount in_reach = excess_[sink];
  for (std::size_t at = 0; at < queue_.size() && in_reach < wanted; ++at) {
    const auto v = static_cast<std::size_t>(queue_[at]);
    for (auto h = begin_[v]; h < begin_[v + 1]; ++h, ++arcs_seen_) {
      const HalfArc& half = half_arcs_[static_cast<std::size_t>(h)];
      const auto u = static_cast<std::size_t>(half.other);
      if (level_[u] != kUnlabelled || merged_[u] || residual(half) <= 0) continue;
      level_[u] = level_[v] + 1;
      next_half_[u] = begin_[u];
      queue_.push_back(half.other);
      // An upper bound of what this node adds; saturating, so that it cannot overflow.
      in_reach += std::min(excess_[u], wanted);
      if (in_reach >= wanted) break;
    }
  }
  return in_reach > 0;
}

// One blocking flow along the levels, walking back from the sink; at most `wanted`.
SinkFlow::Amount SinkFlow::pull(std::size_t sink, Amount wanted) {
  Amount pulled = 0;
  path_.clear();
  std::size_t v = sink;
  while (pulled < wanted) {
    if (excess_[v] > 0) {
      Amount amount = std::min(excess_[v], wanted - pulled);
      for (const auto h : path_)
        amount = std::min(amount, residual(half_arcs_[static_cast<std::size_t>(h)]));
      excess_[v] -= amount;
      pulled += amount;
      std::size_t keep = path_.size();
      for (std::size_t i = 0; i < path_.size(); ++i) {
        const HalfArc& half = half_arcs_[static_cast<std::size_t>(path_[i])];
        const auto a = static_cast<std::size_t>(half.arc);
        flow_[a] += half.in ? amount : -amount;
        if (residual(half) == 0 && keep == path_.size()) keep = i;
      }
      if (keep < path_.size()) {
        // Go on from the near end of the first saturated arc.
        path_.resize(keep);
        v = keep == 0 ? sink
                      : static_cast<std::size_t>(
                            half_arcs_[static_cast<std::size_t>(path_[keep - 1])].other);
      }
      if (excess_[v] > 0) continue;
    }
    bool advanced = false;
    for (auto& h = next_half_[v]; h < begin_[v + 1]; ++h, ++arcs_seen_) {
      const HalfArc& half = half_arcs_[static_cast<std::size_t>(h)];
      const auto u = static_cast<std::size_t>(half.other);
      if (level_[u] != level_[v] + 1 || residual(half) <= 0) continue;
      path_.push_back(h);
      v = u;
      advanced = true;
      break;
    }
    if (advanced) continue;
    if (path_.empty()) break;
    path_.pop_back();
    v = path_.empty()
            ? sink
            : static_cast<std::size_t>(half_arcs_[static_cast<std::size_t>(path_.back())].other);
    ++next_half_[v];
  }
  return pulled;
}

bool SinkFlow::send(NodeId sink, Amount demand) {
  const std::size_t t = sink.index();
  // Every labelled node with supply has a residual path to the sink, so each round pulls some.
  while (received_ < demand) {
    if (!label(t, demand - received_)) return false;
    received_ += pull(t, demand - received_);
  }
  return true;
}

std::vector<bool> SinkFlow::tight_sink_side(NodeId sink) {
  if (label(sink.index(), 1)) return {};
  std::vector<bool> side(level_.size(), false);
  for (const auto v : queue_) side[static_cast<std::size_t>(v)] = true;
  return side;
}

}  // namespace forestcoll::graph
