// The rules that a plan must keep before it makes sense to run it, one file each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "audit/common/findings.hpp"
#include "audit/common/program.hpp"
#include "audit/plan/file.hpp"
#include "audit/plan/releases.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::audit {

inline constexpr std::size_t kMaxPlanOps = 64;           ///< of a threadblock, pipelines' included
inline constexpr std::size_t kMaxPlanChannels = 16;      ///< of a threadblock and kind
inline constexpr std::size_t kMaxPlanOpChannels = 8;     ///< of an operation
inline constexpr std::size_t kMaxPlanOpBuffers = 10;     ///< sources, destinations of an operation
inline constexpr std::int64_t kMaxPlanBarriers = 16;     ///< of a GPU
inline constexpr std::size_t kMaxPlanOpSemaphores = 16;  ///< of an operation
inline constexpr std::int64_t kMaxPlanChunks = std::int64_t{1} << 24;  ///< of one buffer
inline constexpr std::size_t kMaxPlanPortChannels = 128;  ///< of a GPU, served by one proxy

/// Checks fields, numbering, limits, references and the shape of every operation against what the
/// executor does with it. Unless `findings.blocked()` afterwards, every reference of `plan` leads
/// somewhere, and `program` holds the collective, its sizes and the scratch of every rank.
/// Cost: linear.
void check_plan_structure(const PlanFile& plan, std::int32_t sms, Program& program,
                          Findings& findings);

[[nodiscard]] inline Place plan_place(std::size_t rank, std::size_t tb, std::size_t op) {
  return {static_cast<std::int32_t>(rank),
          static_cast<std::int32_t>(tb),
          static_cast<std::int32_t>(op),
          0,
          {}};
}

/// Checks the operands of operation `i` of threadblock `t`, which moves or adds data: how many,
/// from where, their bounds, and what the executor would take them for.
void check_operands(const PlanFile& plan, std::size_t rank, std::size_t t, std::size_t i,
                    Findings& findings);

/// Checks what the executor takes for granted of packets: that scratch has room for flags, and
/// holds nothing else; that threads, not pipelines, cut packets. REQUIRES: the operands' references
/// lead somewhere. Cost: O(operations).
void check_packet_rules(const PlanFile& plan, Findings& findings);

/// Checks that the ranks of every group know it, of the same buffer, and that all can set theirs
/// up: each does so in the order of its list, and waits for the others. Cost: O(ranks in all groups
/// · log).
void check_switch_groups(const PlanFile& plan, Findings& findings);

/// Through a memory channel a GPU's threads reach into the other's memory, and a switch channel is
/// a piece of memory that all map; both end with the box. Adds one finding, with their number, for
/// all memory channels between boxes, one for all buffers reached by memory, and one for all
/// groups. GPUs of which the topology does not know the box are passed over. REQUIRES: as many
/// ranks as the topology has, and peers that are ranks. Cost: O(channels).
void check_plan_boxes(const PlanFile& plan, const Topology& topology, Findings& findings);

/// Adds a finding for each operation that the release does not have. Cost: O(operations).
void check_release(const PlanFile& plan, const PlanRelease& release, Findings& findings);

/// MSCCL++'s executor adds to a place in another's output the offset that its own caller's output
/// has (execution_plan.cc, getConstOffset). Of a scatter in place the root's output lies in its
/// input, at its block, and the others' at the beginning of theirs: what a root other than rank 0
/// writes lands as far behind. Seen on a GPU. `root`: what the data said. Cost: linear in the
/// root's remote buffers.
void check_output_offsets(const PlanFile& plan, std::optional<Rank> root, Findings& findings);

}  // namespace forestcoll::audit
