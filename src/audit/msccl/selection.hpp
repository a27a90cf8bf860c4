// Whether, and for which calls, a runtime would select a file.
#pragma once

#include <cstdint>
#include <string>

#include "audit/common/findings.hpp"
#include "audit/common/program.hpp"
#include "audit/msccl/target_rules.hpp"

namespace forestcoll::audit {

/// "element counts per rank that are multiples of 16, in place, from 0 B to 1 TiB of output".
/// Adds a finding where no call at all selects the file.
[[nodiscard]] std::string usable_counts(const Program& program, const TargetRules& target,
                                        Findings& findings);

/// What a chunk holds in the calls that select the file.
struct ChunkBytes {
  std::int64_t least = 1, most = 1;
};
/// Of the file's window, whether or not some call selects it; `most` is INT64_MAX where the window
/// has no end, and below `least` where it is empty.
[[nodiscard]] ChunkBytes chunk_bytes(const Program& program, const TargetRules& target);

}  // namespace forestcoll::audit
