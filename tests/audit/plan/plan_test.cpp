// Plans of MSCCL++: right ones pass, whoever wrote them; races, deadlocks and wrong data are found.
#include <gmock/gmock.h>

#include "audit/plan/plan_checking.hpp"
#include "audit/plan/plan_executor.hpp"
#include "audit/plan/shared_builders.hpp"

namespace audit_test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(PlanLong, HandWrittenOnesPass) {
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
  EXPECT_EQ(verdict.outcome, "runs; the result is correct");
  EXPECT_EQ(check(barrier_broadcast()).root->value, 0);
}

TEST(PlanRaces, ThreadsAreInStepAtNopsOnly) {
  EXPECT_TRUE(finds(check(edited([](PlanJson& p) { ops(p).erase(2); }, read_reduce_allreduce())),
                    Code::V14, "nothing shows that rank 1 has begun",
                    "rank 0, threadblock 0, step 2, input chunk 0 of rank 1"));
  EXPECT_TRUE(finds(check(edited([](PlanJson& p) { ops(p).erase(4); }, read_reduce_allreduce())),
                    Code::V14, "keeps rank 1 from ending its call"));
  EXPECT_TRUE(finds(check(edited([](PlanJson& p) { ops(p).erase(4); }, get_allreduce())), Code::V14,
                    "(get) writes it; nothing orders the two",
                    "rank 0, threadblock 0, step 4, scratch chunk 0"));
}

TEST(PlanRaces, PortsReadTheirSourceUntilAFlush) {
  EXPECT_TRUE(finds(check(edited([](PlanJson& p) { ops(p).erase(ops(p).size() - 1); },
                                 direct_alltoall(3, "port"))),
                    Code::V14, "keeps rank 0 from ending its call",
                    "rank 0, threadblock 0, step 4"));
}

TEST(PlanRacesLong, OneThreadKeepsAPutBeforeItsSignal) {
  // The i-th thread puts and signals on the i-th channel: in order without a nop, unless the
  // channels are named in another order.
  PlanJson plan = direct_alltoall(3, "port");
  for (int r = 0; r < 3; ++r) ops(plan, r).erase(5);
  EXPECT_TRUE(check(plan).ok) << explain(check(plan));
  EXPECT_EQ(execute_plan(plan, 50), Outcome::right);
  ops(plan)[5]["channel_ids"] = {1, 0};
  EXPECT_TRUE(finds(check(plan), Code::V14, "keeps rank 1 from ending its call",
                    "rank 0, threadblock 0, step 4"));
  EXPECT_NE(execute_plan(plan, 200), Outcome::right);
}

// The opening of a plan in today's language of MSCCL++.
TEST(PlanRelaxed, ShowsThatACallHasBegun) {
  for (const PlanJson& plan :
       {relaxed(read_reduce_allreduce(), {0, 1}), relaxed(get_allreduce(), {0}),
        relaxed(get_allreduce(), {1}), relaxed(direct_alltoall(3, "memory"), {0, 1}),
        relaxed_broadcast()}) {
    EXPECT_TRUE(check(plan).ok) << explain(check(plan));
    EXPECT_EQ(execute_plan(plan, 50), Outcome::right);
  }
}

TEST(PlanRelaxed, OrdersNoData) {
  // The last signal and wait of each, by which the other's data is there: both relaxed, or one.
  for (const std::vector<std::size_t>& which : {std::vector<std::size_t>{5, 6}, {5}, {6}}) {
    EXPECT_TRUE(finds(check(relaxed(read_reduce_allreduce(), which)), Code::V14,
                      "the chunk, and only a relaxed signal, which orders no data, keeps "
                      "rank 1 from ending its call",
                      "rank 0, threadblock 0, step 3, input chunk 0 of rank 1"));
  }
  for (const std::vector<std::size_t>& which : {std::vector<std::size_t>{5, 6}, {5}, {6}}) {
    EXPECT_TRUE(
        finds(check(relaxed(scratch_allreduce(), which)), Code::V14,
              "(put) writes it; only a relaxed signal, which orders no data, orders the two",
              "rank 0, threadblock 0, step 8, scratch chunk 0"));
  }
  EXPECT_NE(execute_plan(relaxed(read_reduce_allreduce(), {5}), 200), Outcome::right);
  EXPECT_NE(execute_plan(relaxed(scratch_allreduce(), {5}), 200), Outcome::right);
}

