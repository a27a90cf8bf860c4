// Process groups as fabrics of their own, on all links of a whole one.
#pragma once

#include <map>
#include <set>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {

class GroupFabrics {
 public:
  /// `relays`: whether GPUs outside of a group pass its data on, or are gone. REQUIRES: `whole`
  /// outlives this.
  GroupFabrics(const Topology& whole, bool relays);

  /// The fabric as a group has it by itself: its members as ranks in the order of the group, and
  /// all that joins them. Nodes and links keep their order and their latencies, so that groups that
  /// lie alike have one `shape_of`. Errors: those of `degrade`. Cost: linear in the nodes that the
  /// members reach, and their links.
  [[nodiscard]] Expected<Topology> of(const std::vector<Rank>& group) const;

 private:
  using Neighbours = std::map<NodeId, std::set<NodeId>>;
  [[nodiscard]] Neighbours reached_by(const std::vector<Rank>& group) const;
  [[nodiscard]] Topology part_of(const std::vector<Rank>& group, const Neighbours& kept) const;
  [[nodiscard]] NodeId other_end(LinkId link, NodeId node) const;

  const Topology& whole_;
  bool relays_;
  IdVector<LinkId, Ratio> latency_us_;
  IdVector<NodeId, std::vector<LinkId>> links_;  // in use, of each node
};

}  // namespace forestcoll::cli
