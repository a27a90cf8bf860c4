#include <algorithm>
#include <optional>

#include "baseline/makers.hpp"

namespace forestcoll::baseline {
namespace {

// Between every rank and one switch, both ways; 0 where some rank is not linked to it.
Capacity width_of(const Network& network, NodeId node) {
  std::optional<Capacity> width;
  for (const NodeId rank : network.ranks) {
    for (const auto& [from, to] : {std::pair(rank, node), std::pair(node, rank)}) {
      const ArcId arc = network.graph.find(from, to);
      if (!arc.valid()) return 0;
      width = std::min(width.value_or(network.capacity[arc]), network.capacity[arc]);
    }
  }
  return width.value_or(0);
}

}  // namespace

Expected<BaselineResult> nvls(const Request& request) {
  const Network& network = request.network;
  Capacity width = 0;
  for (std::size_t v = 0; v < request.topology.nodes.size(); ++v) {
    const TopologyNode& node = request.topology.nodes[NodeId(v)];
    if (node.multicast && node.reduce) width += width_of(network, NodeId(v));
  }
  if (width == 0) {
    return refusal("B03",
                   "no switch with \"multicast\" and \"reduce\" is linked to every GPU both ways",
                   "NVLS is for one box whose switch combines data: set both keys on the switch "
                   "where it does");
  }
  const auto n = static_cast<std::int64_t>(network.ranks.size());
  const auto bandwidth = checked_mul(Ratio(width), network.unit);
  const auto algbw = bandwidth ? checked_mul(*bandwidth, Ratio(n, n + 1)) : std::nullopt;
  if (!algbw) {
    return Diagnostic{.code = "E14",
                      .kind = ErrorKind::limit,
                      .message = "the rate of this algorithm does not fit 64-bit fractions",
                      .remedy = "round the bandwidths to a coarser grid with --quantize"};
  }
  return BaselineResult{.forest = {},
                        .algbw = *algbw,
                        .rings = 0,
                        .note =
                            "the rate alone: the switch combines and copies, which no trees "
                            "describe"};
}

}  // namespace forestcoll::baseline
