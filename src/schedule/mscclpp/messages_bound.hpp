// How large the messages of a plan may be.
#pragma once

#include <cstdint>

#include "forestcoll/diagnostic.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace forestcoll::schedule {

/// In bytes: such that no buffer, the scratch least of all, outgrows the executor's offsets.
[[nodiscard]] std::int64_t largest_message(const ExecutionPlan& plan);

/// 2 GiB: a byte more than the loader holds, which is none of any buffer's, as these are aligned.
inline constexpr std::int64_t kMostLeastBytes = std::int64_t{1} << 31;

/// What was asked for; else 2 GiB, or what the executor's offsets reach, if that is less.
[[nodiscard]] std::int64_t max_bytes_of(const PlanOptions& options, const ExecutionPlan& plan);

/// T04 where `plan.max_bytes` is more, or `plan.min_bytes` more than `kMostLeastBytes`.
[[nodiscard]] Expected<void> refuse_long_messages(const ExecutionPlan& plan);

}  // namespace forestcoll::schedule
