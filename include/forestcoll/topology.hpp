// The topology: what a fabric consists of, as its file says, with ranges and templates expanded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll {

/// A relay is a GPU outside of the process group: it passes data on as a switch does, and no tree
/// has to reach it.
enum class NodeType { compute, switch_node, relay };

/// As files have it: "compute", "switch" or "relay".
[[nodiscard]] std::string_view to_string(NodeType type);

struct TopologyNode {
  std::string id;  ///< "box0/gpu3"
  NodeType type = NodeType::compute;
  std::string box;  ///< the box it sits in, as the file says or as was inferred; may be empty
  bool multicast = false;  ///< a switch that can copy in the network
  bool reduce = false;     ///< a switch that can aggregate in the network
  /// Of such a switch: what a GPU on it sends to be copied comes back to it as well, and what it
  /// reads combined takes its own part over the link, too. (NVSwitch does, InfiniBand SHARP not.)
  bool echo = true;
  bool enabled = true;  ///< a disabled node stays here, and out of the digraph
  Ratio weight = 1;     ///< a compute node's share of the data
};

struct TopologyLink {
  NodeId src, dst;
  Ratio bandwidth;               ///< GB/s per direction: count × derate × the file's bandwidth
  std::int64_t count = 1;        ///< parallel cables, at least 1, that the bandwidth is the sum of
  std::optional<Ratio> latency;  ///< µs, one way; none: `link_latencies` has a typical one
  bool full_duplex = true;       ///< false: src to dst only
  bool enabled = true;
  std::string kind;  ///< a free label: "nvlink", "ib"; may be empty
};

/// A bandwidth that several links share: a PCIe bridge's, a half-duplex bus's, a GPU's copy
/// engines'. All that goes over them together, each direction times its weight, has room in it.
struct SharedLimit {
  /// All links in use from one node to another.
  struct Use {
    NodeId src, dst;
    Ratio weight = 1;  ///< above 0

    bool operator==(const Use&) const = default;
  };

  std::string name;       ///< "box0/bridge"; may be empty
  Ratio bandwidth;        ///< GB/s
  std::vector<Use> uses;  ///< by src and dst, each pair once
};

/// A fabric. NodeId indexes `nodes`, LinkId `links`.
struct Topology {
  std::string name;
  std::string description;
  IdVector<NodeId, TopologyNode> nodes;
  IdVector<LinkId, TopologyLink> links;
  std::vector<NodeId> ranks;  ///< the enabled compute nodes in rank order; Rank indexes it
  std::vector<SharedLimit> limits = {};
};

struct TopologyOptions {
  std::size_t max_nodes = 1'000'000;  ///< more nodes, or 16 times as many links: E15
  bool strict = false;                ///< what would be a warning is an error
  std::optional<Ratio> quantize;      ///< round every bandwidth to a multiple of this, GB/s
};

struct ParsedTopology {
  Topology topology;
  Diagnostics warnings;       ///< W01 … W09, W12
  Ratio quantize_change = 0;  ///< the largest relative change that `quantize` made
  /// What was inferred, in sentences that name the file: boxes that it does not declare.
  std::vector<std::string> notes = {};
};

/// Reads a topology file (version 1). All errors of one file are reported together. GPUs without a
/// box get one where the fabric shows which; what was inferred stands in `notes`.
/// `file` is the name that diagnostics carry. Cost: linear in the expanded size.
[[nodiscard]] Expected<ParsedTopology> parse_topology(std::string_view text, std::string_view file,
                                                      const TopologyOptions& options = {});

// What switches can do with data that passes through them.

struct SwitchRole {
  bool copies = false;    ///< repeats what comes in on any of its links
  bool combines = false;  ///< adds up what comes in
  /// What a GPU on it sends to be copied comes back to the GPU as well; what a GPU on it reads
  /// combined takes the GPU's own part over its link, too.
  bool echoes = false;

  /// Where a sum may be completed and spread again without a GPU. A switch that echoes cannot:
  /// there it is a GPU that reads the sum, or stores what is copied.
  [[nodiscard]] bool is_root() const { return copies && combines && !echoes; }
  bool operator==(const SwitchRole&) const = default;
};

/// By node; empty where no switch does either.
using SwitchRoles = IdVector<NodeId, SwitchRole>;

/// Of the enabled switches, as the topology has them. Cost: O(nodes).
[[nodiscard]] SwitchRoles switch_roles(const Topology& topology);

/// By id; invalid where there is no such node. Cost: O(nodes + ids).
[[nodiscard]] std::vector<NodeId> nodes_with_ids(const Topology& topology,
                                                 const std::vector<std::string>& ids);

// Which box each node is in.

/// Nodes of the same box have the same number, from 0 on; those of no box have −1.
[[nodiscard]] IdVector<NodeId, std::int32_t> boxes_of_nodes(const Topology& topology);

/// The same by rank. A GPU of no box is a box of its own, but a fabric whose GPUs name no box at
/// all is one.
[[nodiscard]] IdVector<Rank, std::int32_t> boxes_of_ranks(const Topology& topology);

/// The names of the boxes that GPUs are in, sorted.
[[nodiscard]] std::vector<std::string> names_of_boxes(const Topology& topology);

/// How many boxes GPUs are in, likewise.
[[nodiscard]] std::size_t box_count(const Topology& topology);

/// Whether GPUs are in different boxes: then messages among all of them leave a box. A GPU of no
/// box is outside those that others are in.
[[nodiscard]] bool has_several_boxes(const Topology& topology);

}  // namespace forestcoll
