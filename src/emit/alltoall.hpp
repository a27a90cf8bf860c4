// Pure functions from all-to-all schedules to text.
#pragma once

#include <cstdint>
#include <string>

#include "forestcoll/alltoall.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

/// MSCCL XML with coll="alltoall", for calls out of place, in the lexical form that the runtimes'
/// parsers accept, headed by comments that name the tool's version, the topology with the hash of
/// its content, k and `optimum`, the algbw in GB/s that no schedule exceeds.
/// REQUIRES: `schedule` is an all-to-all, lowered for `topology`.
[[nodiscard]] std::string to_alltoall_xml(const Schedule& schedule, const Ratio& optimum,
                                          const Topology& topology, const XmlOptions& options);

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
