// Plans of MSCCL++: right ones pass, whoever wrote them; races, deadlocks and wrong data are found.
#include "audit/plan_checking.hpp"
#include "audit/plan_executor.hpp"

namespace audit_test {
namespace {

TEST(Plan, HandWrittenOnesPass) {
  for (const auto& [name, plan] : small_plans()) {
    const Verdict verdict = check(plan);
    EXPECT_TRUE(verdict.ok) << name << "\n" << explain(verdict);
    EXPECT_EQ(verdict.format, "mscclpp-plan");
    EXPECT_EQ(execute_plan(plan, 50), Outcome::right) << name;
  }
}

TEST(Plan, VerdictDescribesThePlan) {
  const Verdict verdict = check(direct_alltoall(3, "memory"));
  EXPECT_EQ(verdict.collective_name, "alltoall");
  EXPECT_EQ(verdict.ranks, 3);
  EXPECT_EQ(verdict.chunks, 3);
  EXPECT_EQ(verdict.threadblocks, 1);
  EXPECT_EQ(verdict.channels, 2);
  EXPECT_EQ(verdict.steps, 8);
  EXPECT_NE(verdict.usable_counts.find("multiple of 48"), std::string::npos);
  EXPECT_EQ(verdict.outcome, "runs, and is right");
  EXPECT_EQ(check(barrier_broadcast()).root->value, 0);
}

TEST(PlanRaces, ThreadsAreInStepAtNopsOnly) {
  EXPECT_TRUE(finds(check(edited([](PlanJson& p) { ops(p).erase(2); }, read_reduce_allreduce())),
                    "V14", "nothing shows that rank 1 has begun",
                    "rank 0, threadblock 0, step 2, input chunk 0 of rank 1"));
  EXPECT_TRUE(finds(check(edited([](PlanJson& p) { ops(p).erase(4); }, read_reduce_allreduce())),
                    "V14", "keeps rank 1 from ending its call"));
  EXPECT_TRUE(finds(check(edited([](PlanJson& p) { ops(p).erase(4); }, get_allreduce())), "V14",
                    "(get) writes it; nothing orders the two",
                    "rank 0, threadblock 0, step 4, scratch chunk 0"));
}

TEST(PlanRaces, PortsReadTheirSourceUntilAFlush) {
  EXPECT_TRUE(finds(check(edited([](PlanJson& p) { ops(p).erase(ops(p).size() - 1); },
                                 direct_alltoall(3, "port"))),
                    "V14", "keeps rank 0 from ending its call", "rank 0, threadblock 0, step 4"));
}

TEST(PlanRaces, OneThreadKeepsAPutBeforeItsSignal) {
  // The i-th thread puts and signals on the i-th channel: in order without a nop, unless the
  // channels are named in another order.
  PlanJson plan = direct_alltoall(3, "port");
  for (int r = 0; r < 3; ++r) ops(plan, r).erase(5);
  EXPECT_TRUE(check(plan).ok) << explain(check(plan));
  EXPECT_EQ(execute_plan(plan, 50), Outcome::right);
  ops(plan)[5]["channel_ids"] = {1, 0};
  EXPECT_TRUE(finds(check(plan), "V14", "keeps rank 1 from ending its call",
                    "rank 0, threadblock 0, step 4"));
  EXPECT_NE(execute_plan(plan, 200), Outcome::right);
}

TEST(PlanRaces, ABarrierAndASemaphoreOrderThreadblocks) {
  for (const auto& plan : {barrier_broadcast(), semaphore_broadcast()}) {
    EXPECT_TRUE(check(plan).ok) << explain(check(plan));
  }
  const PlanJson unordered = edited(
      [](PlanJson& p) {
        ops(p, 1, 0).erase(2);
        ops(p, 1, 1).erase(0);
      },
      barrier_broadcast());
  EXPECT_TRUE(finds(check(unordered), "V14", "nothing orders the two", "rank 1, threadblock 1"));
}

TEST(PlanDeadlock, NamesTheCircle) {
  const PlanJson stuck = edited(
      [](PlanJson& p) {
        for (int r = 0; r < 2; ++r) std::swap(ops(p, r)[0], ops(p, r)[1]);
        // Both wait before they signal, with the threads in step between.
        for (int r = 0; r < 2; ++r) ops(p, r).insert(ops(p, r).begin() + 1, op("nop"));
      },
      read_reduce_allreduce());
  const Verdict verdict = check(stuck);
  EXPECT_TRUE(finds(verdict, "V13", "(wait) waits for rank", "rank"));
  EXPECT_EQ(execute_plan(stuck, 2), Outcome::hangs);
}

TEST(PlanData, WrongResultsAreFound) {
  EXPECT_TRUE(finds(check(edited(
                        [](PlanJson& p) {
                          ops(p)[3]["name"] = "rre";
                          ops(p)[3]["dst_buff"].erase(1);
                        },
                        read_reduce_allreduce())),
                    "V17", "ends", "rank 1, output chunk 0"));
  EXPECT_TRUE(finds(check(edited([](PlanJson& p) { ops(p)[4]["src_buff"][0]["index"] = 0; },
                                 direct_alltoall(3, "memory"))),
                    "V17", "instead of", "output chunk 0 of rank 1"));
  EXPECT_TRUE(finds(check(edited([](PlanJson& p) { ops(p, 1)[4]["dst_buff"][0]["index"] = 0; },
                                 direct_alltoall(3, "memory"))),
                    "V17", "ends"));
  EXPECT_TRUE(finds(check(edited([](PlanJson& p) { ops(p)[3]["src_buff"][0]["type"] = "s"; },
                                 edited([](PlanJson& p) { p["gpus"][0]["scratch_chunks"] = 2; },
                                        read_reduce_allreduce()))),
                    "V15", "never written", "scratch chunk 0"));
  PlanJson out = read_reduce_allreduce();
  out["inplace"] = false;
  EXPECT_TRUE(finds(check(out), "V18", "input buffer"));
}

TEST(PlanMatching, SignalsAndWaitsComeInPairs) {
  EXPECT_TRUE(finds(check(edited([](PlanJson& p) { ops(p).erase(6); }, read_reduce_allreduce())),
                    "V12", "never waited for", "rank 1, threadblock 0, step 5"));
  EXPECT_TRUE(finds(check(edited([](PlanJson& p) { ops(p).erase(5); }, read_reduce_allreduce())),
                    "V12", "waits for signal 1", "rank 1, threadblock 0, step 6"));
  const PlanJson looped = edited(
      [](PlanJson& p) {
        PlanJson pipeline = op("pipeline");
        pipeline["iter_context"] = {{"unit_size", 1024}, {"num_chunks", 1}};
        pipeline["ops"] = {ops(p)[3], ops(p)[4], ops(p)[5]};
        ops(p).erase(3);
        ops(p).erase(3);
        ops(p)[3] = pipeline;
      },
      read_reduce_allreduce());
  EXPECT_TRUE(finds(check(looped), "V12", "another pipeline", "rank 1"));
}

}  // namespace
}  // namespace audit_test
