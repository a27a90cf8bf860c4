// Files for NCCL, as NCCL and its tuner plugins read them: graphs, and rules by size.
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

/// Whether the first row is one of NCCL's example plugin or of torchcomms' NCCLX.
[[nodiscard]] bool looks_like_tuner(std::string_view text);

/// Checks every row as the plugin takes it: NCCL's example plugin takes a name that it does not
/// know for another one without a word, and lines end at 255 bytes. A row that NCCL passes over
/// wherever it fits is a finding, too. With a topology, some row must fit its communicator. What
/// calls get that no row fits stands in `verdict.outcome`. Cost: that of sorting the rows.
void check_tuner(std::string_view text, const Topology* topology, Findings& findings,
                 Verdict& verdict);

}  // namespace forestcoll::audit
