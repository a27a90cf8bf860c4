#include "forest/route_table.hpp"

#include <algorithm>
#include <utility>

namespace forestcoll {

RouteTable::RouteTable(std::vector<NodeId> ranks) : ranks_(std::move(ranks)) {
  prefixes_.reserve(ranks_.size());
  for (std::size_t r = 0; r < ranks_.size(); ++r) prefixes_.push_back({{}, {}, Rank(r)});
}

SegmentId RouteTable::add_segment(std::span<const NodeId> nodes) {
  segment_nodes_.insert(segment_nodes_.end(), nodes.begin(), nodes.end());
  segment_begin_.push_back(static_cast<std::int64_t>(segment_nodes_.size()));
  return SegmentId(segment_begin_.size() - 2);
}

PrefixId RouteTable::extend(PrefixId prefix, SegmentId segment) {
  return prefixes_.push_back({prefix, segment, prefixes_[prefix].origin});
}

std::vector<NodeId> RouteTable::nodes(Route route) const {
  std::vector<NodeId> reversed;
  const auto append_backwards = [&](SegmentId s) {
    for (auto i = segment_begin_[s.index() + 1]; i-- > segment_begin_[s.index()];) {
      reversed.push_back(segment_nodes_[static_cast<std::size_t>(i)]);
    }
  };
  append_backwards(route.last);
  PrefixId at = route.prefix;
  for (; prefixes_[at].segment.valid(); at = prefixes_[at].before) {
    append_backwards(prefixes_[at].segment);
  }
  reversed.push_back(ranks_[prefixes_[at].origin.index()]);
  std::reverse(reversed.begin(), reversed.end());
  return reversed;
}

}  // namespace forestcoll
