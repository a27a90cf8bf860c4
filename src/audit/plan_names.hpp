// The words of an execution plan.
#pragma once

#include <optional>
#include <string_view>

#include "audit/plan_file.hpp"

namespace forestcoll::audit {

/// "put", "re", …; `other` for what this verifier does not follow.
[[nodiscard]] PlanKind plan_kind_of(std::string_view name);
/// "memory", "port", "none"; else `other`.
[[nodiscard]] ChannelKind channel_kind_of(std::string_view name);
/// "i", "o" or "s".
[[nodiscard]] std::optional<Buffer> buffer_of(std::string_view name);

}  // namespace forestcoll::audit
