// A fabric in a few numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

/// Boxes with equally many GPUs and switches.
struct BoxSummary {
  std::vector<std::string> names;
  std::size_t gpus = 0, switches = 0;  ///< in each
};

/// Links of one kind, bandwidth and number of cables.
struct LinkSummary {
  std::string kind;
  Ratio bandwidth;          ///< GB/s of each, per direction
  std::int64_t cables = 1;  ///< in each
  std::size_t count = 0;
  std::size_t one_way = 0;  ///< of these
};

struct TopologySummary {
  std::size_t gpus = 0, switches = 0;  ///< enabled
  std::size_t relays = 0;              ///< GPUs outside of the process group
  std::size_t disabled_nodes = 0, disabled_links = 0;
  std::size_t multicast = 0, reduce = 0;  ///< switches that copy, that aggregate
  std::vector<BoxSummary> boxes;          ///< in order of the first box of each
  std::size_t gpus_without_box = 0;
  std::vector<LinkSummary> links;  ///< enabled ones, by kind, then from wide to narrow
  /// GPUs that links of this kind join, directly or over switches, fall into so many groups:
  /// NVLink islands. Kinds that join no two GPUs by themselves are left out.
  std::map<std::string, std::size_t> islands;
};
[[nodiscard]] TopologySummary summarize(const Topology& topology);

/// The most that can flow at once from the first to the second set of nodes, GB/s: the capacity of
/// the narrowest cut between them. REQUIRES: both are not empty and have no node in common.
[[nodiscard]] Ratio bandwidth_between(const Network& network, std::span<const NodeId> from,
                                      std::span<const NodeId> to);

}  // namespace forestcoll
