// What is checked of a plan that ends, one file each: races, lifetimes of memory, packets, scratch.
#pragma once

#include "audit/common/findings.hpp"
#include "audit/common/memory_map.hpp"
#include "audit/execution/execution.hpp"
#include "audit/plan/file.hpp"
#include "audit/plan_run/graph.hpp"

namespace forestcoll::audit {

inline constexpr const char* kNotRelaxed = "use signal and wait instead of rlxsignal and rlxwait";

/// Where a node accesses a chunk, for findings.
[[nodiscard]] Place place_of(const PlanGraph& graph, const MemoryMap& memory, std::int32_t node,
                             const ChunkRef& chunk);

/// Adds a finding for every two operations that race: what only a relaxed signal orders counts as
/// not ordered, but for reads that are to be over. And for every operation of which two operands
/// overlap.
void check_plan_races(const PlanFile& plan, const PlanGraph& graph, const Execution& execution,
                      const MemoryMap& memory, Findings& findings);

/// A rank's memory is there from the beginning to the end of its call. Adds a finding for every
/// access to another rank's memory that may come before or after that, and for every access through
/// a port channel that may come after it: the channel may still be reading its source when the call
/// that gave it the put has ended. Packets are left out (`check_packet_reuse`).
/// Cost: O(accesses), and that of `happens_before` for the beginnings and ends of all calls.
void check_lifetimes(const PlanGraph& graph, const Execution& execution, const MemoryMap& memory,
                     Findings& findings);

/// Lets every waiting read of packets come after what writes them. Findings: packets that nobody
/// writes, for which a read waits for ever, and packets that are written twice in a call, of which
/// readers take either. Cost: O(accesses).
void connect_packets(const PlanFile& plan, const MemoryMap& memory, PlanGraph& graph,
                     Findings& findings);

/// The next call writes the same packets again; with two halves of scratch, the one after that.
/// Adds a finding where nothing shows the writer that their reader has done with them.
/// Cost: O(accesses) and that of `happens_before`.
void check_packet_reuse(const PlanFile& plan, const PlanGraph& graph, const Execution& execution,
                        const MemoryMap& memory, Findings& findings);

/// With use_double_scratch_buffer a rank's own threads take the second half of its scratch in every
/// second call; what other ranks, and the engines behind port channels, do there stays in the
/// first (packets apart). Adds a finding for every operation that reads a chunk of scratch in one
/// of these ways which was last written in the other. Cost: O(accesses).
void check_double_scratch(const PlanFile& plan, const PlanGraph& graph, const Execution& execution,
                          const MemoryMap& memory, Findings& findings);

}  // namespace forestcoll::audit
