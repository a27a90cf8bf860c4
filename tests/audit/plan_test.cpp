// Plans of MSCCL++: right ones pass, whoever wrote them, and each rule has a plan that breaks it.
#include <gtest/gtest.h>

#include <functional>

#include "audit/plan_builders.hpp"
#include "audit/plan_executor.hpp"
#include "forestcoll/verify.hpp"

namespace audit_test {
namespace {

using forestcoll::Verdict;
using forestcoll::VerifyOptions;

Verdict check(const PlanJson& plan, const VerifyOptions& options = {}) {
  auto verdict = forestcoll::verify(plan.dump(), "plan.json", nullptr, options);
  EXPECT_TRUE(verdict.has_value()) << to_string(verdict.errors()[0]);
  return verdict ? *verdict : Verdict{};
}

std::string explain(const Verdict& verdict) {
  std::string text;
  for (const auto& finding : verdict.findings) text += to_string(finding) + "\n";
  return text;
}

bool finds(const Verdict& verdict, const std::string& code, const std::string& words,
           const std::string& where = "") {
  for (const auto& f : verdict.findings) {
    if (f.code == code && f.message.find(words) != std::string::npos &&
        f.where.find(where) != std::string::npos) {
      return !verdict.ok;
    }
  }
  ADD_FAILURE() << code << " " << words << " not found in:\n" << explain(verdict);
  return false;
}

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

// The operations of a threadblock of read_reduce_allreduce: signal, wait, nop, rres, nop, signal,
// wait.
PlanJson edited(const std::function<void(PlanJson&)>& edit, PlanJson plan) {
  edit(plan);
  return plan;
}
PlanJson& ops(PlanJson& plan, int rank = 0, int tb = 0) {
  return plan["gpus"][rank]["threadblocks"][tb]["ops"];
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

struct Rule {
  const char* name;
  std::function<void(PlanJson&)> edit;
  const char* code;
  const char* words;
};

class PlanRule : public testing::TestWithParam<Rule> {};

TEST_P(PlanRule, IsChecked) {
  const Rule& rule = GetParam();
  const Verdict verdict = check(edited(rule.edit, get_allreduce()));
  EXPECT_TRUE(finds(verdict, rule.code, rule.words));
}

const auto kWait = PlanJson{{"name", "wait"}, {"channel_ids", {0}}, {"channel_type", "memory"}};

INSTANTIATE_TEST_SUITE_P(
    Plan, PlanRule,
    testing::Values(
        Rule{"NoName", [](PlanJson& p) { p.erase("name"); }, "V03", "no name"},
        Rule{"NoInPlace", [](PlanJson& p) { p.erase("inplace"); }, "V03", "inplace"},
        Rule{"Packets", [](PlanJson& p) { p["protocol"] = "LL"; }, "V04", "Simple"},
        Rule{"Reuse", [](PlanJson& p) { p["reuse_resources"] = true; }, "V04", "reuse_resources"},
        Rule{"Collective", [](PlanJson& p) { p["collective"] = "reduce"; }, "V04", "collective"},
        Rule{"Alignment", [](PlanJson& p) { p["buffer_alignment"] = 8; }, "V03", "16 bytes"},
        Rule{"NoAlignment", [](PlanJson& p) { p["buffer_alignment"] = 0; }, "V03", "1 to 4096"},
        Rule{"NoGpus", [](PlanJson& p) { p["gpus"] = PlanJson::array(); }, "V05", "no GPUs"},
        Rule{"GpuOrder", [](PlanJson& p) { std::swap(p["gpus"][0], p["gpus"][1]); }, "V05",
             "by position"},
        Rule{"BlockOrder", [](PlanJson& p) { p["gpus"][0]["threadblocks"][0]["id"] = 1; }, "V05",
             "numbered 0, 1, 2"},
        Rule{"NoChunks", [](PlanJson& p) { p["gpus"][1].erase("input_chunks"); }, "V03",
             "input_chunks"},
        Rule{"Chunks", [](PlanJson& p) { p["gpus"][1]["output_chunks"] = 3; }, "V11",
             "2 input and 3 output"},
        Rule{"HugeScratch", [](PlanJson& p) { p["gpus"][0]["scratch_chunks"] = 1LL << 40; }, "V03",
             "scratch_chunks"},
        Rule{"Peer", [](PlanJson& p) { p["gpus"][0]["channels"][0]["connected_to"][0] = 0; }, "V07",
             "another of the 2 ranks"},
        Rule{"Switch", [](PlanJson& p) { p["gpus"][0]["channels"][0]["channel_type"] = "switch"; },
             "V04", "switch"},
        Rule{"RemoteRank", [](PlanJson& p) { p["gpus"][0]["remote_buffers"][0]["rank"] = 2; },
             "V07", "another of the 2 ranks"},
        Rule{"RemoteType", [](PlanJson& p) { p["gpus"][0]["remote_buffers"][0].erase("type"); },
             "V03", "without type"},
        Rule{"RemoteAccess",
             [](PlanJson& p) {
               p["gpus"][0]["remote_buffers"][0]["access_channel_types"] = {"port"};
             },
             "V07", "not reached through memory"},
        Rule{"BlockChannel",
             [](PlanJson& p) {
               p["gpus"][0]["threadblocks"][0]["channels"][0]["channel_ids"] = {1};
             },
             "V07", "memory channel 1, but the GPU has 1"},
        Rule{"BlockBuffer",
             [](PlanJson& p) {
               p["gpus"][0]["threadblocks"][0]["remote_buffer_refs"][0]["remote_buffer_ids"] = {1};
             },
             "V07", "remote buffer 1, but the GPU has 1"},
        Rule{"OpChannel", [](PlanJson& p) { ops(p)[0]["channel_ids"] = {1}; }, "V07",
             "the threadblock lists 1"},
        Rule{"OpBuffer", [](PlanJson& p) { ops(p)[3]["src_buff"][0]["buffer_id"] = 1; }, "V07",
             "buffer_id 1"},
        Rule{"TwiceTheChannel",
             [](PlanJson& p) {
               ops(p)[0]["channel_ids"] = {0, 0};
             },
             "V07", "stands twice"},
        Rule{"SharedChannel",
             [](PlanJson& p) {
               PlanJson tb = p["gpus"][0]["threadblocks"][0];
               tb["id"] = 1;
               tb["ops"] = PlanJson::array({kWait});
               p["gpus"][0]["threadblocks"].push_back(tb);
             },
             "V07", "not made for two"},
        Rule{"NoChannel", [](PlanJson& p) { ops(p)[0].erase("channel_ids"); }, "V03",
             "names no channel"},
        Rule{"NoChannelType", [](PlanJson& p) { ops(p)[0].erase("channel_type"); }, "V03",
             "channel_type"},
        Rule{"Unknown", [](PlanJson& p) { ops(p)[2]["name"] = "glres"; }, "V04", "glres"},
        Rule{"Relaxed", [](PlanJson& p) { ops(p)[0]["name"] = "rlxsignal"; }, "V04", "rlxsignal"},
        Rule{"Group",
             [](PlanJson& p) {
               ops(p)[3]["tbg_info"] = {{"tb_id", 0}, {"tbg_size", 2}};
             },
             "V04", "tbg_info"},
        Rule{"Pwsf", [](PlanJson& p) { ops(p)[3]["name"] = "pwsf"; }, "V04", "wrong address"},
        Rule{"PwsMemory",
             [](PlanJson& p) {
               ops(p)[3] = data("pws", {local("i", 0, 1)}, {remote(0, 0, 1)}, "memory");
             },
             "V04", "never signals"},
        Rule{"GetOffsets", [](PlanJson& p) { ops(p)[3]["dst_buff"][0]["index"] = 1; }, "V04",
             "swaps the two offsets"},
        Rule{"PutBuffers",
             [](PlanJson& p) {
               ops(p)[3] = data("put", {local("i", 0, 1), local("s", 0, 1)},
                                {remote(0, 0, 1), remote(0, 1, 1)}, "memory");
             },
             "V04", "from the buffer of the first"},
        Rule{"Shape", [](PlanJson& p) { ops(p)[3]["dst_buff"] = PlanJson::array(); }, "V03",
             "get cannot have 1 sources (0 local) and 0 destinations"},
        Rule{"TypeOrId", [](PlanJson& p) { ops(p)[3]["src_buff"][0]["type"] = "i"; }, "V03",
             "either a type or a buffer_id"},
        Rule{"Letter", [](PlanJson& p) { ops(p)[3]["dst_buff"][0]["type"] = "x"; }, "V03",
             "i, o or s"},
        Rule{"Beyond", [](PlanJson& p) { ops(p)[5]["src_buff"][0]["index"] = 2; }, "V08",
             "beyond the 2 chunks of the input"},
        Rule{"Negative", [](PlanJson& p) { ops(p)[5]["src_buff"][0]["index"] = -1; }, "V08",
             "index -1"},
        Rule{"Sizes",
             [](PlanJson& p) {
               ops(p)[5]["src_buff"][0]["index"] = 0;
               ops(p)[5]["src_buff"][1]["size"] = 2;
             },
             "V08", "sizes 1 and 2"},
        Rule{"Barrier",
             [](PlanJson& p) {
               ops(p)[2] = {{"name", "barrier"}, {"barrier_id", 16}, {"num_threadblocks", 1}};
             },
             "V09", "0 to 15"},
        Rule{"BarrierFor",
             [](PlanJson& p) {
               ops(p)[2] = {{"name", "barrier"}, {"barrier_id", 0}, {"num_threadblocks", 2}};
             },
             "V09", "1 to 1"},
        Rule{"Semaphore",
             [](PlanJson& p) {
               ops(p)[2] = {{"name", "sem_acquire"}, {"semaphore_ids", {0}}};
             },
             "V09", "semaphore 0"},
        Rule{"SizeWindow",
             [](PlanJson& p) {
               p["max_message_size"] = 0;
               p["min_message_size"] = 1;
             },
             "V19", "above max_message_size"},
        Rule{"TooManyOps",
             [](PlanJson& p) {
               for (int i = 0; i < 60; ++i) ops(p).push_back(op("nop"));
             },
             "V06", "69 operations"},
        Rule{"StringForNumber", [](PlanJson& p) { ops(p)[3]["src_buff"][0]["index"] = "0"; }, "V03",
             "expected an integer"},
        Rule{"EmptyPipeline",
             [](PlanJson& p) {
               ops(p)[2] = {{"name", "pipeline"},
                            {"iter_context", {{"unit_size", 100}, {"num_chunks", 0}}},
                            {"ops", PlanJson::array()}};
             },
             "V03", "without operations"},
        Rule{"PipelineUnit",
             [](PlanJson& p) {
               ops(p)[3] = {{"name", "pipeline"},
                            {"iter_context", {{"unit_size", 100}, {"num_chunks", 1}}},
                            {"ops", PlanJson::array({ops(p)[3]})}};
             },
             "V03", "multiple of 16"},
        Rule{"PipelineSize",
             [](PlanJson& p) {
               ops(p)[3] = {{"name", "pipeline"},
                            {"iter_context", {{"unit_size", 1024}, {"num_chunks", 2}}},
                            {"ops", PlanJson::array({ops(p)[3]})}};
             },
             "V08", "pipeline over 2 chunks"}),
    [](const testing::TestParamInfo<Rule>& rule) { return std::string(rule.param.name); });

TEST(PlanRule, ThreadblocksMustFitTheGpu) {
  VerifyOptions one;
  one.sms = 1;
  EXPECT_TRUE(finds(check(barrier_broadcast(), one), "V06", "holds 1 at once", "rank 1"));
}

TEST(PlanRule, BarriersNeedAllTheirThreadblocks) {
  EXPECT_TRUE(finds(check(edited([](PlanJson& p) { ops(p, 1, 1).erase(0); }, barrier_broadcast())),
                    "V09", "barrier 0 is for 2 threadblocks"));
}

TEST(PlanRule, SemaphoresBeginAtZero) {
  EXPECT_TRUE(
      finds(check(edited([](PlanJson& p) { p["gpus"][1]["semaphores"][0]["init_value"] = 1; },
                         semaphore_broadcast())),
            "V04", "begin at 0"));
}

TEST(PlanFile, UnreadableIsAnErrorWithThePlace) {
  const std::string text = get_allreduce().dump(1);
  for (const std::size_t length : {text.size() / 3, text.size() / 2, text.size() - 2}) {
    const auto verdict = forestcoll::verify(text.substr(0, length), "x", nullptr, {});
    if (verdict) {
      EXPECT_FALSE(verdict->ok);
      continue;
    }
    EXPECT_EQ(verdict.errors()[0].code, "V01");
    EXPECT_FALSE(verdict.errors()[0].where.empty());
  }
  std::string deep = "{\"gpus\":";
  for (int i = 0; i < 100'000; ++i) deep += '[';
  const auto verdict = forestcoll::verify(deep, "x", nullptr, {});
  ASSERT_FALSE(verdict.has_value());
  EXPECT_NE(verdict.errors()[0].message.find("levels deep"), std::string::npos);
}

TEST(PlanFile, AMillionOperationsAreRefusedInWords) {
  std::string nops;
  for (int i = 0; i < 1'100'000; ++i) nops += ",{\"name\":\"nop\"}";
  const std::string text = "{\"gpus\":[{\"threadblocks\":[{\"ops\":[" + nops.substr(1) + "]}]}]}";
  const auto verdict = forestcoll::verify(text, "x", nullptr, {});
  ASSERT_FALSE(verdict.has_value());
  EXPECT_NE(verdict.errors()[0].message.find("1000000 operations"), std::string::npos);
}

TEST(PlanFile, OneBlockOfManyOperationsIsNotRun) {
  PlanJson plan = get_allreduce();
  for (int i = 0; i < 5000; ++i) ops(plan).push_back(op("nop"));
  EXPECT_TRUE(finds(check(plan), "V26", "follows 4000"));
}

TEST(PlanFile, HugeOperationsAreNotRun) {
  PlanJson plan = get_allreduce();
  const int chunks = 1 << 24;
  for (auto& gpu : plan["gpus"]) {
    gpu["input_chunks"] = gpu["output_chunks"] = chunks;
    for (int i = 0; i < 20; ++i) {
      gpu["threadblocks"][0]["ops"].push_back(
          data("copy", {local("i", 0, chunks)}, {local("i", 0, chunks)}));
    }
  }
  EXPECT_TRUE(finds(check(plan), "V26", "accesses"));
}

}  // namespace
}  // namespace audit_test
