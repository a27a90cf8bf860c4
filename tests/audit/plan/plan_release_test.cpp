// What releases of MSCCL++ do with plans that they do not all run alike.
#include <gmock/gmock.h>

#include "audit/plan/plan_checking.hpp"
#include "audit/plan/plan_executor.hpp"
#include "audit/plan/shared_builders.hpp"
#include "forestcoll/plan_target.hpp"
#include "forestcoll/schedule.hpp"

namespace audit_test {
namespace {

using forestcoll::plan_targets;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

Verdict check_for(const std::string& target, const PlanJson& plan) {
  VerifyOptions options;
  options.target = target;
  return check(plan, options);
}

// The checker has a table of its own; both know the same releases, and the word for the newest.
TEST(PlanRelease, EveryTargetOfPlansIsKnown) {
  for (const auto& target : plan_targets()) {
    EXPECT_TRUE(check_for(target.name, switch_allreduce(3)).ok) << target.name;
    EXPECT_EQ(check_for(target.name, switch_allgather(3)).ok, target.switch_stores) << target.name;
  }
  EXPECT_TRUE(check_for("mscclpp", switch_allgather(3)).ok);
  EXPECT_TRUE(check_for("azure", switch_allgather(3)).ok);
  const auto unknown = forestcoll::verify("{}", "plan.json", nullptr, {.target = "mscclpp-0.8"});
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.errors().front().code, Code::V04);
  EXPECT_THAT(unknown.errors().front().remedy, HasSubstr("of plans mscclpp-0.10, mscclpp-0.9"));
}

TEST(PlanRelease, StoresThroughSwitchesAreOfTheNewest) {
  for (const auto& [plan, name, op] :
       {std::tuple(switch_allgather(3), "\"gstore\"", 3),
        std::tuple(switch_packets_allgather(3), "\"gstorepkt\"", 1)}) {
    const Verdict old = check_for("mscclpp-0.9", plan);
    EXPECT_FALSE(old.ok);
    EXPECT_EQ(old.finding_count, 3U);
    EXPECT_TRUE(finds(old, Code::V04, std::string("mscclpp-0.9 has no operation ") + name,
                      "rank 0, threadblock 0, step " + std::to_string(op)));
    EXPECT_THAT(old.findings.front().remedy, HasSubstr("run it with MSCCL++ 0.10 or later, or make "
                                                       "a plan for target mscclpp-0.9"));
    const Verdict now = check_for("mscclpp-0.10", plan);
    EXPECT_TRUE(now.ok) << explain(now);
    EXPECT_THAT(now.conditions, Contains(HasSubstr("MSCCL++ is 0.10 or later: 0.9 has neither")));
  }
  EXPECT_THAT(check(switch_allreduce(3)).conditions, Not(Contains(HasSubstr("0.10"))));
}

// To 0.9 a pwsf is a pws: what is sent from the input may be sent after the call.
TEST(PlanRelease, PutsAreFlushedByTheNewest) {
  const PlanJson plan = ring_sendrecv(3);
  const Verdict now = check_for("mscclpp-0.10", plan);
  EXPECT_TRUE(now.ok) << explain(now);
  EXPECT_THAT(now.conditions, Contains(HasSubstr("up to 0.9 a pwsf puts and signals")));
  EXPECT_TRUE(finds(check_for("mscclpp-0.9", plan), Code::V14, "from ending its call before that",
                    "rank 0, threadblock 0, step 3"));
  // The same as it is run there.
  PlanJson unflushed = plan;
  for (int r = 0; r < 3; ++r) ops(unflushed, r)[3]["name"] = "pws";
  EXPECT_EQ(explain(check_for("mscclpp-0.9", plan)), explain(check(unflushed)));
}

TEST(PlanRelease, SmallChunksAreCutByTheNewest) {
  const auto condition = Contains(HasSubstr("has a part: the offsets of others wrap in 0.9"));
  EXPECT_THAT(check_for("mscclpp-0.9", grouped_allgather()).conditions, condition);
  EXPECT_THAT(check_for("mscclpp-0.10", grouped_allgather()).conditions, Not(condition));
  PlanJson large = grouped_allgather();
  large["min_message_size"] = 4096;
  EXPECT_THAT(check_for("mscclpp-0.9", large).conditions, Not(condition));
}

TEST(PlanRelease, HostsAreJoinedByMemoryInTheNewest) {
  const auto condition = Contains(HasSubstr("run on one host"));
  EXPECT_THAT(check_for("mscclpp-0.9", switch_allreduce(3)).conditions, condition);
  EXPECT_THAT(check_for("mscclpp-0.10", switch_allreduce(3)).conditions, Not(condition));
  EXPECT_THAT(check_for("mscclpp-0.9", ring_sendrecv(3)).conditions, Not(condition));
}

// More than a host has GPUs: an NVL72.
TEST(PlanRelease, ManyRanksJoinedByMemoryAreOfOneDomainOfNvlink) {
  const auto condition = Contains(HasSubstr("in one domain of NVLink"));
  EXPECT_THAT(check_for("mscclpp-0.10", switch_allreduce(17)).conditions, condition);
  EXPECT_THAT(check_for("mscclpp-0.10", switch_allreduce(16)).conditions, Not(condition));
  EXPECT_THAT(check_for("mscclpp-0.9", switch_allreduce(17)).conditions, Not(condition));
}

}  // namespace
}  // namespace audit_test
