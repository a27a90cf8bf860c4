// Whether a program can hang, at any message size.
#pragma once

#include <string_view>

#include "audit/findings.hpp"
#include "audit/step_graph.hpp"

namespace forestcoll::audit {

/// Adds a finding that names the cycle if the program can get stuck, at any splitting of counts
/// into operations, with as many operations in flight as the protocol allows (Simple 2, LL and
/// LL128 8). Returns whether it never gets stuck even with one in flight, which then holds for
/// every protocol.
/// REQUIRES: every message is matched. Cost: at most three runs of the program.
[[nodiscard]] bool check_deadlock(const StepGraph& graph, std::string_view protocol,
                                  Findings& findings);

}  // namespace forestcoll::audit
