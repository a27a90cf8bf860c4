// Rules for tuner plugins of NCCL, as the plugins read them.
#pragma once

#include <string_view>

#include "audit/common/findings.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::audit {

/// Whether the first row is one of NCCL's example plugin or of torchcomms' NCCLX.
[[nodiscard]] bool looks_like_tuner(std::string_view text);

/// Checks every row as the plugin takes it: NCCL's example plugin takes a name that it does not
/// know for another one without a word, and lines end at 255 bytes. A row that NCCL passes over
/// wherever it fits is a finding, too. With a topology, some row must fit its communicator. What
/// calls get that no row fits stands in `verdict.outcome`. Cost: that of sorting the rows.
void check_tuner(std::string_view text, const Topology* topology, Findings& findings,
                 Verdict& verdict);

}  // namespace forestcoll::audit
