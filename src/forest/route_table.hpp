// Routes of a forest's edges, which share what they have in common.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "forestcoll/id.hpp"

namespace forestcoll {

/// Part of a route: the nodes of one hop, the starting node left out.
using SegmentId = Id<struct SegmentTag>;
/// The beginning of a route: from a rank through zero or more switches.
using PrefixId = Id<struct PrefixTag>;

/// A route from a compute node through switches to another compute node: a prefix and the segment
/// that ends at the receiver. Routes share their prefixes, so that an edge takes 8 bytes.
struct Route {
  PrefixId prefix;
  SegmentId last;
  [[nodiscard]] bool valid() const { return prefix.valid(); }
  bool operator==(const Route&) const = default;
};

/// The parts that routes are put together from. PrefixId(r) for r < N is the empty prefix at
/// rank r.
class RouteTable {
 public:
  RouteTable() = default;
  explicit RouteTable(std::vector<NodeId> ranks);

  SegmentId add_segment(std::span<const NodeId> nodes);
  PrefixId extend(PrefixId prefix, SegmentId segment);

  [[nodiscard]] std::size_t prefix_count() const { return prefixes_.size(); }
  [[nodiscard]] Rank origin(PrefixId prefix) const { return prefixes_[prefix].origin; }
  /// The prefix without its last segment, and that segment. REQUIRES: not an empty prefix.
  [[nodiscard]] PrefixId before(PrefixId prefix) const { return prefixes_[prefix].before; }
  [[nodiscard]] SegmentId segment(PrefixId prefix) const { return prefixes_[prefix].segment; }
  /// All nodes passed from the sending compute node to the receiving one, ends included.
  [[nodiscard]] std::vector<NodeId> nodes(Route route) const;
  [[nodiscard]] std::span<const NodeId> ranks() const { return ranks_; }

 private:
  struct Prefix {
    PrefixId before;
    SegmentId segment;
    Rank origin;
  };
  std::vector<NodeId> ranks_;
  IdVector<PrefixId, Prefix> prefixes_;
  std::vector<NodeId> segment_nodes_;
  std::vector<std::int64_t> segment_begin_ = {0};
};

}  // namespace forestcoll