TEST(PlanRelaxed, NothingIsSaidOfRelaxedSignalsThatAreNotToBlame) {
  PlanJson plan = relaxed(get_allreduce(), {0, 1});
  ops(plan).erase(4);
  EXPECT_TRUE(finds(check(plan), Code::V14, "(get) writes it; nothing orders the two"));
}

TEST(PlanRelaxed, ThroughPortsIsLikeAnyOther) {
  const PlanJson plan = relaxed(direct_alltoall(3, "port"), {0, 1, 6, 7});
  EXPECT_TRUE(check(plan).ok) << explain(check(plan));
}

TEST(PlanPwsfLong, FlushesWhatItPut) {
  PlanJson plan = two_box_allgather();
  EXPECT_TRUE(check(plan).ok) << explain(check(plan));
  EXPECT_THAT(check(plan).conditions, Contains(HasSubstr("MSCCL++ is 0.10 or later")));
  ops(plan)[7]["name"] = "pws";
  EXPECT_TRUE(finds(check(plan), Code::V14, "nothing keeps rank 0 from ending its call",
                    "rank 0, threadblock 0, step 7"));
  EXPECT_NE(execute_plan(plan, 200), Outcome::right);
  EXPECT_THAT(check(port_ring_allgather(3)).conditions, Not(Contains(HasSubstr("pwsf"))));
}

// Every second call takes the other half of the scratch, but only a rank's own threads know.
TEST(PlanScratch, DoubleScratchIsForOwnThreadsAlone) {
  const auto doubled = [](PlanJson plan) {
    plan["use_double_scratch_buffer"] = true;
    return plan;
  };
  EXPECT_TRUE(check(doubled(get_allreduce())).ok) << explain(check(doubled(get_allreduce())));
  EXPECT_EQ(execute_plan(doubled(get_allreduce()), 50), Outcome::right);
  const PlanJson put = doubled(scratch_allreduce());
  EXPECT_TRUE(finds(check(put), Code::V15,
                    "in every second call reads the second half of the scratch, but rank 1, "
                    "threadblock 0, step 3 (put) writes the first",
                    "rank 0, threadblock 0, step 8, scratch chunk 0"));
  EXPECT_NE(execute_plan(put, 1), Outcome::right);
  // Staged for a port channel, whose engine does not know either.
  PlanJson staged = two_box_allgather();
  for (int r = 0; r < 4; ++r) {
    staged["gpus"][r]["scratch_chunks"] = 1;
    ops(staged, r)[7]["src_buff"][0] = local("s", 0, 1);
    ops(staged, r).insert(ops(staged, r).begin() + 3,
                          data("copy", {local("o", r, 1)}, {local("s", 0, 1)}));
  }
  EXPECT_TRUE(check(staged).ok) << explain(check(staged));
  EXPECT_EQ(execute_plan(staged, 50), Outcome::right);
  EXPECT_TRUE(finds(check(doubled(staged)), Code::V15,
                    "reads the first half of the scratch, but rank 0, threadblock 0, step 3 (copy) "
                    "writes the second",
                    "rank 0, threadblock 0, step 8, scratch chunk 0"));
  EXPECT_NE(execute_plan(doubled(staged), 1), Outcome::right);
}

