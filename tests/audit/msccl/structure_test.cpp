// One broken file per rule on the structure of the program.
#include <gtest/gtest.h>

#include <functional>

#include "audit/checking.hpp"
#include "audit/msccl/lexical.hpp"

namespace audit_test {
namespace {

class EditedFile : public testing::TestWithParam<Edit> {};

TEST_P(EditedFile, IsRejected) {
  const Edit& e = GetParam();
  EXPECT_TRUE(finds(check_text(replaced(good(), e.from, e.to)), e.code, e.words, e.where));
}

INSTANTIATE_TEST_SUITE_P(
    Structure, EditedFile,
    testing::Values(
        Edit{"MissingMinBytes", "minBytes=\"0\" ", "", Code::V03, "no attribute minBytes",
             "line 1"},
        Edit{"MissingOutOfPlace", "outofplace=\"0\" ", "", Code::V03, "outofplace", "line 1"},
        Edit{"MissingStepAttribute", "hasdep=\"0\"", "", Code::V03, "hasdep",
             "rank 0, threadblock 0, step 0"},
        Edit{"NotANumber", "cnt=\"1\"", "cnt=\"one\"", Code::V03, "found \"one\"", "step 0"},
        Edit{"TrailingLetters", "cnt=\"1\"", "cnt=\"1x\"", Code::V03, "found \"1x\"", "step 0"},
        Edit{"EmptyNumber", "cnt=\"1\"", "cnt=\"\"", Code::V03, "found \"\"", "step 0"},
        Edit{"HugeNumber", "cnt=\"1\"", "cnt=\"99999999999999999999\"", Code::V03, "cnt", "step 0"},
        Edit{"ZeroCount", "cnt=\"1\"", "cnt=\"0\"", Code::V03, "between 1 and 71", "step 0"},
        Edit{"CountOf72", "cnt=\"1\"", "cnt=\"72\"", Code::V03, "between 1 and 71", "step 0"},
        Edit{"OffsetBeyond16Bits", "srcoff=\"0\"", "srcoff=\"32768\"", Code::V03, "srcoff",
             "step 0"},
        Edit{"UnknownBuffer", "srcbuf=\"o\"", "srcbuf=\"x\"", Code::V03, "i, o or s", "step 0"},
        Edit{"UnknownType", "type=\"s\"", "type=\"ra\"", Code::V04, "found \"ra\"", "step 0"},
        Edit{"UnknownCollective", "coll=\"allgather\"", "coll=\"alltoallw\"", Code::V04,
             "alltoallw", "line 1"},
        Edit{"ReduceScatterSpelling", "coll=\"allgather\"", "coll=\"reduce_scatter\"", Code::V04,
             "reducescatter", "line 1"},
        Edit{"UnknownProtocol", "proto=\"Simple\"", "proto=\"simple\"", Code::V04, "Simple",
             "line 1"},
        Edit{"StepNumber", "step s=\"1\"", "step s=\"0\"", Code::V05, "position 1",
             "rank 0, threadblock 0, step 1"},
        Edit{"MissingGpu", "ngpus=\"3\"", "ngpus=\"4\"", Code::V05, "no <gpu id=\"3\">", "rank 3"},
        Edit{"GpuOutOfRange", "gpu id=\"2\"", "gpu id=\"3\"", Code::V05, "for 3 GPUs", "rank 3"},
        Edit{"GpuTwice", "gpu id=\"2\"", "gpu id=\"1\"", Code::V05, "second <gpu id=\"1\">",
             "rank 1"},
        Edit{"ThreadblockGap", "tb id=\"1\"", "tb id=\"2\"", Code::V05, "where 1 was expected",
             "rank 0, threadblock 2"},
        Edit{"ThreadblockTwice", "tb id=\"1\"", "tb id=\"0\"", Code::V05, "where 1 was expected",
             "rank 0, threadblock 0"},
        Edit{"TooManyChannels", "nchannels=\"1\"", "nchannels=\"33\"", Code::V06, "33 channels",
             "line 1"},
        Edit{"OwnPeer", "send=\"1\"", "send=\"0\"", Code::V07, "rank itself",
             "rank 0, threadblock 0"},
        Edit{"PeerOutOfRange", "send=\"1\"", "send=\"3\"", Code::V07, "3 ranks",
             "rank 0, threadblock 0"},
        Edit{"NoPeer", "send=\"1\"", "send=\"-1\"", Code::V07, "send=\"-1\"",
             "rank 0, threadblock 0, step 0"},
        Edit{"ChannelNotSetUp", "chan=\"0\"", "chan=\"1\"", Code::V07, "never set up",
             "rank 0, threadblock 0"},
        Edit{"BeyondTheBuffer", "srcoff=\"0\"", "srcoff=\"3\"", Code::V08, "beyond the 3 chunks",
             "rank 0, threadblock 0, step 0"},
        Edit{"MinusOneIsUsed", "srcoff=\"0\"", "srcoff=\"-1\"", Code::V08, "srcoff is -1",
             "rank 0, threadblock 0, step 0"},
        Edit{"DependencyOn8Bits", "depid=\"1\"", "depid=\"128\"", Code::V09, "127",
             "rank 0, threadblock 0, step 1"},
        Edit{"DependencyOnNobody", "depid=\"1\"", "depid=\"2\"", Code::V09, "2 threadblocks",
             "rank 0, threadblock 0, step 1"},
        Edit{"DependencyOnNoStep", "deps=\"0\"", "deps=\"2\"", Code::V09, "2 steps",
             "rank 0, threadblock 0, step 1"},
        Edit{"DependencyWithoutSignal", "hasdep=\"1\"", "hasdep=\"0\"", Code::V09, "never signals",
             "rank 0, threadblock 0, step 1"},
        Edit{"ChunksDoNotDivide", "nchunksperloop=\"3\"", "nchunksperloop=\"4\"", Code::V11,
             "multiple of the 3 ranks", "line 1"},
        Edit{"InputSize", "i_chunks=\"1\"", "i_chunks=\"2\"", Code::V11, "i_chunks is 2", "rank 0"},
        Edit{"OutputSize", "o_chunks=\"3\"", "o_chunks=\"4\"", Code::V11, "o_chunks is 4",
             "rank 0"},
        Edit{"ScratchBeyondReach", "s_chunks=\"0\"", "s_chunks=\"32839\"", Code::V11,
             "beyond chunk 32838", "rank 0"},
        Edit{"ScratchBeyond32Bits", "s_chunks=\"0\"", "s_chunks=\"4294967296\"", Code::V03,
             "s_chunks", "line 2"},
        Edit{"InputBeyond32Bits", "i_chunks=\"1\"", "i_chunks=\"4294967297\"", Code::V03,
             "i_chunks", "line 2"},
        Edit{"OutputBeyond32Bits", "o_chunks=\"3\"", "o_chunks=\"4294967299\"", Code::V03,
             "o_chunks", "line 2"},
        Edit{"ChunksBeyond32Bits", "nchunksperloop=\"3\"", "nchunksperloop=\"4294967299\"",
             Code::V03, "nchunksperloop", "line 1"},
        Edit{"ChannelsBeyond32Bits", "nchannels=\"1\"", "nchannels=\"4294967297\"", Code::V03,
             "nchannels", "line 1"},
        Edit{"GpusBeyond32Bits", "ngpus=\"3\"", "ngpus=\"4294967299\"", Code::V03, "ngpus",
             "line 1"},
        Edit{"BillionChunks", "nchunksperloop=\"3\"", "nchunksperloop=\"1000000000\"", Code::V08,
             "16 bits", "line 1"}),
    name_of);

Verdict check(const Algo& algo, const VerifyOptions& options = {}) {
  return check_text(to_xml(algo), options);
}

TEST(Structure, SharedConnection) {
  Algo algo = ring_allgather(3, 1, false, true);
  algo.gpus[0].tbs.push_back({1, -1, 0, {}});
  EXPECT_TRUE(finds(check(algo), Code::V07, "also used by threadblock 0", "rank 0, threadblock 2"));
}

TEST(Structure, ConnectionWithoutItsOtherEnd) {
  Algo sends = ring_allgather(3, 1, false, true);
  sends.gpus[0].tbs.push_back({2, -1, 0, {}});
  EXPECT_TRUE(finds(check(sends), Code::V12, "no threadblock of rank 2 has recv=\"0\" on channel 0",
                    "rank 0, threadblock 2"));
  Algo receives = ring_allgather(3, 1, false, true);
  receives.gpus[1].tbs.push_back({-1, 2, 0, {}});
  EXPECT_TRUE(finds(check(receives), Code::V12,
                    "no threadblock of rank 2 has send=\"1\" on channel 0",
                    "rank 1, threadblock 2"));
  sends.gpus[2].tbs.push_back({-1, 0, 0, {}});
  EXPECT_TRUE(check(sends).ok);
}

TEST(Structure, Nops) {
  Algo algo = star_allreduce(4, 1);
  Tb& sum = algo.gpus[0].tbs[3];
  ASSERT_EQ(sum.steps[0].type, "nop");
  const auto with = [&](const std::function<void(Tb&)>& edit) {
    Algo changed = algo;
    edit(changed.gpus[0].tbs[3]);
    return check(changed);
  };
  const std::string tb = "rank 0, threadblock 3";
  EXPECT_TRUE(finds(with([](Tb& t) { t.steps[0].depid = t.steps[0].deps = -1; }), Code::V10,
                    "waits for nothing", tb + ", step 0"));
  EXPECT_TRUE(finds(with([](Tb& t) { t.steps[2].depid = t.steps[2].deps = -1; }), Code::V10,
                    "waits for nothing itself", tb + ", step 0"));
  EXPECT_TRUE(finds(with([](Tb& t) { t.steps.push_back(t.steps[0]); }), Code::V10, "no other step",
                    tb + ", step 5"));
  Algo waits = algo;
  waits.gpus[0].tbs[4].steps[0].deps = 0;
  waits.gpus[0].tbs[3].steps[0].hasdep = 1;
  EXPECT_TRUE(finds(check(waits), Code::V09, "a nop, which never signals",
                    "rank 0, threadblock 4, step 0"));
}

TEST(Structure, FusedReductions) {
  Algo algo = star_allreduce(4, 2);
  algo.gpus[0].tbs[3].steps[3].cnt = 1;
  EXPECT_TRUE(finds(check(algo), Code::V08, "fuse the two", "rank 0, threadblock 3, step 3"));
  const Algo seventeen = star_allreduce(17, 1);
  EXPECT_TRUE(check(seventeen).ok);
  EXPECT_TRUE(finds(check(star_allreduce(18, 1)), Code::V06, "more than 16 re",
                    "rank 0, threadblock 17, step 32"));
}

TEST(Structure, LimitsOfThreadblocksAndSteps) {
  VerifyOptions small;
  small.sms = 1;
  EXPECT_TRUE(finds(check(ring_allgather(3, 1, false, true), small), Code::V06, "holds 1 at once"));
  Algo many = ring_allgather(3, 1, false, true);
  many.gpus[0].tbs.resize(65);
  EXPECT_TRUE(check(many).ok);
  VerifyOptions rccl;
  rccl.target = "rccl-6";
  EXPECT_TRUE(finds(check(many, rccl), Code::V06, "65 threadblocks", "rank 0"));
  Algo longest = ring_allgather(3, 1, false, true);
  auto& steps = longest.gpus[0].tbs[0].steps;
  while (steps.size() < 64) steps.push_back(copy('o', 0, 'o', 0, 1));
  EXPECT_TRUE(check(longest).ok);
  steps.push_back(steps.back());
  EXPECT_TRUE(finds(check(longest), Code::V06, "65 steps", "rank 0, threadblock 0"));
  Algo heavy = ring_allgather(3, 1, false, true);
  for (int t = 0; t < 70; ++t) {
    Tb tb{-1, -1, 0, {}};
    tb.steps.assign(60, copy('o', 0, 'o', 0, 1));
    heavy.gpus[1].tbs.push_back(tb);
  }
  EXPECT_TRUE(finds(check(heavy), Code::V06, "XML elements", "rank 1"));
  Algo star = star_allreduce(34, 1);  // 33 receiving threadblocks on one channel
  EXPECT_TRUE(finds(check(star), Code::V06, "33 threadblocks that receive on channel 0", "rank 0"));
}

TEST(Structure, NamesMatterToTheResearchRuntimeAlone) {
  VerifyOptions research;
  research.target = "msccl";
  const std::string nameless = replaced(good(), "name=\"test\" ", "");
  EXPECT_TRUE(check_text(nameless).ok);
  EXPECT_TRUE(finds(check_text(nameless, research), Code::V03, "name"));
  const std::string named = replaced(good(), "\"test\"", "\"" + std::string(64, 'n') + "\"");
  EXPECT_TRUE(finds(check_text(named, research), Code::V06, "64 characters"));
  EXPECT_TRUE(check_text(replaced(good(), " outofplace=\"0\"", ""), research).ok);
}

TEST(Structure, ThreadsOfTheResearchRuntimeAreWarps) {
  VerifyOptions research;
  research.target = "msccl";
  const auto with = [&](const char* threads) {
    return replaced(good(), "proto=", std::string("nthreads=\"") + threads + "\" proto=");
  };
  EXPECT_TRUE(check_text(with("512"), research).ok);
  EXPECT_TRUE(finds(check_text(with("500"), research), Code::V03, "multiple of 32"));
  EXPECT_TRUE(check_text(with("500")).ok);  // nobody else reads it
}

TEST(Findings, AreCappedAndCounted) {
  VerifyOptions options;
  options.max_findings = 3;
  std::string text = good();
  for (std::size_t at; (at = text.find("cnt=\"1\"")) != std::string::npos;) {
    text.replace(at, 7, "cnt=\"9\"");
  }
  const Verdict verdict = check_text(text, options);
  EXPECT_EQ(verdict.findings.size(), 3U);
  EXPECT_GT(verdict.finding_count, 10U);
  EXPECT_EQ(verdict.findings[0].file, "test.xml");
}

std::string error_of(const std::string& text) {
  const auto verdict = forestcoll::verify(text, "bad", nullptr, VerifyOptions{});
  if (verdict) return "accepted";
  EXPECT_EQ(verdict.errors()[0].code, Code::V01);
  return to_string(verdict.errors()[0]);
}

TEST(Unreadable, IsAnErrorWithThePlace) {
  EXPECT_NE(error_of("").find("empty"), std::string::npos);
  EXPECT_NE(error_of(" \n\n").find("empty"), std::string::npos);
  EXPECT_NE(error_of("\n hello").find("bad: 2:2: neither XML nor"), std::string::npos);
  EXPECT_NE(error_of("<tb/>").find("expected <algo>"), std::string::npos);
  const std::string text = good();
  for (const std::size_t length : {text.size() / 4, text.size() / 2, text.size() - 3}) {
    EXPECT_NE(error_of(text.substr(0, length)).find("not well-formed XML"), std::string::npos);
  }
  EXPECT_NE(error_of(text.substr(0, text.size() / 2)).find("bad: 1"), std::string::npos);
  EXPECT_NE(error_of(text + std::string(1, '\0')).find("zero byte"), std::string::npos);
  EXPECT_NE(error_of(std::string("<\x01\xff\xfe", 4)).find("not well-formed"), std::string::npos);
}

TEST(Unreadable, EveryTruncationIsRefusedOrJudged) {
  const std::string text = good();
  for (std::size_t length = 0; length < text.size() - 1; ++length) {
    const auto verdict = forestcoll::verify(text.substr(0, length), "x", nullptr, VerifyOptions{});
    EXPECT_FALSE(verdict && verdict->ok) << length;
  }
}

TEST(BoundsLong, AMillionStepsAreRefusedInWords) {
  Algo algo = ring_allgather(3, 1, false, true);
  algo.gpus[0].tbs[0].steps.resize(1'000'000, copy('o', 0, 'o', 0, 1));
  const std::string text = to_xml(algo);
  EXPECT_TRUE(
      finds(check_text(text), Code::V06, "1000000 <step> elements", "rank 0, threadblock 0"));
}

TEST(BoundsLong, AbsurdSizesAreRefusedInWords) {
  std::string elements = "<algo>";
  for (std::size_t i = 0; i < forestcoll::audit::kMaxFileElements; ++i) elements += "<a/>";
  EXPECT_NE(error_of(elements + "</algo>").find("more than 4200000 XML elements"),
            std::string::npos);
  std::string deep;
  for (int i = 0; i < 500'000; ++i) deep += "<algo>";
  EXPECT_NE(error_of(deep).find("not well-formed"), std::string::npos);
  EXPECT_TRUE(finds(check_text(replaced(good(), "ngpus=\"3\"", "ngpus=\"2000000000\"")), Code::V06,
                    "2000000000 GPUs"));
}

// More threadblocks, and more steps in one of them, than some targets hold.
TEST(Bounds, LargeSchedulesAreFollowed) {
  for (const int n : {32, 256}) {
    const int channels = n == 32 ? 16 : 1;
    const Algo algo = ring_allreduce(n, 1, channels, true);
    VerifyOptions options;
    const Verdict verdict = check(algo, options);
    for (const auto& f : verdict.findings) EXPECT_EQ(f.code, Code::V06) << to_string(f);
    EXPECT_EQ(verdict.ranks, n);
  }
}

}  // namespace
}  // namespace audit_test
