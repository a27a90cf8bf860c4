// Graphs for NCCL_GRAPH_FILE, as NCCL reads them.
#pragma once

#include <string_view>

#include "audit/common/findings.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::audit {

/// Whether the first element is <graphs>.
[[nodiscard]] bool looks_like_graph(std::string_view text);

/// Checks what NCCL does not (src/graph/search.cc): it takes a graph's attributes and devices as
/// they stand, and writes channels one behind the other into an array. Every channel of rings and
/// trees has to visit every GPU of the box once, that of NVLS one; all have NICs at both ends or
/// none has; numbers and types have to be what NCCL knows. With a topology, channels have the GPUs
/// of its boxes, and rings go over links and switches of every box. What the file holds stands in
/// `verdict.outcome`. Cost: linear; with a topology, one search per GPU and box.
void check_graph(std::string_view text, const Topology* topology, Findings& findings,
                 Verdict& verdict);

}  // namespace forestcoll::audit
