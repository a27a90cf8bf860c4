// `forestcoll verify` on every runtime at once, and plans of MSCCL++ from outside.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::ContainsRegex;

std::string schedule(const std::string& collective, const std::vector<std::string>& more = {}) {
  const Result synth =
      run(joined({"synth", "-", "-c", collective, "-k", "1"}, more), {.input = small_topology()});
  EXPECT_EQ(synth.code, 0) << synth.err;
  return synth.out;
}

// Over eight GPUs instead of two.
std::string box_schedule(const std::string& collective, const std::vector<std::string>& more = {}) {
  const Result synth =
      run(joined({"synth", topology("dgx-a100-x1"), "-c", collective, "-k", "1"}, more));
  EXPECT_EQ(synth.code, 0) << synth.err;
  return synth.out;
}

TEST(VerifyTargets, TableSaysWhatEachWouldDo) {
  const auto verify =
      run_well({"verify", "-", "--target", "any"}, {.input = schedule("allgather")});
  EXPECT_EQ(run({"verify", "-", "--target", "all"}, {.input = schedule("allgather")}).code, 0);
  // The research runtime takes no reduce-scatter.
  EXPECT_EQ(run({"verify", "-", "--target", "all"}, {.input = schedule("reduce_scatter")}).code, 1);
  for (const char* target : {"azure", "rccl-5.7", "rccl-6", "rccl-6.2", "rccl-6.3", "msccl"}) {
    EXPECT_THAT(verify.out, HasSubstr(target));
  }
  EXPECT_THAT(verify.out, HasSubstr("runs; the result is correct"));
  EXPECT_THAT(verify.out, HasSubstr("count"));
}

TEST(VerifyTargets, ReportFollowsItsSchema) {
  const auto verify =
      run_well({"verify", "-", "--target", "any", "--json"}, {.input = schedule("reduce_scatter")});
  const auto json = nlohmann::json::parse(verify.out);
  expect_valid(json, "forestcoll-verify-targets.schema.json");
  ASSERT_EQ(json["targets"].size(), 6U);
  EXPECT_EQ(json["targets"][0]["target"], "azure");
  EXPECT_EQ(json["targets"][0]["ok"], true);
  // The research runtime calls the collective otherwise.
  EXPECT_EQ(json["targets"][5]["ok"], false);
  EXPECT_THAT(json["targets"][5]["outcome"].get<std::string>(), HasSubstr("rejects it"));
}

TEST(VerifyTargets, NoRuntimeRunsABrokenFile) {
  std::string text = schedule("allgather");
  const std::size_t at = text.find("cnt=\"1\"");
  text.replace(at, 7, "cnt=\"2\"");
  const auto verify = run({"verify", "-", "--target", "all"}, {.input = text});
  EXPECT_EQ(verify.code, 1);
  EXPECT_THAT(verify.out, HasSubstr("such as"));
  EXPECT_THAT(verify.out, Not(HasSubstr("runs; the result is correct")));
}

TEST(VerifyTargets, AreForSchedulesAlone) {
  expect_says(2, {"verify", "-", "--target", "all"}, "[S04]",
              {.input = schedule("allgather", {"--format", "forest"})});
  for (const char* format : {"forest", "mscclpp"}) {
    const auto one = expect_says(2, {"verify", "-", "--target", "azure"}, "[S04]",
                                 {.input = schedule("allgather", {"--format", format})});
    EXPECT_EQ(one.out, "");
  }
  expect_says(2, {"verify", "-", "--target", "some"},
              "azure, rccl-5.7, rccl-6, rccl-6.2, rccl-6.3, msccl, "
              "mscclpp-0.10, mscclpp-0.9, all",
              {.input = "<algo/>"});
}

// A chain over three GPUs that begins at rank 1.
std::string chain_from_rank_1() {
  std::string text =
      "<algo name=\"chain\" proto=\"Simple\" nchannels=\"1\" nchunksperloop=\"1\" ngpus=\"3\" "
      "coll=\"broadcast\" inplace=\"1\" outofplace=\"0\" minBytes=\"0\" maxBytes=\"65536\">\n";
  const auto gpu = [&](int rank, int to, int from, const std::string& type) {
    text += fmt::format(
        "<gpu id=\"{}\" i_chunks=\"1\" o_chunks=\"1\" s_chunks=\"0\">\n<tb id=\"0\" send=\"{}\" "
        "recv=\"{}\" chan=\"0\">\n<step s=\"0\" type=\"{}\" srcbuf=\"o\" srcoff=\"0\" dstbuf=\"o\" "
        "dstoff=\"0\" cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n</tb>\n</gpu>\n",
        rank, to, from, type);
  };
  gpu(0, -1, 2, "r");
  gpu(1, 2, -1, "s");
  gpu(2, 0, 1, "rcs");
  return text + "</algo>\n";
}

