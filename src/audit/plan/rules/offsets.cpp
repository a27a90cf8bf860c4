#include <algorithm>

#include "audit/plan/rules/rules.hpp"

namespace forestcoll::audit {

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
