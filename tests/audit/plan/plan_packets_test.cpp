// Packets, whose readers wait for flags and not for signals: right plans pass, and what makes them
// wrong is found.
#include <gmock/gmock.h>

#include "audit/plan/plan_checking.hpp"
#include "audit/plan/plan_executor.hpp"
#include "audit/plan/shared_builders.hpp"

namespace audit_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

TEST(PlanPackets, ASumHasTheSameBitsEverywhereOnlyInOneOrder) {
  EXPECT_EQ(check(one_shot_allreduce(2)).same_bits, true);
  EXPECT_EQ(check(one_shot_allreduce(3)).same_bits, false);  // everyone adds its own last
  EXPECT_EQ(check(two_shot_allreduce(3)).same_bits, true);
}

/// Rank 0 adds the others' packets in one operation, in the order in which it names them; every
/// other rank adds ranks 1, 2, …, and rank 0 last, one by one.
PlanJson chained_allreduce(int n, const std::vector<int>& order) {
  PlanJson plan = one_shot_allreduce(n);
  std::vector<PlanJson> sum = {local("i", 0, 1)};
  for (const int peer : order) sum.push_back(local("s", slot(peer, 0), 1));
  ops(plan)[1] = data("repkt", sum, {local("o", 0, 1)});
  for (int r = 1; r < n; ++r) {
    PlanJson& chain = ops(plan, r);
    chain.erase(1);
    for (int i = 1; i <= n; ++i) {
      const int peer = i % n;
      const PlanJson from = peer == r ? local("i", 0, 1) : local("s", slot(peer, r), 1);
      const char* first = peer == r ? "copy" : "upkt";
      const char* later = peer == r ? "re" : "repkt";
      if (i > 1) chain.push_back(op("nop"));
      chain.push_back(i == 1 ? data(first, {from}, {local("o", 0, 1)})
                             : data(later, {local("o", 0, 1), from}, {local("o", 0, 1)}));
    }
  }
  return plan;
}

// The executor adds up the packets first, as they are named, and the rank's own last.
TEST(PlanPackets, AreAddedInTheOrderOfTheirNames) {
  EXPECT_TRUE(check(chained_allreduce(4, {1, 2, 3})).ok)
      << explain(check(chained_allreduce(4, {1, 2, 3})));
  EXPECT_EQ(check(chained_allreduce(4, {1, 2, 3})).same_bits, true);
  EXPECT_EQ(check(chained_allreduce(4, {2, 1, 3})).same_bits, true);  // a + b is b + a
  EXPECT_EQ(check(chained_allreduce(4, {3, 2, 1})).same_bits, false);
  EXPECT_EQ(check(chained_allreduce(4, {1, 3, 2})).same_bits, false);
}

TEST(PlanPackets, WaitForOnesThatComeFirst) {
  // A rank that waits for the others' before it sends its own.
  const PlanJson stuck = edited(
      [](PlanJson& p) {
        for (int r = 0; r < 3; ++r) std::swap(ops(p, r)[0], ops(p, r)[1]);
      },
      one_shot_allreduce(3));
  EXPECT_TRUE(finds(check(stuck), Code::V13, "deadlock"));
  EXPECT_EQ(execute_plan(stuck, 2), Outcome::hangs);
  const PlanJson nobodys =
      edited([](PlanJson& p) { ops(p)[0]["dst_buff"].erase(0), ops(p)[0]["src_buff"].erase(0); },
             one_shot_allreduce(3));
  EXPECT_TRUE(finds(check(nobodys), Code::V13, "waits for packets that nobody writes",
                    "rank 1, threadblock 0, step 1, scratch chunk 0"));
  EXPECT_EQ(execute_plan(nobodys, 2), Outcome::hangs);
  // Threads that stay with a wait never come to the packets.
  PlanJson held = one_shot_allreduce(2);
  for (int r = 0; r < 2; ++r) {
    ops(held, r).insert(ops(held, r).begin(), on("wait", "memory", {0}));
    ops(held, r).push_back(op("nop"));
    ops(held, r).push_back(on("signal", "memory", {0}));
  }
  EXPECT_TRUE(finds(check(held), Code::V13, "deadlock"));
  EXPECT_EQ(execute_plan(held, 2), Outcome::hangs);
}

TEST(PlanPackets, AreWrittenOnceInACall) {
  PlanJson twice = one_shot_allreduce(3);
  ops(twice, 1)[0]["dst_buff"][0]["index"] = 1;  // rank 2's place at rank 0
  EXPECT_TRUE(finds(check(twice), Code::V14, "writes in the same call: readers take whichever",
                    "scratch chunk 1 of rank 0"));
  EXPECT_NE(execute_plan(twice, 50), Outcome::right);
}

TEST(PlanPackets, MustNotOvertakeSlowReaders) {
  // Nobody knows of the others when it sends: one half is too few.
  PlanJson single = one_shot_allreduce(3);
  single["use_double_scratch_buffer"] = false;
  EXPECT_TRUE(finds(check(single), Code::V14,
                    "overwrites in the next call packets that rank 1, threadblock 0, step 1 "
                    "(repkt) may still wait for: nothing shows rank 0 how far rank 1 is",
                    "rank 0, threadblock 0, step 0"));
  EXPECT_NE(execute_plan(single, 300), Outcome::right);
  // Unless they say first that they are ready.
  for (int r = 0; r < 3; ++r) {
    PlanJson& list = ops(single, r);
    list.insert(list.begin(),
                {on("rlxsignal", "memory", {0, 1}), on("rlxwait", "memory", {0, 1}), op("nop")});
  }
  EXPECT_TRUE(check(single).ok) << explain(check(single));
  EXPECT_EQ(execute_plan(single, 100), Outcome::right);
  // Who never hears of its reader runs ahead of it by two calls.
  PlanJson oneway = one_shot_allreduce(2);
  oneway["collective"] = "broadcast";
  ops(oneway, 0) = {ops(oneway, 0)[0], data("copy", {local("i", 0, 1)}, {local("o", 0, 1)})};
  ops(oneway, 1) = PlanJson::array({data("upkt", {local("s", 0, 1)}, {local("o", 0, 1)})});
  EXPECT_TRUE(finds(check(oneway), Code::V14,
                    "overwrites two calls later packets that rank 1, threadblock 0, step 0 (upkt) "
                    "may still wait for"));
  EXPECT_NE(execute_plan(oneway, 300), Outcome::right);
}