TEST(VerifyRoot, IsSaidWithTheHazard) {
  const auto text = run({"verify", "-"}, {.input = chain_from_rank_1()});
  EXPECT_EQ(text.code, 0) << text.out;
  EXPECT_THAT(text.out, HasSubstr("valid: broadcast from rank 1 over 3 ranks"));
  EXPECT_THAT(text.err, HasSubstr("[W10]"));
  EXPECT_THAT(text.err, HasSubstr("for root 1"));
  const auto all = run({"verify", "-", "--target", "any"}, {.input = chain_from_rank_1()});
  EXPECT_THAT(all.out, HasSubstr("broadcast from rank 1 over 3 ranks"));
  EXPECT_THAT(all.err, HasSubstr("[W10]"));
  const auto json = run({"verify", "-", "--json"}, {.input = chain_from_rank_1()});
  const auto report = nlohmann::json::parse(json.out);
  expect_valid(report, "forestcoll-verify.schema.json");
  EXPECT_EQ(report["root_rank"], 1);
  const auto reduce = run({"verify", "-"}, {.input = schedule("reduce", {"--root", "1"})});
  EXPECT_THAT(reduce.out, HasSubstr("valid: reduce to rank 1 over"));
  const auto forest = run_well(
      {"verify", "-"}, {.input = schedule("broadcast", {"--root", "1", "--format", "forest"})});
  EXPECT_THAT(forest.err, Not(HasSubstr("[W10]")));
}

// A chain over three boxes leaves a box at every message.
TEST(VerifySimple, HangsInRootedCollectivesBetweenBoxes) {
  const Scratch scratch;
  const auto boxes = [&](const std::string& ids) {
    return scratch.write("t.json", R"({"format": "forestcoll-topology", "version": 1,
      "templates": {"one": {"nodes": [{"id": "gpu", "type": "compute"}]}},
      "boxes": [{"id": ")" + ids + R"(", "template": "one"}],
      "nodes": [{"id": "sw", "type": "switch"}],
      "links": [{"src": ")" + ids + R"(/gpu", "dst": "sw", "bandwidth": 25}]})");
  };
  const std::string several = boxes("box[0-2]");
  for (const std::vector<std::string>& target : {std::vector<std::string>{}, {"--target", "any"}}) {
    const auto verify = expect_says(0, joined({"verify", "-", "--topology", several}, target),
                                    "[W13]", {.input = chain_from_rank_1()});
    EXPECT_THAT(verify.err, HasSubstr("hangs"));
  }
  EXPECT_THAT(run({"verify", "-"}, {.input = chain_from_rank_1()}).err, Not(HasSubstr("[W13]")));
  std::string low_latency = chain_from_rank_1();
  low_latency.replace(low_latency.find("Simple"), 6, "LL");
  EXPECT_THAT(run({"verify", "-", "--topology", several}, {.input = low_latency}).err,
              Not(HasSubstr("[W13]")));
  const std::string flat = scratch.write("flat.json", R"({"format": "forestcoll-topology",
    "version": 1, "nodes": [{"id": "gpu[0-2]", "type": "compute"}, {"id": "sw", "type": "switch"}],
    "links": [{"src": "gpu[0-2]", "dst": "sw", "bandwidth": 25}]})");
  EXPECT_THAT(run({"verify", "-", "--topology", flat}, {.input = chain_from_rank_1()}).err,
              Not(HasSubstr("[W13]")));
}

// Two ranks exchange three chunks each, all sent before any is received: two are in flight.
std::string exchange(const std::string& max_bytes) {
  std::string text =
      "<algo name=\"exchange\" proto=\"Simple\" nchannels=\"1\" nchunksperloop=\"6\" "
      "ngpus=\"2\" coll=\"allgather\" inplace=\"1\" outofplace=\"0\" minBytes=\"0\" "
      "maxBytes=\"" +
      max_bytes + "\">\n";
  for (const int rank : {0, 1}) {
    text += fmt::format(
        "<gpu id=\"{0}\" i_chunks=\"3\" o_chunks=\"6\" s_chunks=\"0\">\n<tb id=\"0\" "
        "send=\"{1}\" recv=\"{1}\" chan=\"0\">\n"
        "<step s=\"0\" type=\"s\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\" "
        "cnt=\"3\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n"
        "<step s=\"1\" type=\"r\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"{2}\" "
        "cnt=\"3\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n</tb>\n</gpu>\n",
        rank, 1 - rank, 3 * (1 - rank));
  }
  return text + "</algo>\n";
}

