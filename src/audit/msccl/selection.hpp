// Whether, and for which calls, a runtime would select a file.
#pragma once

#include <cstdint>

#include "audit/common/findings.hpp"
#include "audit/common/program.hpp"
#include "audit/msccl/target_rules.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::audit {

/// Says in `verdict`, in words and numbers, which calls select the file: "count must be divisible
/// by 16 (elements per rank); in place; buffers from 0 B to 1 TiB". Adds a finding where none does.
void put_usable(const Program& program, const TargetRules& target, Findings& findings,
                Verdict& verdict);

/// What a chunk holds in the calls that select the file.
struct ChunkBytes {
  std::int64_t least = 1, most = 1;
};
/// Of the file's window, whether or not some call selects it; `most` is INT64_MAX where the window
/// has no end, and below `least` where it is empty.
[[nodiscard]] ChunkBytes chunk_bytes(const Program& program, const TargetRules& target);

}  // namespace forestcoll::audit
