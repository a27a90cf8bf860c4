// What is checked of a program, one file each: its structure, deadlocks, races, who selects it.
#pragma once

#include <cstdint>
#include <optional>

#include "audit/common/findings.hpp"
#include "audit/common/memory_map.hpp"
#include "audit/common/program.hpp"
#include "audit/execution/execution.hpp"
#include "audit/msccl/step_graph.hpp"
#include "audit/msccl/target_rules.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll::audit {

/// Checks numbering, limits, peers and channels, bounds, dependencies, nop steps, `re` runs and
/// sizes of buffers. Puts GPUs and threadblocks in order of their ids, so that afterwards, unless
/// `findings.blocked()`, gpus[r].threadblocks[t] is threadblock t of rank r.
/// `sms`: threadblocks that a GPU holds at once. Cost: linear, but for sorting.
void check_structure(Program& program, const TargetRules& target, std::int32_t sms,
                     Findings& findings);

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

/// Adds a finding for every two steps that race, and every step whose source and destination
/// overlap. Cost: as `find_races`.
void check_races(const StepGraph& graph, const Execution& execution, const MemoryMap& memory,
                 Findings& findings);

}  // namespace forestcoll::audit