TEST(VerifyDeadlock, NamesTheLimitOfTheWindow) {
  const auto inside = run({"verify", "-"}, {.input = exchange("6291456")});
  EXPECT_EQ(inside.code, 0) << inside.out;
  EXPECT_THAT(inside.out, HasSubstr("free of deadlock up to buffers of 6291456 bytes"));
  const auto json = run({"verify", "-", "--json"}, {.input = exchange("6291456")});
  const auto report = nlohmann::json::parse(json.out);
  expect_valid(report, "forestcoll-verify.schema.json");
  EXPECT_EQ(report["safe_bytes"], 6291456);
  const auto beyond = run({"verify", "-"}, {.input = exchange("6291462")});
  EXPECT_EQ(beyond.code, 1);
  EXPECT_THAT(beyond.out, HasSubstr("lower maxBytes to 6291456"));
  EXPECT_THAT(beyond.out, HasSubstr("[V13]"));
}

TEST(VerifyBits, AreTheSameInOurSchedules) {
  for (const std::string target : {"azure", "rccl-6"}) {
    const auto verify =
        run({"verify", "-", "--target", target},
            {.input = box_schedule("allreduce", {"--ranks", "0-3", "--target", target})});
    EXPECT_THAT(verify.out, HasSubstr("bits: the same on every rank"));
  }
  for (const std::string format : {"msccl", "mscclpp"}) {
    const auto verify =
        run({"verify", "-", "--json"},
            {.input = box_schedule("allreduce", {"--ranks", "0-3", "--format", format})});
    const auto report = nlohmann::json::parse(verify.out);
    expect_valid(report, "forestcoll-verify.schema.json");
    EXPECT_EQ(report["same_bits"], true);
  }
  const auto gather = run({"verify", "-", "--json"}, {.input = schedule("allgather")});
  EXPECT_FALSE(nlohmann::json::parse(gather.out).contains("same_bits"));
}

TEST(VerifyLoads, AreOfEveryLinkOfTheTopology) {
  const Scratch scratch;
  const std::string file = scratch.write("pair.json", small_topology());
  const auto verify = run({"verify", "-", "--topology", file, "--json", "--loads"},
                          {.input = schedule("allgather")});
  const auto report = nlohmann::json::parse(verify.out);
  expect_valid(report, "forestcoll-verify.schema.json");
  ASSERT_EQ(report["loads"].size(), 4U);
  for (const auto& link : report["loads"]) EXPECT_EQ(link["load"]["exact"], "1/2");
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{
           {}, {"--json"}, {"--topology", file}, {"--topology", file, "--json", "--target=all"}}) {
    expect_says(2, joined({"verify", "-", "--loads"}, more), "[S04]",
                {.input = schedule("allgather")});
  }
}

TEST(VerifyFindings, ThoseThatAreNotShownAreCounted) {
  std::string text = box_schedule("allgather");
  std::size_t changed = 0;
  for (std::size_t at; (at = text.find("hasdep=\"0\"")) != std::string::npos; ++changed) {
    text.replace(at, 10, "hasdep=\"7\"");
  }
  ASSERT_GT(changed, 20U);
  const auto words = run({"verify", "-"}, {.input = text});
  EXPECT_EQ(words.code, 1);
  EXPECT_THAT(words.out, HasSubstr(fmt::format("  … and {} more like it\n", changed - 1)));
  EXPECT_THAT(words.out, HasSubstr(fmt::format("invalid: {} errors\n", changed)));
  const auto json = nlohmann::json::parse(run({"verify", "-", "--json"}, {.input = text}).out);
  expect_valid(json, "forestcoll-verify.schema.json");
  EXPECT_EQ(json["findings"].size(), 20U);
  EXPECT_EQ(json["finding_count"], changed);
}

