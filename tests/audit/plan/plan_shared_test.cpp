// What threadblocks, ranks and plans share: groups, switch channels and resources. Right plans
// pass, and what makes them wrong is found.
#include <gmock/gmock.h>

#include "audit/plan/plan_checking.hpp"
#include "audit/plan/plan_executor.hpp"
#include "audit/plan/shared_builders.hpp"

namespace audit_test {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

TEST(PlanSharedLong, HandWrittenOnesPass) {
  for (const auto& [name, plan] : shared_plans()) {
    const Verdict verdict = check(plan);
    EXPECT_TRUE(verdict.ok) << name << "\n" << explain(verdict);
    EXPECT_EQ(execute_plan(plan, 50), Outcome::right) << name;
  }
}

TEST(PlanGroups, PartsAreSlicesOfChunks) {
  // A part that nobody takes is never written; one that two take races.
  const PlanJson missing =
      edited([](PlanJson& p) { ops(p, 0, 1)[1]["tbg_info"]["tb_id"] = 0; }, grouped_allgather());
  EXPECT_TRUE(
      finds(check(missing), Code::V17, "never written", "rank 1, output chunk 0, slice 1 of 2"));
  EXPECT_TRUE(finds(check(missing), Code::V14, "nothing orders the two", "slice 0 of 2 of rank 1"));
  EXPECT_NE(execute_plan(missing, 10), Outcome::right);
  const Verdict verdict = check(grouped_allgather());
  EXPECT_EQ(verdict.chunks, 2);
  EXPECT_THAT(verdict.conditions, Not(Contains(HasSubstr("groups of threadblocks"))));
}

TEST(PlanGroups, CutsThatDifferNeedChunksThatDivide) {
  // The copy is cut in three by one rank alone: where halves and thirds meet depends on the size.
  PlanJson plan = grouped_allgather();
  PlanJson& first = ops(plan, 0, 0);
  const PlanJson copy = first[4];
  first[4] = part_of(copy, 0, 3);
  first.insert(first.begin() + 5, {part_of(copy, 1, 3), part_of(copy, 2, 3)});
  ops(plan, 0, 1).erase(2);
  EXPECT_TRUE(check(plan).ok) << explain(check(plan));
  EXPECT_EQ(execute_plan(plan, 20), Outcome::right);
  EXPECT_THAT(check(plan).conditions, Contains(HasSubstr("a chunk's bytes are a multiple of 96")));
}

TEST(PlanSwitches, PacketsMayComeBackToWhereTheyWereReadFrom) {
  // In place: what is packed and unpacked is the same memory, chunk by chunk.
  PlanJson plan = switch_packets_allgather(3);
  plan["inplace"] = true;
  EXPECT_TRUE(check(plan).ok) << explain(check(plan));
  EXPECT_EQ(execute_plan(plan, 100), Outcome::right);
}

TEST(PlanSwitches, StoresMustBeReleased) {
  // Relaxed signals at the end: a store through the switch may still be under way.
  const PlanJson relaxed_end = relaxed(switch_allreduce(3), {5, 6});
  EXPECT_TRUE(finds(check(relaxed_end), Code::V14, "only a relaxed signal, which orders no data"));
  EXPECT_NE(execute_plan(relaxed_end, 200), Outcome::right);
  EXPECT_THAT(check(switch_allreduce(3)).conditions, Contains(HasSubstr("not uint8")));
  EXPECT_THAT(check(switch_allgather(3)).conditions, Contains(HasSubstr("multicast memory")));
  EXPECT_THAT(check(switch_allgather(3)).conditions, Not(Contains(HasSubstr("not uint8"))));
}

TEST(PlanSwitches, AreReadAndWrittenByAll) {
  EXPECT_TRUE(finds(check(edited([](PlanJson& p) { ops(p)[3]["src_buff"][0]["index"] = 1; },
                                 switch_allreduce(3))),
                    Code::V14, "nothing orders the two", "input chunk 1"));
  PlanJson apart = switch_allreduce(4);
  for (int r = 0; r < 4; ++r) {
    apart["gpus"][r]["channels"][1] = switches("i", {{r & 2, (r & 2) + 1}});
  }
  EXPECT_TRUE(finds(check(apart), Code::V17, "without the data of rank"));
}

TEST(PlanSwitches, AllRanksSetThemUpTogether) {
  PlanJson two = switch_allreduce(3);
  for (int r = 0; r < 3; ++r) {
    two["gpus"][r]["channels"][1] = switches("i", {{0, 1, 2}, {2, 1, 0}});
  }
  EXPECT_TRUE(check(two).ok) << explain(check(two));  // the order of ranks is no matter
  two["gpus"][1]["channels"][1]["rank_groups"].erase(1);
  EXPECT_TRUE(finds(check(two), Code::V07, "not all of them set it up at this place", "rank 0"));
  PlanJson order = switch_allreduce(3);
  for (int r = 0; r < 2; ++r) {
    order["gpus"][r]["channels"][1] = switches("i", {{0, 1, 2}, {0, 1}});
  }
  EXPECT_TRUE(check(order).ok) << explain(check(order));
  order["gpus"][1]["channels"][1] = switches("i", {{0, 1}, {0, 1, 2}});
  EXPECT_TRUE(finds(check(order), Code::V07, "not all of them set it up"));
  order["gpus"][1]["channels"][1] = switches("o", {{0, 1, 2}, {0, 1}});
  EXPECT_TRUE(finds(check(order), Code::V07, "not all of them set it up"));
}

TEST(PlanSwitches, ReadsNeedNoRelease) {
  // Only reads of the others' memory come before the last signals, so relaxed ones are enough.
  std::vector<GpuParts> gpus;
  for (int r = 0; r < 2; ++r) {
    const PlanJson ops = {
        on("rlxsignal", "memory", {0}),
        on("rlxwait", "memory", {0}),
        op("nop"),
        data("rre", {local("i", r, 1), remote(0, r, 1)}, {local("o", 0, 1)}, "memory"),
        op("nop"),
        on("rlxsignal", "memory", {0}),
        on("rlxwait", "memory", {0})};
    gpus.push_back({2, 1, 0, {threadblock(0, ops, "memory", {0}, {0})}, {1 - r}, {{1 - r, "i"}}});
  }
  PlanJson plan = plan_of("reducescatter", false, "memory", gpus);
  EXPECT_TRUE(check(plan).ok) << explain(check(plan));
  EXPECT_EQ(execute_plan(plan, 100), Outcome::right);
  ops(plan).erase(4);  // the signal may come before the last of the reads
  EXPECT_TRUE(finds(check(plan), Code::V14, "nothing keeps rank 1 from ending its call"));
  EXPECT_NE(execute_plan(plan, 300), Outcome::right);
}

TEST(PlanSendrecv, EveryRankEndsWithAnothersInput) {
  EXPECT_EQ(check(ring_sendrecv(3)).collective_name, "sendrecv");
  PlanJson two = ring_sendrecv(3);
  for (PlanJson& gpu : two["gpus"]) gpu["input_chunks"] = gpu["output_chunks"] = 2;
  EXPECT_TRUE(finds(check(two), Code::V17, "never written", "output chunk 1"));
  PlanJson idle = ring_sendrecv(2);
  idle["inplace"] = true;
  for (int r = 0; r < 2; ++r) ops(idle, r) = PlanJson::array();
  EXPECT_TRUE(finds(check(idle), Code::V17,
                    "ends without the data of rank 1 with the data of rank 0",
                    "rank 0, output chunk 0"));
}

TEST(PlanReuse, HoldsUpToTheScratchThatAllPlansShare) {
  PlanJson plan = get_allreduce();
  plan["reuse_resources"] = true;
  const auto of = [&](std::uint64_t largest) {
    plan["max_message_size"] = largest;
    return check(plan).conditions;
  };
  // Two chunks in 64 MiB.
  EXPECT_TRUE(check(plan).ok) << explain(check(plan));
  EXPECT_THAT(of(67'108'865), Contains(HasSubstr("messages have at most 67108864 bytes")));
  EXPECT_THAT(of(67'108'865), Contains(HasSubstr("chunks of scratch overlap")));
  EXPECT_THAT(of(67'108'864), Not(Contains(HasSubstr("scratch"))));
  EXPECT_THAT(of(1024), Contains(HasSubstr("every call has the buffers of the first")));
  for (PlanJson& gpu : plan["gpus"]) {
    for (PlanJson& buffer : gpu["remote_buffers"]) buffer["type"] = "s";
  }
  EXPECT_THAT(of(1024), IsEmpty());
}

// As MSCCL++'s own algorithms have them. Half of the scratch, and half of that for the data.
TEST(PlanReuse, OfPacketsIsForPlansThatAllHoldThem) {
  PlanJson plan = one_shot_allreduce(2);
  plan["reuse_resources"] = true;
  EXPECT_TRUE(check(plan).ok) << explain(check(plan));
  const auto with_size = [&](std::uint64_t largest) {
    plan["max_message_size"] = largest;
    return check(plan).conditions;
  };
  EXPECT_THAT(with_size(33'554'433), Contains(HasSubstr("messages have at most 33554432 bytes")));
  EXPECT_THAT(with_size(33'554'432), Not(Contains(HasSubstr("messages have at most"))));
  EXPECT_THAT(with_size(1024), Contains(HasSubstr("hold packets, in two halves")));
  plan["reuse_resources"] = false;
  EXPECT_THAT(with_size(1024), Not(Contains(HasSubstr("its executor"))));

  PlanJson single = in_packets(two_shot_allreduce(3), false);
  single["reuse_resources"] = true;
  EXPECT_TRUE(check(single).ok) << explain(check(single));
  EXPECT_THAT(check(single).conditions, Contains(HasSubstr("no other plan of its executor")));
}

struct SharedRule {
  const char* name;
  PlanJson plan;
  std::function<void(PlanJson&)> edit;
  Code code;
  const char* words;
};

class PlanSharedRule : public testing::TestWithParam<SharedRule> {};

TEST_P(PlanSharedRule, IsChecked) {
  EXPECT_TRUE(
      finds(check(edited(GetParam().edit, GetParam().plan)), GetParam().code, GetParam().words));
}

const auto kPackets = one_shot_allreduce(2);
const auto kGroup = grouped_allgather();
const auto kSwitch = switch_allreduce(2);

INSTANTIATE_TEST_SUITE_P(
    Plan, PlanSharedRule,
    testing::Values(
        SharedRule{"Simple", kPackets, [](PlanJson& p) { p["protocol"] = "Simple"; }, Code::V04,
                   "no room in scratch for their flags"},
        SharedRule{"Alignment", kPackets, [](PlanJson& p) { p["buffer_alignment"] = 4; }, Code::V03,
                   "carry 8 bytes"},
        SharedRule{"Halves", kPackets, [](PlanJson& p) { p["gpus"][1]["scratch_chunks"] = 2; },
                   Code::V11, "takes its own half"},
        SharedRule{"NotInScratch", kPackets,
                   [](PlanJson& p) { p["gpus"][0]["remote_buffers"][0]["type"] = "o"; }, Code::V03,
                   "packets lie in scratch, not in the output"},
        SharedRule{"LocalNotInScratch", kPackets,
                   [](PlanJson& p) { ops(p)[1]["src_buff"][1]["type"] = "o"; }, Code::V03,
                   "repkt: packets lie in scratch"},
        SharedRule{"Both", kPackets, [](PlanJson& p) { ops(p)[1]["src_buff"][0]["type"] = "s"; },
                   Code::V04, "scratch that holds both"},
        SharedRule{"Pipeline", kPackets,
                   [](PlanJson& p) {
                     ops(p)[1] = {{"name", "pipeline"},
                                  {"iter_context", {{"unit_size", 1024}, {"num_chunks", 1}}},
                                  {"ops", PlanJson::array({ops(p)[1]})}};
                   },
                   Code::V04, "packets in a pipeline"},
        SharedRule{"PacketsByPort", kPackets,
                   [](PlanJson& p) {
                     ops(p)[1]["name"] = "respkt";
                     ops(p)[1]["channel_type"] = "port";
                   },
                   Code::V03, "does not go through channels of type port"},
        SharedRule{"PutBuffers", one_shot_allreduce(3),
                   [](PlanJson& p) { ops(p)[0]["src_buff"][1]["type"] = "o"; }, Code::V04,
                   "a ppkt through memory channels takes all its sources"},
        SharedRule{"ChannelToAnother", port_packets_allgather(3),
                   [](PlanJson& p) { ops(p)[2]["channel_ids"][0] = 1; }, Code::V07,
                   "puts through a channel to rank 2 into a buffer of rank 1"},
        SharedRule{"Part", kGroup, [](PlanJson& p) { ops(p, 0, 1)[1]["tbg_info"]["tb_id"] = 2; },
                   Code::V03, "found 2 and 2"},
        SharedRule{"NoParts", kGroup,
                   [](PlanJson& p) { ops(p, 0, 1)[1]["tbg_info"]["tbg_size"] = 0; }, Code::V03,
                   "found 1 and 0"},
        SharedRule{"PartInWords", kGroup,
                   [](PlanJson& p) { ops(p, 0, 1)[1]["tbg_info"]["tb_id"] = "1"; }, Code::V03,
                   "tb_id: expected an integer"},
        SharedRule{"PartInPipeline", kGroup,
                   [](PlanJson& p) {
                     ops(p, 0, 1)[1] = {{"name", "pipeline"},
                                        {"iter_context", {{"unit_size", 1024}, {"num_chunks", 1}}},
                                        {"ops", PlanJson::array({ops(p, 0, 1)[1]})}};
                   },
                   Code::V04, "tbg_info in a pipeline"},
        SharedRule{"ManySlices", kGroup,
                   [](PlanJson& p) {
                     ops(p, 0, 0)[3]["tbg_info"]["tbg_size"] = 61;
                     ops(p, 0, 1)[1]["tbg_info"]["tbg_size"] = 59;
                   },
                   Code::V26, "more than 256 slices"},
        SharedRule{"Glre", kSwitch, [](PlanJson& p) { ops(p)[3]["name"] = "glre"; }, Code::V04,
                   "the executor has no operation \"glre\""},
        SharedRule{"SwitchId", kSwitch,
                   [](PlanJson& p) { ops(p)[3]["src_buff"][0]["switch_channel_id"] = 1; },
                   Code::V07, "switch_channel_id 1, but the threadblock lists 1"},
        SharedRule{"SwitchOfBlock", kSwitch,
                   [](PlanJson& p) {
                     p["gpus"][0]["threadblocks"][0]["channels"][1]["channel_ids"] = {1};
                   },
                   Code::V07, "switch channel 1, but the GPU has 1"},
        SharedRule{"SwitchBounds", kSwitch,
                   [](PlanJson& p) { ops(p)[3]["dst_buff"][0]["index"] = 2; }, Code::V08,
                   "beyond the 2 chunks of the input"},
        SharedRule{"SwitchShape", kSwitch,
                   [](PlanJson& p) { ops(p)[3]["src_buff"] = PlanJson::array({local("i", 0, 1)}); },
                   Code::V03, "glres cannot have 1 sources (1 local)"},
        SharedRule{"NoBufferType", kSwitch,
                   [](PlanJson& p) { p["gpus"][0]["channels"][1].erase("buffer_type"); }, Code::V03,
                   "without buffer_type"},
        SharedRule{"BufferLetter", kSwitch,
                   [](PlanJson& p) { p["gpus"][0]["channels"][1]["buffer_type"] = "x"; }, Code::V03,
                   "i, o or s"},
        SharedRule{"StrangerInGroup", kSwitch,
                   [](PlanJson& p) {
                     p["gpus"][0]["channels"][1]["rank_groups"][0]["ranks"] = {0, 2};
                   },
                   Code::V07, "different ranks below 2, found 0, 2"},
        SharedRule{"TwiceInGroup", kSwitch,
                   [](PlanJson& p) {
                     p["gpus"][0]["channels"][1]["rank_groups"][0]["ranks"] = {0, 0};
                   },
                   Code::V07, "different ranks"},
        SharedRule{
            "NotInGroup", kSwitch,
            [](PlanJson& p) { p["gpus"][0]["channels"][1]["rank_groups"][0]["ranks"] = {1}; },
            Code::V07, "does not hold the rank itself"},
        SharedRule{"RanksInWords", kSwitch,
                   [](PlanJson& p) {
                     p["gpus"][0]["channels"][1]["rank_groups"][0]["ranks"] = {0, "one"};
                   },
                   Code::V03, "expected an integer"}),
    [](const testing::TestParamInfo<SharedRule>& rule) { return std::string(rule.param.name); });

}  // namespace
}  // namespace audit_test
