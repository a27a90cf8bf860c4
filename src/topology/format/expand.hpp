// From entries with ranges, templates and boxes to every single node and link.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "forestcoll/id.hpp"
#include "forestcoll/topology.hpp"
#include "topology/format/document.hpp"
#include "topology/model/findings.hpp"

namespace forestcoll::topology {

/// The entry that a node or link comes from.
struct Origin {
  std::int32_t section = -1;  ///< the template; −1 for the top level
  std::int32_t entry = 0;     ///< in the section's `nodes` or `links`
  bool operator==(const Origin&) const = default;
};

/// One box made from a template.
struct BoxInstance {
  std::string name;
  std::size_t entry = 0;  ///< in the document's `boxes`
  std::size_t template_index = 0;
  NodeId first_node;
  std::size_t node_count = 0;
};

struct Expansion {
  Topology topology;
  IdVector<NodeId, Origin> node_origin;
  IdVector<LinkId, Origin> link_origin;
  std::vector<BoxInstance> boxes;
  bool complete = true;  ///< every node and link that the file means is there, once
};

[[nodiscard]] const Section& section_of(const Document& document, Origin origin);
/// The JSON pointers of entries.
[[nodiscard]] std::string where_node(const Document& document, Origin origin);
[[nodiscard]] std::string where_link(const Document& document, Origin origin);

/// True where the expansion stays within `max_nodes` nodes and 16 times as many links; E15
/// otherwise, decided by counting. Cost: O(entries).
[[nodiscard]] bool check_size(const Document& document, std::size_t max_nodes, Findings& findings);

/// Expands everything: the boxes first, in their order, then the nodes and links of the top level.
/// Ranks are in `rank_order`, or in order of appearance. Findings: E03, E04, E06, E13.
/// REQUIRES: check_size. Cost: linear in the result.
[[nodiscard]] Expansion expand(const Document& document, Findings& findings);

}  // namespace forestcoll::topology