TEST(VerifyTargets, TakeAGpuToHoldWhatTheirsDo) {
  const Scratch scratch;
  const std::string file = scratch / "x.xml";
  ASSERT_EQ(run({"synth", topology("torus-4x4"), "-k", "16", "--target", "rccl-5.7", "--sms", "108",
                 "-o", file})
                .code,
            0);
  const auto assumed = run({"verify", file, "--target", "rccl-5.7"});
  EXPECT_EQ(assumed.code, 1);
  EXPECT_THAT(assumed.out, HasSubstr("104"));
  EXPECT_EQ(run({"verify", file, "--target", "rccl-5.7", "--sms", "108"}).code, 0);
}

TEST(VerifyTargets, AForeignTopologyIsNoFaultOfTheRuntime) {
  const auto verify = run({"verify", "-", "--target", "any", "--topology", topology("dgx-a100-x1")},
                          {.input = schedule("allgather")});
  EXPECT_EQ(verify.code, 1);
  EXPECT_THAT(verify.out,
              HasSubstr("runs; the result is correct, but the file is not for this topology"));
  EXPECT_THAT(verify.out, HasSubstr("such as the schedule is for"));
}

// Plans of every collective, in place and not, over these GPUs of a fabric.
void expect_plans_pass(const std::string& name, const std::string& ranks) {
  const std::vector<std::string> fabric{topology(name), "--ranks", ranks};
  for (const char* collective : {"allreduce", "allgather", "reduce_scatter", "broadcast"}) {
    for (const char* placement : {"--inplace", "--outofplace"}) {
      auto arguments = joined(
          {"synth", "-c", collective, "--format", "mscclpp", "-k", "auto", placement}, fabric);
      if (collective == std::string("broadcast")) {
        arguments.insert(arguments.end(), {"--root", "0"});
      }
      const auto synth = run(arguments);
      ASSERT_EQ(synth.code, 0) << name << collective << synth.err;
      const auto verify =
          run(joined({"verify", "-", "--json", "--topology"}, fabric), {.input = synth.out});
      EXPECT_EQ(verify.code, 0) << verify.out;
      const auto json = nlohmann::json::parse(verify.out);
      expect_valid(json, "forestcoll-verify.schema.json");
      EXPECT_EQ(json["schedule"], "mscclpp-plan");
      EXPECT_EQ(json["collective"], collective);
      EXPECT_LE(json["threadblock_steps"].get<int>(), 64);
    }
  }
}

// A switch, two boxes, unequal links: a half of the GPUs, and all.
TEST(VerifyPlanLong, PlansOfEveryCollectivePass) {
  expect_plans_pass("dgx-a100-x1", "0-3");
  expect_plans_pass("dgx-a100-x2", "box[0-1]/gpu[0-3]");
  expect_plans_pass("dgx-1-v100", "0-3");
}
TEST(VerifyPlanLongest, PlansOfEveryCollectivePass) {
  expect_plans_pass("dgx-a100-x1", "0-7");
  expect_plans_pass("dgx-a100-x2", "0-15");
  expect_plans_pass("mi250-x1", "0-15");
}

TEST(VerifyPlan, SaysWhatCallsMustKeepTo) {
  const std::string across = "lie at the beginning of their allocations";
  const std::vector<std::string> two_boxes = {
      "synth",  topology("dgx-a100-x2"), "--ranks", "box[0-1]/gpu[0-1]", "-k", "1", "--format",
      "mscclpp"};
  const auto synth = expect_says(0, two_boxes, "  only if input and output " + across);
  EXPECT_TRUE(nlohmann::json::parse(synth.out).contains("comment"));
  const auto text = run({"verify", "-"}, {.input = synth.out});
  EXPECT_EQ(text.code, 0) << text.out;
  EXPECT_THAT(text.out, HasSubstr("  only if input and output " + across));
  const auto verify = run({"verify", "-", "--json"}, {.input = synth.out});
  const auto report = nlohmann::json::parse(verify.out);
  expect_valid(report, "forestcoll-verify.schema.json");
  EXPECT_THAT(report["conditions"][0].get<std::string>(), HasSubstr(across));
  const auto summary = run(joined(two_boxes, {"--json", "-o", "/dev/null"}));
  const auto json = nlohmann::json::parse(summary.out);
  expect_valid(json, "forestcoll-synth.schema.json");
  EXPECT_EQ(json["conditions"], report["conditions"]);
  const auto one_box =
      run({"verify", "-"}, {.input = schedule("allreduce", {"--format", "mscclpp"})});
  EXPECT_THAT(one_box.out, HasSubstr("only if input and output lie equally far into their "));
  const auto any = run({"verify", "-"},
                       {.input = schedule("allreduce", {"--format", "mscclpp", "--any-buffers"})});
  EXPECT_THAT(any.out, Not(HasSubstr("only if")));
}

