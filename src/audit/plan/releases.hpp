// What releases of MSCCL++ do with plans: one row per target.
#pragma once

#include <string>
#include <string_view>

#include "audit/plan/file.hpp"

namespace forestcoll::audit {

/// Only what differs between releases is here.
struct PlanRelease {
  std::string_view name;
  bool has_switch_stores;  ///< `gstore` and `gstorepkt`; else it throws "Invalid operation type"
  bool flushes_puts;       ///< a `pwsf` flushes; else it is a `pws`
  bool cuts_small_chunks;  ///< into more parts than they have units; else offsets wrap
  bool joins_hosts;        ///< by memory channels; else it connects them through InfiniBand alone
};
/// The row of that name, the newest for "mscclpp", or null.
[[nodiscard]] const PlanRelease* find_plan_release(std::string_view name);
/// What plans are judged by where no release is named.
[[nodiscard]] const PlanRelease& newest_plan_release();
/// "mscclpp-0.10, mscclpp-0.9"
[[nodiscard]] std::string plan_release_names();

/// The plan as the release runs it. Cost: O(plan).
[[nodiscard]] PlanFile as_run_by(const PlanRelease& release, PlanFile plan);

}  // namespace forestcoll::audit
