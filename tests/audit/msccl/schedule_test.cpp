// Right schedules pass, whoever wrote them.
#include <gtest/gtest.h>

#include "audit/builders.hpp"
#include "audit/checking.hpp"
#include "audit/msccl/race_oracle.hpp"
#include "forestcoll/verify.hpp"
#include "support/executor.hpp"
#include "support/explain.hpp"

namespace audit_test {
namespace {

using forestcoll::Code;
using forestcoll::Collective;
using forestcoll::Verdict;
using forestcoll::test::explain;

TEST(Schedule, HandWrittenOnesPass) {
  for (const auto& [name, algo] : small_schedules()) {
    const Verdict verdict = verdict_for(algo);
    EXPECT_TRUE(verdict.ok) << name << "\n" << explain(verdict);
    EXPECT_EQ(execute(algo, 20), Outcome::right) << name;
    EXPECT_FALSE(has_race(algo, algo.inplace == 1)) << name;
  }
}

TEST(Schedule, VerdictDescribesTheProgram) {
  const Verdict verdict = verdict_for(ring_allgather(4, 3, false, true));
  EXPECT_EQ(verdict.format, "msccl-xml");
  EXPECT_EQ(verdict.collective, Collective::allgather);
  EXPECT_EQ(verdict.ranks, 4);
  EXPECT_EQ(verdict.chunks, 12);
  EXPECT_EQ(verdict.threadblocks, 2);
  EXPECT_EQ(verdict.channels, 1);
  EXPECT_EQ(verdict.steps, 3);
  EXPECT_TRUE(verdict.free_at_one_in_flight);
  EXPECT_FALSE(verdict.root.has_value());
  EXPECT_EQ(verdict.finding_count, 0U);
}

TEST(Schedule, BothPlacementsAreCheckedWhereBothAreClaimed) {
  Algo ring = ring_allreduce(4, 1, 1, true);
  ring.outofplace = 1;
  EXPECT_TRUE(verdict_for(ring).ok) << explain(verdict_for(ring));
  Algo doubling = doubling_allreduce(2, 1, true);  // writes o, which is never filled from i
  doubling.outofplace = 1;
  const Verdict verdict = verdict_for(doubling);
  EXPECT_FALSE(verdict.ok);
  EXPECT_NE(explain(verdict).find("out of place"), std::string::npos);
  EXPECT_EQ(explain(verdict).find("in place)"), std::string::npos);
}

TEST(Schedule, RootIsFoundByBehaviour) {
  const Verdict verdict = verdict_for(tree_broadcast(6, 2, true));
  ASSERT_TRUE(verdict.root.has_value());
  EXPECT_EQ(verdict.root->value, 0);
}

TEST(Schedule, ReduceEndsAtItsRoot) {
  Algo algo = tree_allreduce(6, 2);
  algo.coll = "reduce";
  for (Gpu& gpu : algo.gpus) {
    std::erase_if(gpu.tbs, [](const Tb& tb) { return tb.chan == 1; });
    for (Tb& tb : gpu.tbs) {
      for (Step& step : tb.steps) step.hasdep = 0;
    }
  }
  algo = finished(algo);
  const Verdict verdict = verdict_for(algo);
  EXPECT_TRUE(verdict.ok) << explain(verdict);
  ASSERT_TRUE(verdict.root.has_value());
  EXPECT_EQ(verdict.root->value, 0);
}

TEST(Schedule, TargetsDifferInWhatTheyAccept) {
  const Algo plain = low_latency(doubling_allreduce(2, 3, true));
  for (const char* target : {"azure", "rccl-5.7", "rccl-6"}) {
    EXPECT_TRUE(verdict_for(plain, target).ok) << target << explain(verdict_for(plain, target));
  }
  EXPECT_FALSE(verdict_for(ring_allreduce(3, 1, 1, true), "rccl-6").ok);
  EXPECT_FALSE(verdict_for(ring_reduce_scatter(3, 1, true, true), "msccl").ok);
  Algo research = ring_reduce_scatter(3, 1, true, true);
  research.coll = "reduce_scatter";
  std::string text = to_xml(research);
  forestcoll::VerifyOptions options;
  options.target = "msccl";
  // finished() ran before the name changed, so the sizes are still those of a reducescatter.
  const auto verdict = forestcoll::verify(text, "test.xml", nullptr, options);
  ASSERT_TRUE(verdict.has_value());
  EXPECT_TRUE(verdict->ok) << explain(*verdict);
}

TEST(Schedule, ForeignOnesPassOnEveryTargetThatHasTheirSteps) {
  for (const char* target : {"azure", "rccl-5.7", "rccl-6", "rccl-6.2", "rccl-6.3"}) {
    EXPECT_TRUE(verdict_for(direct_alltoall(4, 1), target).ok)
        << explain(verdict_for(direct_alltoall(4, 1)));
    EXPECT_TRUE(verdict_for(direct_reduce_scatter(4, 1), target).ok);
  }
  EXPECT_TRUE(verdict_for(hierarchical_allreduce(2)).ok);
  EXPECT_FALSE(verdict_for(hierarchical_allreduce(2), "rccl-6.3").ok);
  const Verdict verdict = verdict_for(direct_alltoall(4, 3));
  EXPECT_EQ(verdict.collective_name, "alltoall");
  EXPECT_NE(verdict.usable_counts.find("divisible by 3 (elements per pair of ranks)"),
            std::string::npos);
  Algo crossed = direct_alltoall(3, 1);
  crossed.gpus[1].tbs[1].steps[1].dstoff = 0;  // what rank 2 sends lies where rank 0's belongs
  EXPECT_NE(explain(verdict_for(crossed)).find("V17"), std::string::npos);
}

TEST(Schedule, OutcomeSaysWhatARuntimeWouldDo) {
  EXPECT_EQ(verdict_for(ring_allreduce(3, 1, 1, true)).outcome, "runs; the result is correct");
  EXPECT_NE(verdict_for(ring_allreduce(3, 1, 1, true), "rccl-6").outcome.find("rejects it"),
            std::string::npos);
  Algo idle = ring_allreduce(3, 1, 1, true);
  idle.inplace = 0;
  EXPECT_EQ(verdict_for(idle).outcome, "loads it and never selects it");
  Algo stuck = ring_allreduce(3, 4, 1, true);
  EXPECT_EQ(verdict_for(stuck).outcome, "loads it and hangs");
}

TEST(Schedule, ResearchAllocatesScratchForTheLargestCall) {
  Algo algo = low_latency(doubling_allreduce(2, 3, true));
  algo.max_bytes = 1L << 30;
  EXPECT_TRUE(verdict_for(algo, "msccl").ok) << explain(verdict_for(algo, "msccl"));
  algo.max_bytes = 1L << 40;
  EXPECT_TRUE(verdict_for(algo, "azure").ok);
  EXPECT_NE(explain(verdict_for(algo, "msccl")).find("allocates scratch"), std::string::npos);
}

TEST(Schedule, UnknownTargetIsAnError) {
  forestcoll::VerifyOptions options;
  options.target = "nccl";
  const auto verdict = forestcoll::verify(to_xml(tree_allreduce(3, 1)), "x", nullptr, options);
  ASSERT_FALSE(verdict.has_value());
  EXPECT_NE(verdict.errors()[0].remedy.find("azure"), std::string::npos);
}

TEST(Selection, CountsInWords) {
  EXPECT_EQ(verdict_for(ring_allgather(4, 1, false, true)).usable_counts.rfind("any count (el", 0),
            0U);
  EXPECT_NE(verdict_for(ring_allgather(4, 3, false, true)).usable_counts.find("divisible by 3"),
            std::string::npos);
  EXPECT_NE(verdict_for(ring_allreduce(4, 3, 1, true)).usable_counts.find("divisible by 12"),
            std::string::npos);
  EXPECT_NE(verdict_for(ring_allreduce(4, 3, 1, true)).usable_counts.find("0 B to 1 TiB"),
            std::string::npos);
  Algo unlimited = ring_allreduce(4, 3, 1, true);
  unlimited.max_bytes = 0;
  EXPECT_NE(verdict_for(unlimited).usable_counts.find("upwards"), std::string::npos);
  EXPECT_FALSE(verdict_for(unlimited, "msccl").ok);  // 0 is nothing at all there
}

// Until RCCL 6.3, counts of one rank's part are divided by all chunks.
TEST(Selection, CountsOfPartsAreDividedByRelease) {
  const Algo gather = ring_allgather(4, 3, false, true);
  EXPECT_NE(verdict_for(gather, "rccl-6.2").usable_counts.find("divisible by 12"),
            std::string::npos);
  EXPECT_NE(verdict_for(gather, "rccl-5.7").usable_counts.find("divisible by 12"),
            std::string::npos);
  EXPECT_NE(verdict_for(gather, "rccl-6.3").usable_counts.find("divisible by 3 "),
            std::string::npos);
  // Four ranks with three bytes each.
  Algo small = gather;
  small.min_bytes = 0;
  small.max_bytes = 11;
  EXPECT_EQ(verdict_for(small, "rccl-6.3").usable_counts, "none");
  small.max_bytes = 12;
  EXPECT_NE(verdict_for(small, "rccl-6.3").usable_counts, "none");
}

TEST(Selection, WhatIsNeverSelectedIsAFinding) {
  const auto rejected = [](Algo algo) {
    const Verdict verdict = verdict_for(algo);
    return !verdict.ok && verdict.findings[0].code == Code::V19 &&
           verdict.faults == std::vector{forestcoll::Fault::unused} &&
           verdict.usable_counts == "none";
  };
  Algo algo = low_latency(ring_allreduce(4, 3, 1, true));
  algo.inplace = 0;
  EXPECT_TRUE(rejected(algo));
  algo.inplace = 1;
  algo.min_bytes = 100;
  algo.max_bytes = 99;
  EXPECT_TRUE(rejected(algo));
  algo.min_bytes = 0;
  algo.max_bytes = 11;  // 12 chunks
  EXPECT_TRUE(rejected(algo));
  algo.max_bytes = 12;
  EXPECT_TRUE(verdict_for(algo).ok);
  algo.min_bytes = 13;
  algo.max_bytes = 23;  // between one and two times 12
  EXPECT_TRUE(rejected(algo));
  algo.max_bytes = 24;
  EXPECT_TRUE(verdict_for(algo).ok);
}

// Every rank gets all inputs in scratch, and adds them up from its own on, or from rank 0's on.
Algo direct_allreduce(int n, bool from_own) {
  Algo algo = empty_algo("allreduce", n, 1, false);
  for (int r = 0; r < n; ++r) {
    Gpu& gpu = algo.gpus[static_cast<std::size_t>(r)];
    gpu.s_chunks = n;
    Tb sum{-1, -1, 0, {copy('i', 0, 's', r, 1)}};
    for (int back = 1; back < n; ++back) {
      const int peer = (r + back) % n;
      gpu.tbs.push_back({peer, peer, 0, {send('i', 0, 1), recv('s', peer, 1)}});
      sum.steps.push_back(after({}, back - 1, 1));
    }
    const int first = from_own ? r : 0;
    Step begin = copy('s', first, 'o', 0, 1);
    sum.steps.push_back(after(begin, 0, 1));
    for (int next = 1; next < n; ++next) {
      sum.steps.push_back({"re", 's', (first + next) % n, 'o', 0, 1});
    }
    gpu.tbs.push_back(sum);
  }
  return finished(algo);
}

TEST(Bits, DependOnTheOrderOfAddition) {
  for (const bool from_own : {false, true}) {
    const Algo algo = direct_allreduce(3, from_own);
    const Verdict verdict = verdict_for(algo);
    EXPECT_TRUE(verdict.ok) << explain(verdict);
    ASSERT_TRUE(verdict.same_bits.has_value());
    EXPECT_EQ(*verdict.same_bits, !from_own);
    EXPECT_EQ(verdict.bit_difference.has_value(), from_own);
    EXPECT_EQ(add_in_order(algo), !from_own);
  }
  const auto first = verdict_for(direct_allreduce(3, true)).bit_difference;
  EXPECT_EQ(first->rank.value, 1);
  EXPECT_EQ(first->chunk, 0);
  // (0 + 1) + 2 and 2 + (1 + 0) are one order, and two ranks have but one.
  EXPECT_EQ(verdict_for(direct_allreduce(2, true)).same_bits, true);
  Algo wrong = direct_allreduce(3, false);
  wrong.gpus[0].tbs[2].steps.pop_back();
  EXPECT_FALSE(verdict_for(wrong).same_bits.has_value());
}

// Against the executor, with an addition that minds the order.
TEST(Bits, AgreeWithAnExecution) {
  for (const auto& [name, algo] : small_schedules()) {
    const Verdict verdict = verdict_for(algo);
    EXPECT_EQ(verdict.same_bits.has_value(), algo.coll == "allreduce") << name;
    if (verdict.same_bits) {
      EXPECT_EQ(*verdict.same_bits, add_in_order(algo)) << name;
    }
  }
}

// A fan-in whose two messages arrive in the other order than they are waited for.
Algo crossed(int in_flight_needed) {
  Algo algo = empty_algo("allgather", 2, 2 * in_flight_needed, true);
  for (int r = 0; r < 2; ++r) {
    Tb tb{1 - r, 1 - r, 0, {}};
    for (int c = 0; c < in_flight_needed; ++c) tb.steps.push_back(send('i', c, 1));
    for (int c = 0; c < in_flight_needed; ++c) {
      tb.steps.push_back(recv('o', (1 - r) * in_flight_needed + c, 1));
    }
    algo.gpus[static_cast<std::size_t>(r)].tbs = {tb};
  }
  return finished(algo);
}

TEST(Deadlock, DependsOnWhatMayBeInFlight) {
  EXPECT_TRUE(verdict_for(crossed(1)).free_at_one_in_flight);
  EXPECT_TRUE(verdict_for(crossed(2)).ok);
  EXPECT_FALSE(verdict_for(crossed(2)).free_at_one_in_flight);
  const Verdict three = verdict_for(crossed(3));
  ASSERT_FALSE(three.ok);
  EXPECT_EQ(three.findings[0].code, Code::V13);
  EXPECT_EQ(three.findings[0].where.substr(0, 31), "rank 0, threadblock 0, step 2 (");
  EXPECT_NE(three.findings[0].message.find("room on its connection to rank 0"), std::string::npos);
  Algo low_latency = crossed(8);
  low_latency.proto = "LL";
  EXPECT_TRUE(verdict_for(low_latency).ok);
  low_latency.proto = "Simple";
  EXPECT_FALSE(verdict_for(low_latency).ok);
  low_latency = crossed(9);
  low_latency.proto = "LL128";
  EXPECT_FALSE(verdict_for(low_latency).ok);
}

TEST(Deadlock, AtEverySizeOrOnlyAtLargeOnesIsSaid) {
  // Three messages each way before anybody receives, or one that is split into three.
  EXPECT_EQ(
      verdict_for(crossed(3)).findings[0].message.find("deadlock at every message size: rank 0"),
      0U);
  Algo ring = ring_allgather(3, 1, false, true);
  ring.gpus[1].tbs[1].steps[0] = after(ring.gpus[1].tbs[1].steps[0], 0, 1);
  EXPECT_EQ(verdict_for(finished(ring))
                .findings[0]
                .message.find("deadlock at every message size: rank 1"),
            0U);
}

TEST(Deadlock, NamesEveryWaitOfALongCircle) {
  Algo algo = low_latency(ring_allgather(20, 9, true, true));
  const Verdict verdict = verdict_for(algo);
  ASSERT_EQ(verdict.findings.size(), 1U) << explain(verdict);
  for (int r = 0; r < 20; ++r) {
    EXPECT_NE(verdict.findings[0].message.find(
                  fmt::format("rank {}, threadblock 0, step 0 waits for room", r)),
              std::string::npos)
        << r;
  }
  EXPECT_NE(verdict.findings[0].message.find("8 of them in flight"), std::string::npos);
}

TEST(Deadlock, ShowsOnlyWhereCountsAreSplit) {
  // One message of three chunks each way: three operations in flight once they are split.
  Algo algo = crossed(1);
  algo.nchunks = 6;
  for (int r = 0; r < 2; ++r) {
    auto& steps = algo.gpus[static_cast<std::size_t>(r)].tbs[0].steps;
    steps[0] = send('i', 0, 3);
    steps[1] = recv('o', (1 - r) * 3, 3);
  }
  const Verdict verdict = verdict_for(finished(algo));
  ASSERT_FALSE(verdict.ok);
  EXPECT_NE(verdict.findings[0].message.find("every chunk to be an operation of its own"),
            std::string::npos);
  EXPECT_EQ(execute(finished(algo), 3), Outcome::hangs);
}

TEST(Deadlock, NamesTheCycleOfFlags) {
  Algo algo = ring_allgather(3, 1, false, true);
  auto& tbs = algo.gpus[1].tbs;
  tbs[1].steps[0] = after(tbs[1].steps[0], 0, 1);  // the receive waits for the send that awaits it
  const Verdict verdict = verdict_for(finished(algo));
  ASSERT_FALSE(verdict.ok);
  EXPECT_EQ(verdict.findings[0].code, Code::V13);
  const std::string& text = verdict.findings[0].message;
  EXPECT_NE(
      text.find("rank 1, threadblock 0, step 1 waits for rank 1, threadblock 1, step 0 to end"),
      std::string::npos)
      << text;
  EXPECT_NE(
      text.find("rank 1, threadblock 1, step 0 waits for rank 1, threadblock 0, step 1 to end"),
      std::string::npos);
}

TEST(Race, StrandsOfAShiftedForwardingChain) {
  // Rank 0 sends chunks 0–1; rank 1 forwards them; rank 0 receives them shifted by one. Chunk by
  // chunk, the first comes back before the second has been read.
  Algo algo = empty_algo("allreduce", 2, 3, true);
  const auto build = [&](int back) {
    Algo a = algo;
    a.gpus[0].tbs = {{1, -1, 0, {send('o', 0, 2)}}, {-1, 1, 0, {recv('o', back, 2)}}};
    a.gpus[1].tbs = {{0, 0, 0, {{"rcs", 'o', 0, 'o', 0, 2}}}};
    return finished(a);
  };
  const auto race = [](const Verdict& verdict) {
    for (const auto& f : verdict.findings) {
      if (f.code == Code::V14 &&
          f.where.starts_with("rank 0, threadblock 1, step 0, output chunk 1")) {
        return f.message.find("rank 0, threadblock 0, step 0 reads it") != std::string::npos;
      }
    }
    return false;
  };
  EXPECT_FALSE(race(verdict_for(build(0))));
  EXPECT_FALSE(has_race(build(0), true));
  EXPECT_TRUE(race(verdict_for(build(1))));
  EXPECT_TRUE(has_race(build(1), true));
}

TEST(Race, OverlapWithinOneStepKnowsAliases) {
  Algo algo = low_latency(ring_allgather(2, 2, true, true));
  algo.gpus[1].tbs[0].steps.push_back(copy('i', 0, 'o', 3, 1));  // o[2..3] is i[0..1]
  EXPECT_FALSE(verdict_for(algo).ok);                            // and the result is wrong
  algo.gpus[1].tbs[0].steps.back() = copy('i', 0, 'o', 2, 2);    // onto itself: no harm
  EXPECT_TRUE(verdict_for(algo).ok) << explain(verdict_for(algo));
  algo.gpus[1].tbs[0].steps.back() = copy('i', 0, 'o', 1, 2);
  EXPECT_NE(explain(verdict_for(algo)).find("overlap, 1 chunks apart"), std::string::npos);
}

}  // namespace
}  // namespace audit_test
