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

/// Sends `demand` to each sink in order, merging the ones that hold. On a violated cut it calls
/// `repair(sink_side)`, which must make the cut hold by changing `flow` (capacities and supplies
/// may only grow) and return the new demand, or return nothing to give up.
/// True if all sinks hold in the end.
template <class Repair>
bool check_all(graph::SinkFlow& flow, std::span<const NodeId> order, std::int64_t demand,
               Repair&& repair) {
  for (const NodeId sink : order) {
    while (!flow.send(sink, demand)) {
      const std::optional<std::int64_t> next = repair(flow.tight_sink_side(sink));
      if (!next) return false;
      demand = *next;
    }
    flow.merge(sink);
  }
  return true;
}

}  // namespace forestcoll::solver
