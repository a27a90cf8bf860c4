// Whether a program can hang, at any message size.
#pragma once

#include <cstdint>
#include <optional>

#include "audit/common/findings.hpp"
#include "audit/common/program.hpp"
#include "audit/msccl/step_graph.hpp"
#include "audit/msccl/target_rules.hpp"

namespace forestcoll::audit {

struct DeadlockVerdict {
  bool free_at_one_in_flight = false;  ///< never stuck with one operation in flight, either
  /// The largest buffer that is safe, where larger ones get stuck that the file's window leaves
  /// out.
  std::optional<std::int64_t> safe_bytes;
};

/// Adds a finding that names the cycle, and the largest buffer that is safe, if the program can get
/// stuck on a buffer that the file's window lets in, with as many operations in flight as the
/// protocol allows (Simple 2, LL and LL128 8). Sizes are those of the runtime's default buffers.
/// REQUIRES: every message is matched; `program.chunks` > 0. Cost: two runs of the program, and one
/// for each number of chunks that an operation may carry (71 at most) if the second gets stuck.
[[nodiscard]] DeadlockVerdict check_deadlock(const StepGraph& graph, const Program& program,
                                             const TargetRules& target, Findings& findings);

}  // namespace forestcoll::audit
