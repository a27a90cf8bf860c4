// What does not fit is refused, in words, by its own code, and quickly.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "forestcoll/codes.hpp"
#include "forestcoll/schedule.hpp"
#include "schedule/forests.hpp"
#include "schedule/msccl/messages.hpp"
#include "schedule/rules.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::HasSubstr;

// The one error that lowering ends with.
Diagnostic refused(const CollectiveForest& forest, const LowerOptions& options = {}) {
  const auto schedule = lower(forest, options);
  if (schedule) {
    ADD_FAILURE() << "was not refused";
    return {};
  }
  EXPECT_EQ(schedule.errors().size(), 1u);
  EXPECT_FALSE(schedule.errors().front().remedy.empty());
  return schedule.errors().front();
}

TEST(Limits, Threadblocks) {
  const Diagnostic error = refused(shaped(Collective::allgather, 8, 1, star), {"azure", 6});
  EXPECT_EQ(error.code, Code::T01);
  EXPECT_EQ(error.kind, ErrorKind::threadblocks);
  EXPECT_THAT(error.message, HasSubstr("needs at least 7 threadblocks"));
  EXPECT_THAT(error.message, HasSubstr("at most 6"));
  EXPECT_THAT(error.message, HasSubstr("azure takes 1024"));
  EXPECT_THAT(error.remedy, HasSubstr("7 others to send to")) << "no k helps";
  EXPECT_TRUE(lower(shaped(Collective::allgather, 8, 1, star), {"azure", 7}));
}

TEST(Limits, ThreadblocksOfInstances) {
  LowerOptions options{"azure", 10};
  options.instances = 2;
  const Diagnostic error = refused(shaped(Collective::allgather, 8, 1, star), options);
  EXPECT_EQ(error.code, Code::T01);
  EXPECT_THAT(error.remedy, HasSubstr("fewer `instances`"));
  EXPECT_EQ(error.remedy.find("others to send to"), std::string::npos);
}

TEST(Limits, NoThreadblocksAtAll) {
  EXPECT_EQ(refused(shaped(Collective::allgather, 2, 1, star), {"azure", 0}).code, Code::T01);
  EXPECT_EQ(refused(shaped(Collective::allgather, 2, 1, star), {"azure", -5}).code, Code::T01);
}

TEST(Limits, ThreadblocksOfTheTarget) {
  // 80 peers each way: too many for 64, whatever the GPU holds.
  const auto forest = shaped(Collective::allgather, 81, 1, star);
  EXPECT_EQ(refused(forest, {"rccl-6", 1000}).code, Code::T01);
  EXPECT_TRUE(lower(forest, {"rccl-5.7", 1000}));
}

// Threadblock numbers beyond 127 cannot be waited for.
TEST(Limits, ThreadblocksThatAreWaitedFor) {
  // Every rank receives from 138 others, and forwards what it has from the one before it: for rank
  // 0 that is the last of its receivers.
  const int n = 140;
  std::vector<ParentTree> trees;
  for (int root = 0; root < n; ++root) {
    trees.push_back(star(n, root));
    trees.back().parents[static_cast<std::size_t>((root + 2) % n)] = (root + 1) % n;
  }
  const Forest forest = make_forest(n, trees);
  const auto schedule =
      lower(collective_of(Collective::allgather, 1, forest, forest), {"azure", 1024});
  ASSERT_TRUE(schedule) << to_string(schedule.errors().front());
  EXPECT_GT(schedule->max_threadblocks(), 128);
  EXPECT_EQ(broken_rule(*schedule, *find_target("azure"), 1024), "");

  // A reduction to one root from 200 children is a chain through 199 threadblocks.
  const Diagnostic error = refused(shaped(Collective::reduce, 201, 1, star), {"azure", 1024});
  EXPECT_EQ(error.code, Code::T01);
  EXPECT_THAT(error.message, HasSubstr("199 threadblocks of rank 0"));
  EXPECT_THAT(error.message, HasSubstr("first 128"));
}

