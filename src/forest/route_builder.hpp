// Routes put together from the nodes of a fabric.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "forest/route_table.hpp"
#include "forestcoll/id.hpp"

namespace forestcoll {

/// A table of routes whose segments are single hops; routes that begin alike share their prefixes.
class RouteBuilder {
 public:
  explicit RouteBuilder(const std::vector<NodeId>& ranks) : table_(ranks) {}

  /// `path` is all nodes passed, ends included. REQUIRES: it begins at the node of rank `origin`.
  Route add(Rank origin, std::span<const NodeId> path) {
    PrefixId prefix(origin.value);
    for (std::size_t i = 1; i + 1 < path.size(); ++i) {
      const SegmentId hop = segment(path[i]);
      const std::uint64_t key =
          (static_cast<std::uint64_t>(prefix.value) << 32) | static_cast<std::uint32_t>(hop.value);
      const auto [at, added] = prefix_of_.try_emplace(key);
      if (added) at->second = table_.extend(prefix, hop);
      prefix = at->second;
    }
    return {prefix, segment(path.back())};
  }

  /// The table is handed over; no more routes after that.
  RouteTable take() { return std::move(table_); }

 private:
  SegmentId segment(NodeId node) {
    const auto [at, added] = segment_of_.try_emplace(node);
    if (added) at->second = table_.add_segment(std::span(&node, 1));
    return at->second;
  }

  RouteTable table_;
  std::unordered_map<NodeId, SegmentId> segment_of_;
  std::unordered_map<std::uint64_t, PrefixId> prefix_of_;
};

}  // namespace forestcoll