TEST(PlanConditions, LargeMessagesWrapOffsets) {
  const auto of = [](std::uint64_t largest, int scratch) {
    PlanJson plan = scratch_allreduce();
    plan["max_message_size"] = largest;
    for (PlanJson& gpu : plan["gpus"]) gpu["scratch_chunks"] = scratch;
    return check(plan);
  };
  const auto alike = HasSubstr("equally far into their allocations");
  // Two chunks of input, aligned to 16: 2^31 - 16 bytes each.
  const Verdict unbounded = of(UINT64_MAX, 1);
  EXPECT_TRUE(unbounded.ok);
  EXPECT_THAT(unbounded.usable_counts, HasSubstr("messages from 0 bytes to 4294967264 bytes"));
  EXPECT_THAT(unbounded.conditions,
              ElementsAre(AllOf(HasSubstr("messages have at most 4294967264 bytes"),
                                HasSubstr("without a max_message_size")),
                          alike));
  EXPECT_THAT(of(4294967265, 1).conditions,
              ElementsAre(HasSubstr("max_message_size 4294967265 does not keep"), alike));
  EXPECT_THAT(of(4294967264, 1).conditions, ElementsAre(alike));
  // Scratch of three times the input reaches 4 GiB first.
  EXPECT_THAT(of(4294967264, 6).conditions,
              ElementsAre(HasSubstr("messages have at most 1431655744 bytes"), alike));
  EXPECT_THAT(of(1431655744, 6).conditions, ElementsAre(alike));
  // What counts is an allgather's output: two chunks again, of which the input is one.
  PlanJson gather = port_ring_allgather(2);
  EXPECT_THAT(check(gather).usable_counts, HasSubstr("to 4294967264 bytes"));
  gather["max_message_size"] = 31;
  EXPECT_TRUE(finds(check(gather), Code::V19, "multiple of 32 bytes"));
}

TEST(PlanConditions, PortsSendFromWhereAllocationsBegin) {
  const auto begins = Contains(HasSubstr("lie at the beginning of their allocations"));
  EXPECT_THAT(check(direct_alltoall(3, "port")).conditions, begins);
  EXPECT_THAT(check(two_box_allgather()).conditions, begins);
  EXPECT_THAT(check(direct_alltoall(3, "memory")).conditions, Not(begins));
  PlanJson staged = direct_alltoall(2, "port");
  for (int r = 0; r < 2; ++r) {
    staged["gpus"][r]["scratch_chunks"] = 1;
    PlanJson& list = ops(staged, r);
    list[4]["src_buff"][0] = local("s", 0, 1);
    list.insert(list.begin() + 3,
                {data("copy", {local("i", 1 - r, 1)}, {local("s", 0, 1)}), op("nop")});
  }
  EXPECT_TRUE(check(staged).ok) << explain(check(staged));
  EXPECT_THAT(check(staged).conditions, Not(begins));
}

// The place of another's buffer in its allocation is taken from the rank's own.
TEST(PlanConditions, BuffersOfAllRanksLieEquallyFarIn) {
  const auto alike = Contains(HasSubstr("equally far into their allocations"));
  EXPECT_THAT(check(direct_alltoall(3, "memory")).conditions, alike);
  EXPECT_THAT(check(direct_alltoall(3, "port")).conditions, Not(alike)) << "they begin them";
  EXPECT_THAT(check(switch_packets_allgather(3)).conditions, Not(alike)) << "through scratch";
}