TEST(Limits, StepsOfOneMessage) {
  // One broadcast of 70 chunks after 70 reductions of one chunk each: 70 waits for one send.
  std::vector<ParentTree> reduce = {star(3, 1, 70), star(3, 2, 70)};
  for (int i = 0; i < 70; ++i) reduce.push_back(i % 2 == 0 ? path(3, 0) : star(3, 0));
  const Forest broadcast = make_forest(3, {star(3, 0, 70), star(3, 1, 70), star(3, 2, 70)});
  const auto forest = collective_of(Collective::allreduce, 70, make_forest(3, reduce), broadcast);
  LowerOptions whole;
  whole.threadblocks = ThreadblockUse::merge;  // which cuts no tree into parts
  const Diagnostic error = refused(forest, whole);
  EXPECT_EQ(error.code, Code::T02);
  EXPECT_EQ(error.kind, info_of(*error.code).kind);
  EXPECT_THAT(error.message, HasSubstr("70 steps"));
  EXPECT_THAT(error.message, HasSubstr("at most 64"));
  EXPECT_TRUE(lower(forest, {"msccl", 108})) << "takes 256 steps";
}

TEST(Limits, StepsForceMoreChannels) {
  std::vector<ParentTree> trees;
  for (int i = 0; i < 200; ++i) {
    trees.push_back(path(2, 0));
    trees.push_back(path(2, 1));
  }
  const Forest forest = make_forest(2, trees);
  const auto gather = collective_of(Collective::allgather, 200, forest, forest);
  const auto schedule = lower(gather, {"azure", 8});
  ASSERT_TRUE(schedule);
  EXPECT_EQ(schedule->channels, 4);
  EXPECT_LE(schedule->max_steps(), 64);
  EXPECT_EQ(broken_rule(*schedule, *find_target("azure"), 8), "");
  // 4 channels of 50 steps each way cannot share threadblocks of 64 steps.
  EXPECT_EQ(refused(gather, {"azure", 7}).code, Code::T01);
}

TEST(Limits, Channels) {
  // More than 32 channels of 64 steps on one connection: 2,049 messages, of which those that are
  // passed on must stay as they are.
  std::vector<ParentTree> trees(2049, path(3, 0));
  const Forest forest = make_forest(3, trees);
  const auto broadcast = collective_of(Collective::broadcast, 2049, forest, forest);
  const Diagnostic error = refused(broadcast, {"azure", 1024});
  EXPECT_EQ(error.code, Code::T03);
  EXPECT_EQ(error.kind, info_of(*error.code).kind);
  EXPECT_THAT(error.message, HasSubstr("2049 messages from rank 0 to rank 1"));
  EXPECT_THAT(error.message, HasSubstr("the 32 that azure has"));
}

TEST(Limits, ManyPeersTakeSeveralChannels) {
  const auto schedule = lower(shaped(Collective::broadcast, 100, 1, star), {"azure", 108});
  ASSERT_TRUE(schedule);
  EXPECT_EQ(schedule->channels, 4);  // 99 senders, 32 on each channel
  EXPECT_EQ(broken_rule(*schedule, *find_target("azure"), 108), "");
}

TEST(Limits, Chunks) {
  const auto fits = shaped(Collective::allgather, 2, 16384, path);
  EXPECT_TRUE(lower(fits, {"azure", 108}));
  const Diagnostic error = refused(shaped(Collective::allgather, 2, 16385, path));
  EXPECT_EQ(error.code, Code::T04);
  EXPECT_EQ(error.kind, info_of(*error.code).kind);
  EXPECT_THAT(error.message, HasSubstr("2 × 16385"));
  EXPECT_THAT(error.message, HasSubstr("32768"));
  EXPECT_THAT(error.remedy, HasSubstr("`k=16384`"));
  EXPECT_EQ(refused(shaped(Collective::reduce, 2, std::int64_t{1} << 60, path)).code, Code::T04);
}

TEST(Limits, Elements) {
  std::vector<ParentTree> trees;
  for (int i = 0; i < 2100; ++i) {
    trees.push_back(path(2, 0));
    trees.push_back(path(2, 1));
  }
  const Forest forest = make_forest(2, trees);
  LowerOptions options;
  options.forward = false;
  const auto gather = collective_of(Collective::allgather, 2100, forest, forest);
  const Diagnostic error = refused(gather, options);
  EXPECT_EQ(error.code, Code::T05);
  EXPECT_EQ(error.kind, info_of(*error.code).kind);
  EXPECT_THAT(error.message, HasSubstr("4203 XML elements"));
  EXPECT_THAT(error.message, HasSubstr("4095"));
}

