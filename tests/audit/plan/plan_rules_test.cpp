// Rules on execution plans: each has a plan that breaks it.
#include "audit/plan/plan_checking.hpp"
#include "audit/plan/plan_executor.hpp"

namespace audit_test {
namespace {

struct Rule {
  const char* name;
  std::function<void(PlanJson&)> edit;
  Code code;
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
        Rule{"NoName", [](PlanJson& p) { p.erase("name"); }, Code::V03, "no name"},
        Rule{"NoInPlace", [](PlanJson& p) { p.erase("inplace"); }, Code::V03, "inplace"},
        Rule{"Protocol", [](PlanJson& p) { p["protocol"] = "LL128"; }, Code::V04,
             "expected \"Simple\" or \"LL\""},
        Rule{"Collective", [](PlanJson& p) { p["collective"] = "reduce"; }, Code::V04, "collective"},
        Rule{"Alignment", [](PlanJson& p) { p["buffer_alignment"] = 8; }, Code::V03, "16 bytes"},
        Rule{"NegativeThreads", [](PlanJson& p) { p["num_threads_per_block"] = -5; }, Code::V03,
             "up to 1024, found -5"},
        Rule{"NoThreads", [](PlanJson& p) { p["num_threads_per_block"] = 0; }, Code::V03, "found 0"},
        Rule{"HalfAWarp", [](PlanJson& p) { p["num_threads_per_block"] = 1000; }, Code::V03,
             "multiple of 32"},
        Rule{"ManyThreads", [](PlanJson& p) { p["num_threads_per_block"] = 2048; }, Code::V03,
             "found 2048"},
        Rule{"ThreadsInWords", [](PlanJson& p) { p["num_threads_per_block"] = "1024"; }, Code::V03,
             "expected an integer, found 1024"},
        Rule{"LargestInWords", [](PlanJson& p) { p["max_message_size"] = "2G"; }, Code::V03,
             "max_message_size: expected an integer"},
        Rule{"LargestIsNoInteger", [](PlanJson& p) { p["max_message_size"] = 1e30; }, Code::V03,
             "max_message_size: expected an integer"},
        Rule{"NegativeLargest", [](PlanJson& p) { p["max_message_size"] = -1; }, Code::V03,
             "max_message_size: expected an integer"},
        Rule{"NegativeSmallest", [](PlanJson& p) { p["min_message_size"] = -1; }, Code::V03,
             "min_message_size: expected an integer"},
        Rule{"SizesAsAList", [](PlanJson& p) { p["max_message_size"] = PlanJson::array(); }, Code::V03,
             "max_message_size: expected an integer"},
        Rule{"DoubleScratchInWords",
             [](PlanJson& p) { p["use_double_scratch_buffer"] = "yes"; }, Code::V03, "true or false"},
        Rule{"InPlaceAsANumber", [](PlanJson& p) { p["inplace"] = 1; }, Code::V03, "true or false"},
        Rule{"OpsInWords",
             [](PlanJson& p) { p["gpus"][0]["threadblocks"][0]["ops"] = "none"; }, Code::V03,
             "ops: expected a list"},
        Rule{"BlocksAsAnObject",
             [](PlanJson& p) { p["gpus"][0]["threadblocks"] = PlanJson::object(); }, Code::V03,
             "threadblocks: expected a list"},
        Rule{"NumberAmongOps", [](PlanJson& p) { ops(p).push_back(5); }, Code::V03,
             "an element of a list: expected an object, found 5"},
        Rule{"WindowBelowTheUnit", [](PlanJson& p) { p["max_message_size"] = 31; }, Code::V19,
             "multiple of 32 bytes"},
        Rule{"WindowBetweenTwoUnits",
             [](PlanJson& p) {
               p["min_message_size"] = 33;
               p["max_message_size"] = 63;
             },
             Code::V19, "multiple of 32 bytes"},
        Rule{"NoAlignment", [](PlanJson& p) { p["buffer_alignment"] = 0; }, Code::V03, "1 to 4096"},
        Rule{"NoGpus", [](PlanJson& p) { p["gpus"] = PlanJson::array(); }, Code::V05, "no GPUs"},
        Rule{"GpuOrder", [](PlanJson& p) { std::swap(p["gpus"][0], p["gpus"][1]); }, Code::V05,
             "by position"},
        Rule{"BlockOrder", [](PlanJson& p) { p["gpus"][0]["threadblocks"][0]["id"] = 1; }, Code::V05,
             "numbered 0, 1, 2"},
        Rule{"NoChunks", [](PlanJson& p) { p["gpus"][1].erase("input_chunks"); }, Code::V03,
             "input_chunks"},
        Rule{"Chunks", [](PlanJson& p) { p["gpus"][1]["output_chunks"] = 3; }, Code::V11,
             "2 input and 3 output"},
        Rule{"HugeScratch", [](PlanJson& p) { p["gpus"][0]["scratch_chunks"] = 1LL << 40; }, Code::V03,
             "scratch_chunks"},
        Rule{"Peer", [](PlanJson& p) { p["gpus"][0]["channels"][0]["connected_to"][0] = 0; }, Code::V07,
             "another of the 2 ranks"},
        Rule{"Switch", [](PlanJson& p) { p["gpus"][0]["channels"][0]["channel_type"] = "switch"; },
             Code::V03, "without buffer_type"},
        Rule{"ChannelKind", [](PlanJson& p) { p["gpus"][0]["channels"][0]["channel_type"] = "bus"; },
             Code::V04, "memory, port or switch"},
        Rule{"ChannelOfAMemoryPut",
             [](PlanJson& p) {
               ops(p)[3] = data("put", {local("i", 0, 1)}, {remote(0, 0, 1)}, "memory", {1});
             },
             Code::V07, "memory channel 1, but the threadblock lists 1"},
        Rule{"RemoteRank", [](PlanJson& p) { p["gpus"][0]["remote_buffers"][0]["rank"] = 2; },
             Code::V07, "another of the 2 ranks"},
        Rule{"RemoteType", [](PlanJson& p) { p["gpus"][0]["remote_buffers"][0].erase("type"); },
             Code::V03, "without type"},
        Rule{"RemoteAccess",
             [](PlanJson& p) {
               p["gpus"][0]["remote_buffers"][0]["access_channel_types"] = {"port"};
             },
             Code::V07, "not reached through memory"},
        Rule{"BlockChannel",
             [](PlanJson& p) {
               p["gpus"][0]["threadblocks"][0]["channels"][0]["channel_ids"] = {1};
             },
             Code::V07, "memory channel 1, but the GPU has 1"},
        Rule{"BlockBuffer",
             [](PlanJson& p) {
               p["gpus"][0]["threadblocks"][0]["remote_buffer_refs"][0]["remote_buffer_ids"] = {1};
             },
             Code::V07, "remote buffer 1, but the GPU has 1"},
        Rule{"OpChannel", [](PlanJson& p) { ops(p)[0]["channel_ids"] = {1}; }, Code::V07,
             "the threadblock lists 1"},
        Rule{"OpBuffer", [](PlanJson& p) { ops(p)[3]["src_buff"][0]["buffer_id"] = 1; }, Code::V07,
             "buffer_id 1"},
        Rule{"TwiceTheChannel",
             [](PlanJson& p) {
               ops(p)[0]["channel_ids"] = {0, 0};
             },
             Code::V07, "stands twice"},
        Rule{"SharedChannel",
             [](PlanJson& p) {
               PlanJson tb = p["gpus"][0]["threadblocks"][0];
               tb["id"] = 1;
               tb["ops"] = PlanJson::array({kWait});
               p["gpus"][0]["threadblocks"].push_back(tb);
             },
             Code::V07, "not made for two"},
        Rule{"NoChannel", [](PlanJson& p) { ops(p)[0].erase("channel_ids"); }, Code::V03,
             "names no channel"},
        Rule{"NoChannelType", [](PlanJson& p) { ops(p)[0].erase("channel_type"); }, Code::V03,
             "channel_type"},
        Rule{"Unknown", [](PlanJson& p) { ops(p)[2]["name"] = "swap"; }, Code::V04,
             "the executor has no operation \"swap\""},
        Rule{"PwsfMemory",
             [](PlanJson& p) {
               ops(p)[3] = data("pwsf", {local("i", 0, 1)}, {remote(0, 0, 1)}, "memory");
             },
             Code::V04, "pwsf through a memory channel never signals"},
        Rule{"PwsMemory",
             [](PlanJson& p) {
               ops(p)[3] = data("pws", {local("i", 0, 1)}, {remote(0, 0, 1)}, "memory");
             },
             Code::V04, "pws through a memory channel never signals"},
        Rule{"GetOffsets", [](PlanJson& p) { ops(p)[3]["dst_buff"][0]["index"] = 1; }, Code::V04,
             "swaps the two offsets"},
        Rule{"PutBuffers",
             [](PlanJson& p) {
               ops(p)[3] = data("put", {local("i", 0, 1), local("s", 0, 1)},
                                {remote(0, 0, 1), remote(0, 1, 1)}, "memory");
             },
             Code::V04, "from the buffer of the first"},
        Rule{"Shape", [](PlanJson& p) { ops(p)[3]["dst_buff"] = PlanJson::array(); }, Code::V03,
             "get cannot have 1 sources (0 local) and 0 destinations"},
        Rule{"TypeOrId", [](PlanJson& p) { ops(p)[3]["src_buff"][0]["type"] = "i"; }, Code::V03,
             "either a type or a buffer_id"},
        Rule{"Letter", [](PlanJson& p) { ops(p)[3]["dst_buff"][0]["type"] = "x"; }, Code::V03,
             "i, o or s"},
        Rule{"Beyond", [](PlanJson& p) { ops(p)[5]["src_buff"][0]["index"] = 2; }, Code::V08,
             "beyond the 2 chunks of the input"},
        Rule{"Negative", [](PlanJson& p) { ops(p)[5]["src_buff"][0]["index"] = -1; }, Code::V08,
             "index -1"},
        Rule{"Sizes",
             [](PlanJson& p) {
               ops(p)[5]["src_buff"][0]["index"] = 0;
               ops(p)[5]["src_buff"][1]["size"] = 2;
             },
             Code::V08, "sizes 1 and 2"},
        Rule{"Barrier",
             [](PlanJson& p) {
               ops(p)[2] = {{"name", "barrier"}, {"barrier_id", 16}, {"num_threadblocks", 1}};
             },
             Code::V09, "0 to 15"},
        Rule{"BarrierFor",
             [](PlanJson& p) {
               ops(p)[2] = {{"name", "barrier"}, {"barrier_id", 0}, {"num_threadblocks", 2}};
             },
             Code::V09, "1 to 1"},
        Rule{"Semaphore",
             [](PlanJson& p) {
               ops(p)[2] = {{"name", "sem_acquire"}, {"semaphore_ids", {0}}};
             },
             Code::V09, "semaphore 0"},
        Rule{"SizeWindow",
             [](PlanJson& p) {
               p["max_message_size"] = 0;
               p["min_message_size"] = 1;
             },
             Code::V19, "above max_message_size"},
        Rule{"SmallestAsAnInt",
             [](PlanJson& p) {
               p["min_message_size"] = std::int64_t{1} << 31;
               p["max_message_size"] = std::int64_t{1} << 32;
             },
             Code::V19, "reads it in 32 bits"},
        Rule{"TooManyOps",
             [](PlanJson& p) {
               for (int i = 0; i < 60; ++i) ops(p).push_back(op("nop"));
             },
             Code::V06, "69 operations"},
        Rule{"StringForNumber", [](PlanJson& p) { ops(p)[3]["src_buff"][0]["index"] = "0"; }, Code::V03,
             "expected an integer"},
        Rule{"EmptyPipeline",
             [](PlanJson& p) {
               ops(p)[2] = {{"name", "pipeline"},
                            {"iter_context", {{"unit_size", 100}, {"num_chunks", 0}}},
                            {"ops", PlanJson::array()}};
             },
             Code::V03, "without operations"},
        Rule{"PipelineUnit",
             [](PlanJson& p) {
               ops(p)[3] = {{"name", "pipeline"},
                            {"iter_context", {{"unit_size", 100}, {"num_chunks", 1}}},
                            {"ops", PlanJson::array({ops(p)[3]})}};
             },
             Code::V03, "multiple of 16"},
        Rule{"PipelineSize",
             [](PlanJson& p) {
               ops(p)[3] = {{"name", "pipeline"},
                            {"iter_context", {{"unit_size", 1024}, {"num_chunks", 2}}},
                            {"ops", PlanJson::array({ops(p)[3]})}};
             },
             Code::V08, "pipeline over 2 chunks"}),
    [](const testing::TestParamInfo<Rule>& rule) { return std::string(rule.param.name); });

TEST(PlanRule, EveryFieldOfTheFormatIsTaken) {
  PlanJson plan = get_allreduce();
  plan["num_threads_per_block"] = 512;
  plan["use_double_scratch_buffer"] = false;
  plan["min_message_size"] = 33;
  plan["max_message_size"] = 64;
  plan["colour"] = {{"of", {"what", 1, true}}};
  plan["gpus"][0]["threadblocks"][0]["ops"][0]["colour"] = PlanJson::array({1, "two"});
  EXPECT_TRUE(check(plan).ok) << explain(check(plan));
}

// The executor flushes as many channels as there are destinations; without any it does nothing.
TEST(PlanRule, FlushNeedsADestinationForEachChannel) {
  PlanJson plan = direct_alltoall(3, "port");
  ops(plan)[8].erase("dst_buff");
  EXPECT_TRUE(finds(check(plan), Code::V03, "flush names 2 channels and 0 destinations",
                    "rank 0, threadblock 0, step 8"));
  EXPECT_NE(execute_plan(plan, 200), Outcome::right);
  ops(plan)[8]["dst_buff"] = std::vector<PlanJson>{local("o", 0, 1)};
  EXPECT_TRUE(finds(check(plan), Code::V03, "2 channels and 1 destinations"));
  EXPECT_NE(execute_plan(plan, 200), Outcome::right);
  ops(plan)[8]["dst_buff"] = std::vector<PlanJson>{local("o", 0, 1), local("o", 3, 1)};
  EXPECT_TRUE(finds(check(plan), Code::V08, "beyond the 3 chunks of the output"));
}

TEST(PlanRule, ThreadblocksMustFitTheGpu) {
  VerifyOptions one;
  one.sms = 1;
  EXPECT_TRUE(finds(check(barrier_broadcast(), one), Code::V06, "holds 1 at once", "rank 1"));
}

TEST(PlanRule, BarriersNeedAllTheirThreadblocks) {
  EXPECT_TRUE(finds(check(edited([](PlanJson& p) { ops(p, 1, 1).erase(0); }, barrier_broadcast())),
                    Code::V09, "barrier 0 is for 2 threadblocks"));
}

// Of an operation, not of a GPU.
TEST(PlanRule, SemaphoresOfAnOperationAreLimited) {
  PlanJson plan = semaphore_broadcast();
  PlanJson& gpu = plan["gpus"][1];
  for (int i = 1; i < 40; ++i) gpu["semaphores"].push_back({{"init_value", 0}});
  EXPECT_TRUE(check(plan).ok) << explain(check(plan));
  std::vector<int> many(17);
  for (int i = 0; i < 17; ++i) many[static_cast<std::size_t>(i)] = i;
  gpu["threadblocks"][0]["ops"].back()["semaphore_ids"] = many;
  gpu["threadblocks"][1]["ops"][0]["semaphore_ids"] = many;
  EXPECT_TRUE(
      finds(check(plan), Code::V06, "17 semaphores in one operation; the executor holds 16"));
}

TEST(PlanRule, SemaphoresBeginAtZero) {
  EXPECT_TRUE(
      finds(check(edited([](PlanJson& p) { p["gpus"][1]["semaphores"][0]["init_value"] = 1; },
                         semaphore_broadcast())),
            Code::V04, "begin at 0"));
}

TEST(PlanFile, UnreadableIsAnErrorWithThePlace) {
  const std::string text = get_allreduce().dump(1);
  for (const std::size_t length : {text.size() / 3, text.size() / 2, text.size() - 2}) {
    const auto verdict = forestcoll::verify(text.substr(0, length), "x", nullptr, {});
    if (verdict) {
      EXPECT_FALSE(verdict->ok);
      continue;
    }
    EXPECT_EQ(verdict.errors()[0].code, Code::V01);
    EXPECT_FALSE(verdict.errors()[0].where.empty());
  }
  std::string deep = "{\"gpus\":";
  for (int i = 0; i < 100'000; ++i) deep += '[';
  const auto verdict = forestcoll::verify(deep, "x", nullptr, {});
  ASSERT_FALSE(verdict.has_value());
  EXPECT_NE(verdict.errors()[0].message.find("levels deep"), std::string::npos);
}

// Readers take the first, or the last, of two equal keys; the executor takes the last.
TEST(PlanFile, AKeyThatStandsTwiceIsRefused) {
  const std::string text = get_allreduce().dump();
  const auto refused = [&](const std::string& from, const std::string& to) {
    std::string twice = text;
    const std::size_t at = twice.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    const auto verdict = forestcoll::verify(twice.replace(at, from.size(), to), "x", nullptr, {});
    return verdict ? "accepted" : to_string(verdict.errors()[0]);
  };
  EXPECT_NE(refused("{\"buffer", "{\"gpus\":[],\"buffer").find("\"gpus\" stands twice"),
            std::string::npos);
  EXPECT_NE(refused("\"threadblocks\":", "\"threadblocks\":[],\"threadblocks\":")
                .find("\"threadblocks\" stands twice in one object, in rank 0"),
            std::string::npos);
  EXPECT_NE(refused("\"index\":", "\"index\":0,\"index\":").find("\"index\" stands twice"),
            std::string::npos);
  EXPECT_EQ(refused("{\"buffer", "{\"note\":{\"a\":1,\"a\":2},\"buffer"), "accepted");
  std::string many = "{\"buffer";
  for (int i = 0; i < 300; ++i) many.insert(1, "\"k" + std::to_string(i) + "\":0,");
  EXPECT_NE(refused("{\"buffer", many).find("more than 256 keys"), std::string::npos);
}

TEST(PlanFileLong, AMillionOperationsAreRefusedInWords) {
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
  EXPECT_TRUE(finds(check(plan), Code::V26, "follows 4000"));
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
  EXPECT_TRUE(finds(check(plan), Code::V26, "accesses"));
}

}  // namespace
}  // namespace audit_test