// What comes back shows what was read for it, chunk by chunk and without a nop.
TEST(PlanPackets, ShowWhatWasReadForThem) {
  PlanJson plan = two_shot_allreduce(3);
  for (int r = 0; r < 3; ++r) {
    for (std::size_t i = 0; i < ops(plan, r).size(); ++i) {
      if (ops(plan, r)[i]["name"] == "nop") ops(plan, r).erase(i);
    }
  }
  EXPECT_TRUE(check(plan).ok) << explain(check(plan));
  EXPECT_EQ(execute_plan(plan, 100), Outcome::right);
  // Two chunks in one put; each comes back by an operation of its own.
  std::vector<GpuParts> gpus;
  for (int r = 0; r < 2; ++r) {
    GpuParts parts = with_all_scratch(2, r, 4, 4, 4);
    const int mine = 2 * r, other = 2 - mine;
    PlanJson first =
        PlanJson::array({data("ppkt", {local("i", other, 2)}, {remote(0, 0, 2)}, "memory")});
    PlanJson second = PlanJson::array();
    for (int c = 0; c < 2; ++c) {
      second.push_back(data("respkt", {local("i", mine + c, 1), local("s", c, 1)},
                            {local("i", mine + c, 1), remote(0, 2 + c, 1)}, "memory"));
      second.push_back(data("upkt", {local("s", 2 + c, 1)}, {local("i", other + c, 1)}));
    }
    parts.threadblocks = {threadblock(0, first, "memory", {0}, {0}),
                          threadblock(1, second, "memory", {0}, {0})};
    gpus.push_back(parts);
  }
  PlanJson parted = in_packets(plan_of("allreduce", true, "memory", gpus));
  EXPECT_TRUE(check(parted).ok) << explain(check(parted));
  EXPECT_EQ(execute_plan(parted, 100), Outcome::right);
  // One of the two chunks only, and the other is overwritten while it may be on its way.
  ops(parted, 0, 1)[3]["dst_buff"][0]["index"] = 3;
  ops(parted, 0, 1)[1]["dst_buff"][0]["index"] = 3;
  EXPECT_FALSE(check(parted).ok);
}

TEST(PlanPackets, APortSendsThemAsTheyLie) {
  // Without the nop between writing and sending.
  const PlanJson early = edited([](PlanJson& p) { ops(p).erase(1); }, port_packets_allgather(3));
  EXPECT_TRUE(finds(check(early), Code::V14, "sends the packets as they lie"));
  EXPECT_NE(execute_plan(early, 300), Outcome::right);
  // What others write is not there without waiting.
  const PlanJson others =
      edited([](PlanJson& p) { ops(p)[4]["name"] = "ppkt"; }, port_packets_allgather(3));
  EXPECT_TRUE(finds(check(others), Code::V14, "sends the packets as they lie"));
  EXPECT_NE(execute_plan(others, 300), Outcome::right);
  // Nobody reads what rank 1 hands on, so nothing shows that it is on its way no longer.
  const PlanJson unread = edited(
      [](PlanJson& p) {
        for (std::size_t i = 0; i < ops(p, 2).size(); ++i) {
          const PlanJson& op = ops(p, 2)[i];
          if (op["name"] == "upkt" && op["src_buff"][0]["index"] == 0) ops(p, 2).erase(i);
        }
      },
      port_packets_allgather(3));
  EXPECT_TRUE(finds(check(unread), Code::V14, "nothing shows that the port channel has read"));
  EXPECT_THAT(check(port_packets_allgather(3)).conditions,
              Contains(HasSubstr("sends from the memory that its executor knew first")));
}

TEST(PlanPackets, OrderNoOtherData) {
  // A packet after a put does not say that the put has arrived.
  std::vector<GpuParts> gpus;
  for (int r = 0; r < 2; ++r) {
    GpuParts parts{1, 2, 1, {}, {1 - r}, {{1 - r, "o"}, {1 - r, "s"}}};
    parts.threadblocks = {
        threadblock(0,
                    {on("rlxsignal", "memory", {0}), on("rlxwait", "memory", {0}), op("nop"),
                     data("put", {local("i", 0, 1)}, {remote(0, r, 1)}, "memory"),
                     data("copy", {local("i", 0, 1)}, {local("o", r, 1)}), op("nop"),
                     data("ppkt", {local("i", 0, 1)}, {remote(1, 0, 1)}, "memory"),
                     data("upkt", {local("s", 0, 1)}, {local("o", r, 1)}), op("nop")},
                    "memory", {0}, {0, 1})};
    gpus.push_back(parts);
  }
  PlanJson plan = in_packets(plan_of("allgather", false, "memory", gpus));
  for (int r = 0; r < 2; ++r) ops(plan, r)[7]["dst_buff"][0]["index"] = 1 - r;
  // What the packet brings is the same block, so only the put itself may be late.
  const Verdict verdict = check(plan);
  EXPECT_TRUE(finds(verdict, Code::V14, "only a relaxed signal, which orders no data"));
}

}  // namespace
}  // namespace audit_test
