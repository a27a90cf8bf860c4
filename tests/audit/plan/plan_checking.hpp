// What tests of plans share: check a plan, edit it in one place.
#pragma once

#include <functional>
#include <string>

#include "audit/checking.hpp"
#include "audit/plan/plan_builders.hpp"
#include "support/explain.hpp"

namespace audit_test {

using forestcoll::test::explain;

inline Verdict check(const PlanJson& plan, const VerifyOptions& options = {}) {
  auto verdict = forestcoll::verify(plan.dump(), "plan.json", nullptr, options);
  EXPECT_TRUE(verdict.has_value()) << to_string(verdict.errors()[0]);
  return verdict ? *verdict : Verdict{};
}

inline PlanJson edited(const std::function<void(PlanJson&)>& edit, PlanJson plan) {
  edit(plan);
  return plan;
}
/// The operations of a threadblock; of read_reduce_allreduce: signal, wait, nop, rres, nop, signal,
/// wait.
inline PlanJson& ops(PlanJson& plan, int rank = 0, int tb = 0) {
  return plan["gpus"][rank]["threadblocks"][tb]["ops"];
}

}  // namespace audit_test