// The limit is the largest multiple of the plan's chunks that offsets of 32 bits reach.
TEST(VerifyPlan, MessagesBeyondTheOffsetsAreRefused) {
  const auto synth =
      expect_says(3, {"synth", "-", "-k", "1", "--format", "mscclpp", "--max-bytes", "8G"}, "[T04]",
                  {.input = small_topology()});
  EXPECT_THAT(synth.err, ContainsRegex("use --max-bytes 42949[0-9]{5}\n"));
  EXPECT_EQ(synth.out, "");
  auto plan = nlohmann::json::parse(schedule("allreduce", {"--format", "mscclpp"}));
  plan.erase("max_message_size");
  const auto verify = run({"verify", "-"}, {.input = plan.dump()});
  EXPECT_EQ(verify.code, 0) << verify.out;
  EXPECT_THAT(verify.out, ContainsRegex("only if messages have at most 42949[0-9]{5} bytes"));
}

TEST(VerifyPlan, MemoryChannelsBetweenBoxesAreRefused) {
  // Made for eight GPUs of one box, and judged on a fabric that has two boxes of four.
  const std::string boxes = R"({"format": "forestcoll-topology", "version": 1, "name": "boxes",
      "templates": {"box": {"nodes": [{"id": "gpu[0-3]", "type": "compute"},
                                      {"id": "nvsw", "type": "switch"}],
                            "links": [{"src": "gpu[0-3]", "dst": "nvsw", "bandwidth": 300}]}},
      "nodes": [{"id": "ib", "type": "switch"}],
      "boxes": [{"id": "box[0-1]", "template": "box"}],
      "links": [{"src": "box[0-1]/gpu[0-3]", "dst": "ib", "bandwidth": 25}]})";
  const Scratch scratch;
  const std::string file = scratch.write("boxes.json", boxes);
  const std::string plan = box_schedule("allgather", {"--format", "mscclpp"});
  const auto verify = run({"verify", "-", "--topology", file}, {.input = plan});
  EXPECT_EQ(verify.code, 1) << verify.out << verify.err;
  EXPECT_THAT(verify.out,
              ContainsRegex("[0-9]+ memory channels lead to another box: the first from "
                            "box box0 to rank 4 in box box1"));
  EXPECT_THAT(verify.out, HasSubstr("[V20]"));
  EXPECT_THAT(verify.out, HasSubstr("use port channels between boxes"));
  const auto own = run({"synth", file, "-c", "allgather", "-k", "1", "--format", "mscclpp"});
  EXPECT_EQ(run({"verify", "-", "--topology", file}, {.input = own.out}).code, 0);
}

TEST(VerifyPlan, BrokenPlansAreRejected) {
  std::string text = schedule("allreduce", {"--format", "mscclpp"});
  // The barrier between the arrival of data and the reduction that reads it.
  const std::size_t at = text.find("{\"name\":\"nop\"},\n      {\"name\":\"re\"");
  ASSERT_NE(at, std::string::npos);
  std::string broken = text;
  broken.replace(at, 15, "");
  const auto verify = run({"verify", "-"}, {.input = broken});
  EXPECT_EQ(verify.code, 1) << verify.out;
  EXPECT_THAT(verify.out, HasSubstr("invalid"));
  EXPECT_THAT(verify.out, HasSubstr("rank 0, threadblock 1, step"));
  expect_says(2, {"verify", "-"}, "<stdin>: ", {.input = text.substr(0, text.size() / 2)});
}

TEST(VerifyPlan, OptionsThatPlansDoNotHaveAreRefused) {
  const std::vector<std::vector<std::string>> wrong = {{"--proto", "LL"},
                                                       {"--instances", "2"},
                                                       {"--unfused"},
                                                       {"--threadblocks", "merge"},
                                                       {"--inplace", "--outofplace"}};
  for (const auto& options : wrong) {
    const auto synth =
        run(joined({"synth", "-", "--format", "mscclpp"}, options), {.input = small_topology()});
    EXPECT_EQ(synth.code, 2) << options[0];
    EXPECT_THAT(synth.err, HasSubstr("[S04]"));
    EXPECT_EQ(synth.out, "");
  }
  expect_says(3, {"synth", "-", "--format", "mscclpp", "-c", "reduce", "--root", "0"}, "[T06]",
              {.input = small_topology()});
}

}  // namespace
}  // namespace forestcoll::testing