// More channels would help, but each threadblock is an element as well.
TEST(Limits, ElementsLimitTheSpreading) {
  std::vector<ParentTree> trees;
  for (int i = 0; i < 3000; ++i) trees.push_back(star(3, i % 3));
  const Forest forest = make_forest(3, trees);
  const auto schedule =
      lower(collective_of(Collective::allgather, 1000, forest, forest), {"azure", 1024});
  ASSERT_TRUE(schedule) << to_string(schedule.errors().front());
  EXPECT_EQ(broken_rule(*schedule, *find_target("azure"), 1024), "");
  // 1 + 3 + 4,000 steps leave 91 of the 4,095; 4 connections of 32 channels would be 128.
  EXPECT_GT(schedule->max_threadblocks(), 64);
  EXPECT_LE(schedule->max_threadblocks(), 91);
}

// The mean fits, one rank does not: only the finished program shows it.
TEST(Limits, ElementsOfOneRank) {
  const int n = 64, k = 140;
  std::vector<ParentTree> trees;
  // No two that follow one another share many edges, which would then be one message.
  for (int i = 0; i < k; ++i) trees.push_back(i % 2 == 0 ? star(n, 0) : path(n, 0));
  const Forest forest = make_forest(n, trees);
  const Diagnostic error =
      refused(collective_of(Collective::broadcast, k, forest, forest), {"azure", 1024});
  EXPECT_EQ(error.code, Code::T05);
  EXPECT_THAT(error.message, HasSubstr("rank 0 would load"));
}

TEST(Limits, Gpus) {
  const Diagnostic error = refused(shaped(Collective::broadcast, 1025, 1, star));
  EXPECT_EQ(error.code, Code::T05);
  EXPECT_THAT(error.message, HasSubstr("1025 GPUs"));
}

TEST(Limits, OfElementsWhatIsAdvisedIsWhatHelps) {
  const int n = 1024;
  std::vector<ParentTree> trees;
  for (int r = 0; r < n; ++r) trees.push_back(star(n, r));
  const Forest forest = make_forest(n, trees);
  const auto allreduce = collective_of(Collective::allreduce, 1, forest, forest);
  LowerOptions options{"azure", 1024};
  options.forward = false;
  const Diagnostic error = refused(allreduce, options);
  EXPECT_EQ(error.code, Code::T05);
  EXPECT_THAT(error.remedy, HasSubstr("take fewer of them")) << "no k is smaller";
  options.instances = 2;
  EXPECT_THAT(refused(allreduce, options).remedy, HasSubstr("fewer `instances`"));
}

TEST(Limits, RefusesTheHugeQuickly) {
  const int n = 1024;
  std::vector<ParentTree> trees;
  for (int r = 0; r < n; ++r) {
    for (int i = 0; i < 2; ++i) trees.push_back(star(n, r));
  }
  const Forest forest = make_forest(n, trees);
  const auto allreduce = collective_of(Collective::allreduce, 2, forest, forest);
  const auto start = std::chrono::steady_clock::now();
  const Diagnostic error = refused(allreduce);
  EXPECT_EQ(error.code, Code::T05);
  EXPECT_THAT(error.remedy, HasSubstr("smaller `k`"));
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(seconds.count(), 0.5);
}

TEST(Limits, PlacementsOfOneFile) {
  for (const Collective collective : all_collectives()) {
    const auto forest = shaped(collective, 4, 1, binary);
    LowerOptions options{"msccl", 64};
    options.placement = Placement::both;
    const Diagnostic error = refused(forest, options);
    EXPECT_EQ(error.code, Code::T06);
    EXPECT_EQ(error.kind, info_of(*error.code).kind);
    EXPECT_THAT(error.message, HasSubstr("msccl"));
    options.target = "azure";
    EXPECT_TRUE(lower(forest, options));
  }
}

TEST(Limits, InstancesCountAsChunks) {
  LowerOptions options;
  options.instances = 4;
  const auto forest = shaped(Collective::allgather, 2, 4097, path);
  EXPECT_TRUE(lower(forest, LowerOptions()));
  const Diagnostic error = refused(forest, options);
  EXPECT_EQ(error.code, Code::T04);
  EXPECT_THAT(error.message, HasSubstr("in 4 instances"));
  EXPECT_THAT(error.remedy, HasSubstr("`k=4096`"));
  options.instances = 40000;
  EXPECT_THAT(refused(shaped(Collective::allgather, 2, 1, path), options).remedy,
              HasSubstr("fewer `instances`"));
}

