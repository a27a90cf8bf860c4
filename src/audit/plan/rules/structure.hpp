// The rules that a plan must keep before it makes sense to run it.
#pragma once

#include <cstdint>
#include <vector>

#include "audit/common/findings.hpp"
#include "audit/common/program.hpp"
#include "audit/plan/file.hpp"

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

}  // namespace forestcoll::audit
