// Rules of tuner plugins: what the plugins would make of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "forestcoll/codes.hpp"
#include "forestcoll/verify.hpp"
#include "support/valid.hpp"

namespace forestcoll {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

Verdict judged(const std::string& text) {
  return test::valid(verify(text, "rules", nullptr, {}));
}

// What NCCL ships as an example: all ten columns, some of them, comments and empty lines.
TEST(TunerFile, TakesWhatThePluginDocuments) {
  const Verdict verdict = judged(
      "# comment\n\nallreduce,0,65536,tree,simple,2,1,-1,-1,1\n"
      "allreduce, 65537, 4294967295, ring, ll128, -1, -1, -1, 4\n"
      "allgather,0,4294967295,nvls,simple,4,2,-1\n");
  EXPECT_TRUE(verdict.ok) << to_string(verdict.findings.front());
  EXPECT_EQ(verdict.format, "nccl-tuner");
  EXPECT_EQ(verdict.collective_name, "allreduce, allgather");
  EXPECT_EQ(verdict.chunks, 3);
  EXPECT_THAT(verdict.outcome, HasSubstr("no row for broadcast, reduce, reducescatter"));
  EXPECT_THAT(verdict.outcome, HasSubstr("channels -1 is one channel"));
}

TEST(TunerFile, TakesIntervalsOfNcclx) {
  const Verdict verdict = judged(
      "allgather,[8388608,16777216],ring,ll128,-1,*,*\n"
      "allreduce,(1,),ring,ll128,4,2,8,65536\nreduce,*,ring,ll,1,[2,),(,9)\n"
      "  # allreduce\nbroadcast,,ring,ll,,,,0\n");
  EXPECT_TRUE(verdict.ok) << to_string(verdict.findings.front());
  EXPECT_EQ(verdict.format, "ncclx-tuner");
  EXPECT_EQ(verdict.chunks, 4);
  EXPECT_THAT(verdict.outcome, HasSubstr("8 ranks per node on 2 nodes"));
}

struct WrongRow {
  const char* row;
  Code code;
  const char* words;
};

class WrongRows : public ::testing::TestWithParam<WrongRow> {};

TEST_P(WrongRows, AreFound) {
  const auto& [row, code, words] = GetParam();
  const Verdict verdict = judged(std::string("allreduce,0,1,ring,ll,1,-1,-1\n") + row + "\n");
  EXPECT_FALSE(verdict.ok) << row;
  ASSERT_EQ(verdict.findings.size(), 1U);
  EXPECT_EQ(verdict.findings.front().code, code);
  EXPECT_THAT(verdict.findings.front().message, HasSubstr(words));
  EXPECT_EQ(verdict.findings.front().where, "line 2");
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongRows,
    ::testing::Values(
        WrongRow{"allreduce,0,1,ring,ll,1,-1", Code::V03, "7 columns"},
        WrongRow{"allreduce,0,1,ring,ll,1,-1,-1,-1,-1,0", Code::V03, "11 columns"},
        WrongRow{"AllReduce,0,1,ring,ll,1,-1,-1", Code::V04, "takes it for allreduce"},
        WrongRow{"allreduce,0,1,rings,ll,1,-1,-1", Code::V04, "takes it for ring"},
        WrongRow{"allreduce,0,1,ring,LL,1,-1,-1", Code::V04, "takes it for simple"},
        WrongRow{"allreduce,0,64K,ring,ll,1,-1,-1", Code::V03, "64K"},
        WrongRow{"allreduce,-1,1,ring,ll,1,-1,-1", Code::V03, "-1"},
        WrongRow{"allreduce,2,1,ring,ll,1,-1,-1", Code::V19, "fits no call"},
        WrongRow{"allreduce,0,1,ring,ll,-2,-1,-1", Code::V03, "channels"},
        WrongRow{" # allreduce,0,1,ring,ll,1,-1,-1", Code::V04, "takes it for allreduce"},
        WrongRow{"allreduce,0,1,ring,ll,99999999999,-1,-1", Code::V03, "channels"},
        WrongRow{"allreduce,0,1,ring,ll,1,0,-1", Code::V03, "nodes"},
        WrongRow{"allreduce,0,1,ring,ll,1,-1,x", Code::V03, "ranks"},
        WrongRow{"allreduce,0,1,ring,ll,1,-1,-1,0", Code::V03, "numPipeOps"},
        WrongRow{"allreduce,0,1,ring,ll,1,-1,-1,-1,-2", Code::V03, "regBuff"},
        WrongRow{"broadcast,0,1,tree,ll,1,-1,-1", Code::V19, "no tree for broadcast"},
        WrongRow{"allreduce,0,1,pat,simple,1,-1,-1", Code::V19, "no pat for allreduce"},
        WrongRow{"allreduce,0,1,nvls,ll,1,-1,-1", Code::V19, "in simple alone"}));

TEST(TunerFile, LongLinesAreRead) {
  const std::string row = "allreduce,0,1,ring,ll,1,-1,-1" + std::string(300, ' ');
  EXPECT_EQ(judged("allreduce,0,1,ring,ll,1,-1,-1\n" + row + "\n").findings.front().code,
            Code::V02);
}

TEST(TunerFile, WrongIntervals) {
  for (const char* interval :
       {"[2,1]", "(1,1)", "[a,2]", "[1;2]", "[1,2", "(,0)", "-1", "[0,9223372036854775808]"}) {
    const Verdict verdict = judged("allgather,*,ring,ll,1,*,*\nallgather," + std::string(interval) +
                                   ",ring,ll,1,*,*\n");
    EXPECT_FALSE(verdict.ok) << interval;
  }
}

// Communicators fail to start with the first two.
TEST(TunerFile, WrongRowsOfNcclx) {
  for (const char* row :
       {"allreduce,*,ring,ll,1,*,*,-1", "allreduce,*,ring,ll,1,*", "allreduce,*,ring,ll,1,*,*,0,0",
        "allreduce,*,ring,ll,-2,*,*", "allreduce,*,ring,ll,1,-1,*"}) {
    const Verdict verdict = judged("allgather,*,ring,ll,1,*,*\n" + std::string(row) + "\n");
    EXPECT_FALSE(verdict.ok) << row;
  }
}

// 0 is the library's own number.
TEST(TunerFile, ChannelsMayBeLeftToTheLibrary) {
  const Verdict verdict = judged("allreduce,0,1,ring,ll,0,-1,-1\n");
  EXPECT_TRUE(verdict.ok);
  EXPECT_THAT(verdict.outcome, Not(HasSubstr("one channel with")));
}

TEST(TunerFile, OtherTextsAreNone) {
  for (const char* text : {"# nothing\n", "a,b\n", "allreduce\n", "src,dst,bandwidth\na,b,1\n"}) {
    EXPECT_FALSE(verify(text, "rules", nullptr, {})) << text;
  }
}

}  // namespace
}  // namespace forestcoll