TEST(Limits, OneThreadblockPerEdge) {
  LowerOptions options{"azure", 13};
  options.threadblocks = ThreadblockUse::per_tree;
  const Diagnostic error = refused(shaped(Collective::allgather, 8, 1, star), options);
  EXPECT_EQ(error.code, Code::T01);
  EXPECT_THAT(error.message, HasSubstr("needs 14 threadblocks with one for every edge"));
  EXPECT_THAT(error.remedy, HasSubstr("`threadblocks=merge`"));
}

TEST(Limits, OneChannelPerTree) {
  LowerOptions options{"azure", 108};
  options.threadblocks = ThreadblockUse::per_tree;
  const Forest forest = make_forest(2, std::vector<ParentTree>(33, path(2, 0)));
  const Diagnostic error =
      refused(collective_of(Collective::broadcast, 33, forest, forest), options);
  EXPECT_EQ(error.code, Code::T03);
  EXPECT_THAT(error.message, HasSubstr("join rank 0 to rank 1 need a channel each"));
  EXPECT_THAT(error.remedy, HasSubstr("`threadblocks=merge`"));
}

// A copy that fits in no threadblock needs one more.
TEST(Limits, ACopyThatHasNoRoom) {
  std::vector<ParentTree> trees(64, path(2, 0));
  trees.resize(128, path(2, 1));
  const Forest forest = make_forest(2, trees);
  LowerOptions options{"azure", 2};
  const auto gather = collective_of(Collective::allgather, 64, forest, forest);
  EXPECT_TRUE(lower(gather, options));
  options.placement = Placement::out_of_place;
  const Diagnostic error = refused(gather, options);
  EXPECT_EQ(error.code, Code::T01);
  EXPECT_THAT(error.message, HasSubstr("one of them to copy its own data"));
  options.max_threadblocks = 3;
  EXPECT_TRUE(lower(gather, options));
}

TEST(Limits, UnknownTarget) {
  const Diagnostic error = refused(shaped(Collective::allgather, 2, 1, star), {"nccl", 108});
  EXPECT_EQ(error.code, Code::T07);
  EXPECT_EQ(error.kind, ErrorKind::input);
  EXPECT_THAT(error.message, HasSubstr("\"nccl\""));
  EXPECT_THAT(error.remedy, HasSubstr("azure, rccl-5.7, rccl-6, rccl-6.2, rccl-6.3, msccl"));
}

// Counts as the collective's interface has them, and as the whole buffer has them.
TEST(Targets, SelectCountsByTheWholeBufferOrByAPart) {
  const auto counts = [](const char* target, Collective collective) {
    const TargetLimits& limits = *find_target(target);
    return std::pair(limits.selected_counts(collective, 96, 12),
                     limits.selected_elements(collective, 96, 12));
  };
  for (const auto collective : {Collective::allgather, Collective::reduce_scatter}) {
    for (const char* target : {"azure", "rccl-6.3", "msccl"}) {
      EXPECT_EQ(counts(target, collective), std::pair(8L, 96L)) << target;
    }
    for (const char* target : {"rccl-5.7", "rccl-6", "rccl-6.2"}) {
      EXPECT_EQ(counts(target, collective), std::pair(96L, 1152L)) << target;
    }
  }
  EXPECT_EQ(counts("rccl-6", Collective::allreduce), std::pair(96L, 96L));
  EXPECT_EQ(find_target("azure")->selected_counts(Collective::allgather, 10, 4), 5);
}

TEST(Targets, AreFoundByName) {
  ASSERT_NE(find_target("azure"), nullptr);
  EXPECT_EQ(find_target("azure")->max_threadblocks, 1024);
  EXPECT_EQ(find_target("rccl-6")->max_threadblocks, 64);
  EXPECT_EQ(find_target("rccl-6.3")->max_threadblocks, 64);
  EXPECT_EQ(find_target("msccl")->max_steps, 256);
  EXPECT_EQ(find_target(""), nullptr);
  EXPECT_EQ(find_target("Azure"), nullptr);
}

}  // namespace
}  // namespace forestcoll::testing
