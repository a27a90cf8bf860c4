// GPUs in parts, and how their ids divide them.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "forestcoll/topology.hpp"
#include "graph/joined_items.hpp"

namespace forestcoll::topology {

/// GPUs in parts.
struct Division {
  std::vector<std::size_t> part;  ///< of each GPU; parts are numbered by their first GPU
  std::vector<std::size_t> size;  ///< of each part, in GPUs

  [[nodiscard]] std::size_t parts() const { return size.size(); }
  /// Every part, or no part, is a single GPU.
  [[nodiscard]] bool all_alone() const { return size.size() == part.size(); }
  [[nodiscard]] bool none_alone() const;
  bool operator==(const Division&) const = default;
};

/// The compute nodes, enabled or not, in their order.
[[nodiscard]] std::vector<NodeId> gpus_of(const Topology& topology);

/// The GPUs by the groups of nodes that they are in.
[[nodiscard]] Division divide(const std::vector<NodeId>& gpus, graph::JoinedItems& groups);

/// The prefix of an id: "rack0/box1/gpu2" has "rack0" at depth 1, "rack0/box1" at depth 2 and
/// deeper; empty where the id has none.
[[nodiscard]] std::string_view prefix_of(std::string_view id, std::size_t depth);
/// "n0" of "n0g3", "n0-gpu3" and "n0_3": what stands before the last number and its word, if it
/// ends with a number. Empty for ids with a prefix, and where there is none.
[[nodiscard]] std::string_view stem_of(std::string_view id);

/// What the ids of the GPUs say about boxes.
class IdDivisions {
 public:
  /// Cost: O(GPUs × depth).
  IdDivisions(const Topology& topology, const std::vector<NodeId>& gpus);

  /// By prefix, from depth 1 on; empty where a GPU has no prefix.
  [[nodiscard]] const std::vector<Division>& by_depth() const { return by_depth_; }
  /// The prefixes are several.
  [[nodiscard]] bool has_prefixes() const;
  /// Prefixes at some depth, or stems, are several and divide the GPUs just so.
  [[nodiscard]] bool agree(const Division& division) const;

 private:
  std::vector<Division> by_depth_, by_stem_;
};

}  // namespace forestcoll::topology
