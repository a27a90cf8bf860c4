#include "audit/plan/releases.hpp"

#include <algorithm>
#include <array>

#include "base/words.hpp"

namespace forestcoll::audit {
namespace {

constexpr std::string_view kNewest = "mscclpp";

constexpr std::array<PlanRelease, 2> kReleases = {{
    {"mscclpp-0.10", true, true, true, true},
    {"mscclpp-0.9", false, false, false, false},
}};

}  // namespace

const PlanRelease* find_plan_release(std::string_view name) {
  if (name == kNewest) return &newest_plan_release();
  const auto* const row = std::ranges::find(kReleases, name, &PlanRelease::name);
  return row == kReleases.end() ? nullptr : row;
}

const PlanRelease& newest_plan_release() {
  return kReleases.front();
}

std::string plan_release_names() {
  return listed(kReleases, &PlanRelease::name);
}

PlanFile as_run_by(const PlanRelease& release, PlanFile plan) {
  if (release.flushes_puts) return plan;
  for (PlanGpu& gpu : plan.gpus) {
    for (PlanThreadblock& tb : gpu.threadblocks) {
      for (PlanOp& op : tb.ops) {
        if (op.kind == PlanKind::put_signal_flush) op.kind = PlanKind::put_signal;
      }
    }
  }
  return plan;
}

}  // namespace forestcoll::audit