TEST(PlanBoxes, MemoryChannelsEndWithTheBox) {
  const auto fabric = [](const std::string& boxes) {
    const std::string text =
        R"({"format": "forestcoll-topology", "version": 1, "name": "four", "nodes": [)" + boxes +
        R"(, {"id": "sw", "type": "switch"}],
            "links": [{"src": "a[0-1]", "dst": "sw", "bandwidth": 25},
                      {"src": "b[0-1]", "dst": "sw", "bandwidth": 25}]})";
    auto parsed = forestcoll::parse_topology(text, "four.json");
    EXPECT_TRUE(parsed) << to_string(parsed.errors()[0]);
    return parsed->topology;
  };
  const auto judged = [](const PlanJson& plan, const forestcoll::Topology& topology) {
    return *forestcoll::verify(plan.dump(), "plan.json", &topology, {});
  };
  const auto two = fabric(R"({"id": "a[0-1]", "type": "compute", "box": "a"},
                             {"id": "b[0-1]", "type": "compute", "box": "b"})");
  const auto one = fabric(R"({"id": "a[0-1]", "type": "compute", "box": "a"},
                             {"id": "b[0-1]", "type": "compute", "box": "a"})");
  EXPECT_TRUE(judged(direct_alltoall(4, "memory"), one).ok);
  EXPECT_TRUE(judged(direct_alltoall(4, "port"), two).ok);
  EXPECT_TRUE(judged(two_box_allgather(), two).ok);
  const Verdict across = judged(direct_alltoall(4, "memory"), two);
  EXPECT_TRUE(finds(
      across, Code::V20,
      "8 memory channels lead to another box: the first from box a to rank 2 in box b", "rank 0"));
  EXPECT_TRUE(finds(across, Code::V20, "8 remote buffers are reached by memory in another box"));
  EXPECT_EQ(across.finding_count, 2U);
  EXPECT_EQ(across.outcome, "runs; the result is correct, but the file is not for this topology");
  // Without a channel, a buffer to write to by memory is as wrong.
  PlanJson buffer = two_box_allgather();
  buffer["gpus"][1]["remote_buffers"][1]["access_channel_types"] = {"port", "memory"};
  EXPECT_TRUE(
      finds(judged(buffer, two), Code::V20,
            "1 remote buffers are reached by memory in another box: the first from box a to "
            "rank 3 in box b",
            "rank 1"));
  // One channel led elsewhere has no other end, and no memory there either: both are said.
  PlanJson moved = two_box_allgather();
  moved["gpus"][0]["channels"][0]["connected_to"][0] = 2;
  EXPECT_TRUE(finds(judged(moved, two), Code::V12, "signal"));
  EXPECT_TRUE(
      finds(judged(moved, two), Code::V20, "1 memory channels lead to another box", "rank 0"));
  const PlanJson switched = switch_allreduce(4);
  EXPECT_TRUE(finds(judged(switched, two), Code::V20, "4 switch channels reach over boxes"));
  forestcoll::Topology able = one;
  for (auto& node : able.nodes) {
    node.multicast = node.reduce = node.type == forestcoll::NodeType::switch_node;
  }
  EXPECT_TRUE(judged(switched, able).ok) << explain(judged(switched, able));
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
  EXPECT_TRUE(
      finds(check(unordered), Code::V14, "nothing orders the two", "rank 1, threadblock 1"));
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
  EXPECT_TRUE(finds(verdict, Code::V13, "(wait) waits for rank", "rank"));
  EXPECT_EQ(execute_plan(stuck, 2), Outcome::hangs);
}

TEST(PlanData, WrongResultsAreFound) {
  EXPECT_TRUE(finds(check(edited(
                        [](PlanJson& p) {
                          ops(p)[3]["name"] = "rre";
                          ops(p)[3]["dst_buff"].erase(1);
                        },
                        read_reduce_allreduce())),
                    Code::V17, "ends", "rank 1, output chunk 0"));
  EXPECT_TRUE(finds(check(edited([](PlanJson& p) { ops(p)[4]["src_buff"][0]["index"] = 0; },
                                 direct_alltoall(3, "memory"))),
                    Code::V17, "instead of", "output chunk 0 of rank 1"));
  EXPECT_TRUE(finds(check(edited([](PlanJson& p) { ops(p, 1)[4]["dst_buff"][0]["index"] = 0; },
                                 direct_alltoall(3, "memory"))),
                    Code::V17, "ends"));
  EXPECT_TRUE(finds(check(edited([](PlanJson& p) { ops(p)[3]["src_buff"][0]["type"] = "s"; },
                                 edited([](PlanJson& p) { p["gpus"][0]["scratch_chunks"] = 2; },
                                        read_reduce_allreduce()))),
                    Code::V15, "never written", "scratch chunk 0"));
  PlanJson out = read_reduce_allreduce();
  out["inplace"] = false;
  EXPECT_TRUE(finds(check(out), Code::V18, "input buffer"));
}

TEST(PlanMatching, SignalsAndWaitsComeInPairs) {
  EXPECT_TRUE(finds(check(edited([](PlanJson& p) { ops(p).erase(6); }, read_reduce_allreduce())),
                    Code::V12, "never waited for", "rank 1, threadblock 0, step 5"));
  EXPECT_TRUE(finds(check(edited([](PlanJson& p) { ops(p).erase(5); }, read_reduce_allreduce())),
                    Code::V12, "waits for signal 1", "rank 1, threadblock 0, step 6"));
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
  EXPECT_TRUE(finds(check(looped), Code::V12, "another pipeline", "rank 1"));
}

}  // namespace
}  // namespace audit_test
