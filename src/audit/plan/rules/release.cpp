// What no executor of plans does, or none of a release.
#include <fmt/format.h>

#include <algorithm>

#include "audit/plan/rules/rules.hpp"

namespace forestcoll::audit {
namespace {

bool stores_by_switch(PlanKind kind) {
  return kind == PlanKind::switch_store || kind == PlanKind::switch_store_packets;
}

}  // namespace

void check_release(const PlanFile& plan, const PlanRelease& release, Findings& findings) {
  if (release.has_switch_stores) return;
  for (std::size_t r = 0; r < plan.gpus.size(); ++r) {
    const auto& blocks = plan.gpus[r].threadblocks;
    for (std::size_t t = 0; t < blocks.size(); ++t) {
      for (std::size_t i = 0; i < blocks[t].ops.size(); ++i) {
        const PlanOp& op = blocks[t].ops[i];
        if (!stores_by_switch(op.kind)) continue;
        findings.add(Rule::unsupported, plan_place(r, t, i),
                     fmt::format("target {} has no operation \"{}\" and refuses the plan",
                                 release.name, op.name),
                     fmt::format("run it with MSCCL++ 0.10 or later, or make a plan for target {}",
                                 release.name));
      }
    }
  }
}

void check_output_offsets(const PlanFile& plan, std::optional<Rank> root, Findings& findings) {
  if (!plan.in_place || plan.collective != "scatter" || !root || *root == Rank(0)) return;
  const auto& remote = plan.gpus[root->index()].remote_buffers;
  const bool writes = std::ranges::any_of(
      remote, [](const PlanRemoteBuffer& buffer) { return buffer.buffer == Buffer::output; });
  if (!writes) return;
  findings.add(Rule::unsupported, Place{root->value, -1, -1, 0, {}},
               "in place the root's output lies at its block of the input, and the executor writes "
               "as far behind the others' outputs: only rank 0 can be the root",
               "make the plan for calls out of place");
}

}  // namespace forestcoll::audit
