// The cut that limits a collective, with the links that cross it, and in words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

/// The halves of a collective: whether the data of the nodes inside the cut must leave them
/// (allgather, broadcast), or is to be brought together inside (reduce_scatter, reduce).
enum class CollectivePhase { broadcast, reduce };

/// One arc of the fabric that crosses the cut, in the direction of the data.
struct CrossingLink {
  NodeId src, dst;
  Ratio bandwidth;  ///< GB/s
};

struct Bottleneck {
  CollectivePhase phase = CollectivePhase::broadcast;
  std::vector<Rank> inside;         ///< the GPUs whose data has to cross, in rank order
  std::int64_t weight = 0;          ///< how many shares of the data they own
  std::vector<NodeId> sending;      ///< all nodes on the side that sends, by id
  std::vector<CrossingLink> links;  ///< by (src, dst)
  Ratio exit_bandwidth;             ///< GB/s, the sum over `links`
  Ratio rate_per_root;              ///< GB/s, exit_bandwidth / weight, or less: see below
  /// Switches whose two sides differ leave trees less than the cut does.
  bool switches_cost = false;
};

/// The two sides of the cut that proves `rate`, and what joins them. Cost: linear in the network.
/// REQUIRES: for CollectivePhase::reduce, `rate` is that of the reversed network.
[[nodiscard]] Bottleneck find_bottleneck(const Network& network, const Rate& rate,
                                         CollectivePhase phase);

/// "data of the 8 GPUs of box0 leaves through 8 links of 25 GB/s (200 GB/s)"
[[nodiscard]] std::string in_words(const Bottleneck& bottleneck, const Topology& topology);

/// "GPU a", "the 8 GPUs of box0", "the 3 GPUs a, b and c", "the 15 GPUs other than a".
[[nodiscard]] std::string gpus_in_words(const std::vector<Rank>& ranks, const Topology& topology);
/// "8 links of 25 GB/s (200 GB/s)"
[[nodiscard]] std::string links_in_words(const std::vector<CrossingLink>& links,
                                         const Ratio& bandwidth);

/// The `count` largest links of the cut; equal ones in order of (src, dst).
[[nodiscard]] std::vector<CrossingLink> largest_links(std::vector<CrossingLink> links,
                                                      std::size_t count);

}  // namespace forestcoll
