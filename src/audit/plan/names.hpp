// The words of an execution plan.
#pragma once

#include <optional>
#include <string_view>

#include "audit/plan/file.hpp"

namespace forestcoll::audit {

/// "put", "re", …; `other` for what the executor does not have. "rlxsignal" and "rlxwait" are a
/// signal and a wait that are relaxed.
[[nodiscard]] PlanKind plan_kind_of(std::string_view name);
[[nodiscard]] bool is_relaxed(std::string_view name);
/// "memory", "port", "switch", "none"; else `other`.
[[nodiscard]] ChannelKind channel_kind_of(std::string_view name);
/// "i", "o" or "s".
[[nodiscard]] std::optional<Buffer> buffer_of(std::string_view name);

}  // namespace forestcoll::audit
