// The paths of an all-to-all, a scatter or a gather as JSON.
#pragma once

#include <cstdint>
#include <string>

#include "forestcoll/alltoall.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

/// What the head of a flows file says.
struct FlowsHead {
  std::int64_t own_bytes = 0;  ///< of an all-to-all-v: what ranks have for themselves
  Ratio algbw;                 ///< GB/s
  Ratio algbw_in_rounds;       ///< GB/s; 0: it does not fit 64 bits, and is left out
  Ratio optimum;               ///< algbw that no schedule exceeds
};

/// {"format":"forestcoll-flows","version":1,…}, one pair per line; the schema is
/// tools/schema/forestcoll-flows.schema.json. Cost: linear in the text.
[[nodiscard]] std::string to_flows_json(const AlltoallRoutes& routes, const Demand& demand,
                                        const FlowsHead& head, const Topology& topology);

}  // namespace forestcoll
