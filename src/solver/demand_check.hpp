// Does every compute node receive the whole demand? The one question behind rate, scaling and
// the packing's invariant.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "graph/sink_flow.hpp"

namespace forestcoll::solver {

/// The flags, by node, of a set of nodes that data must enter.
using SinkSide = std::vector<bool>;

/// Sends `demand` to each sink in order, merging the ones that hold by `merge(sink)`, which may
/// merge others that must hold as well. On a violated cut it calls `repair(sink_side)`, which must
/// make the cut hold by changing `flow` (capacities and supplies may only grow) and return the new
/// demand, or return nothing to give up.
/// True if all sinks hold in the end.
template <class Repair, class Merge>
bool check_all(graph::SinkFlow& flow, std::span<const NodeId> order, std::int64_t demand,
               Repair&& repair, Merge&& merge) {
  for (const NodeId sink : order) {
    if (flow.is_merged(sink)) continue;
    while (!flow.send(sink, demand)) {
      const std::optional<std::int64_t> next = repair(flow.tight_sink_side(sink));
      if (!next) return false;
      demand = *next;
    }
    merge(sink);
  }
  return true;
}

/// The same, merging just the sinks that hold.
template <class Repair>
bool check_all(graph::SinkFlow& flow, std::span<const NodeId> order, std::int64_t demand,
               Repair&& repair) {
  return check_all(flow, order, demand, repair, [&](NodeId sink) { flow.merge(sink); });
}

}  // namespace forestcoll::solver
