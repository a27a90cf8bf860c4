// `forestcoll batch` when things go wrong: crashes, limits, signals, full disks, two at once.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/batch.hpp"
#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::Pair;

// Two that are made at once, and between them one that waits for ever.
class BatchWithOneThatHangsLong : public ::testing::Test {
 protected:
  BatchWithOneThatHangsLong() {
    batch_.add("a.json", pair_topology("10"));
    batch_.add("hang.json", small_topology());  // dearer, hence first
    batch_.add("z.json", pair_topology("20"));
    batch_.block("hang.json/allreduce.xml");
  }
  [[nodiscard]] bool others_are_made() const {
    return fs::exists(batch_.out() + "/a.json/.allreduce.xml.batch") &&
           fs::exists(batch_.out() + "/z.json/.allreduce.xml.batch");
  }
  void expect_only_that_failed(const std::string& code) const {
    EXPECT_THAT(batch_.statuses(),
                ElementsAre(Pair("a.json allreduce", "ok"), Pair("hang.json allreduce", "failed"),
                            Pair("z.json allreduce", "ok")));
    EXPECT_EQ(batch_.report()["items"][1]["error"]["code"], code);
  }
  // Once the pipe is gone, the next run makes what is missing, and no more.
  void expect_the_next_run_completes() const {
    batch_.unblock("hang.json/allreduce.xml");
    const auto next = batch_.run();
    EXPECT_EQ(next.code, 0) << next.err;
    EXPECT_THAT(next.err, HasSubstr("3 items: 1 made, 2 reused"));
  }
  BatchDirectories batch_;
};

TEST_F(BatchWithOneThatHangsLong, TimeLimitEndsItAlone) {
  const auto result = batch_.run({"--time-limit", "1.5", "-j", "2"});
  EXPECT_EQ(result.code, 1);
  EXPECT_THAT(result.err, HasSubstr("not done after 1.5 s, the time limit [J02]"));
  expect_only_that_failed("J02");
  expect_the_next_run_completes();
}

TEST_F(BatchWithOneThatHangsLong, MemoryLimitEndsIt) {
  fs::remove(batch_.in() + "/a.json");
  fs::remove(batch_.in() + "/z.json");
  EXPECT_EQ(batch_.run({"--memory", "1M"}).code, 1);
  EXPECT_EQ(batch_.report()["items"][0]["error"]["code"], "J03");
}

TEST_F(BatchWithOneThatHangsLong, AChildThatIsKilledOrCrashesFailsAlone) {
  for (const auto& [number, code] : {std::pair(SIGKILL, "J03"), std::pair(SIGSEGV, "J04")}) {
    fs::remove_all(batch_.out() + "/a.json");
    fs::remove_all(batch_.out() + "/z.json");
    Background running(batch_.words({"-j", "2"}), batch_ / "err");
    ASSERT_TRUE(eventually([&] { return others_are_made() && running.children().size() == 1; }));
    kill(running.children().front(), number);
    EXPECT_EQ(running.wait(), 1);
    expect_only_that_failed(code);
  }
  EXPECT_THAT(read_file(batch_ / "err"),
              AnyOf(HasSubstr("crashed by signal 11 (SEGV)"), HasSubstr("ABORTING")));
}

TEST_F(BatchWithOneThatHangsLong, StoppedOnDemandItReportsWhatIsDone) {
  for (const int number : {SIGINT, SIGTERM}) {
    Background running(batch_.words({"-j", "1", "--force", "--exclude", "a.json"}), batch_ / "err");
    const auto children = running.wait_for_children();
    ASSERT_TRUE(eventually([&] {  // the one that hangs, no more the look at the files
      return running.children().size() == 1 && fs::exists(batch_.out() + "/.forestcoll-batch.lock");
    }));
    usleep(200'000);
    EXPECT_EQ(running.end(number), 128 + number);
    EXPECT_THAT(batch_.statuses(), ElementsAre(Pair("hang.json allreduce", "skipped"),
                                               Pair("z.json allreduce", "skipped")));
    EXPECT_THAT(read_file(batch_ / "err"), HasSubstr("stopped on demand"));
  }
  batch_.unblock("hang.json/allreduce.xml");
  EXPECT_EQ(batch_.run().code, 0);
}

// Threads cannot be abandoned: the first signal waits for what runs, and says so.
TEST_F(BatchWithOneThatHangsLong, AskedTwiceThreadsEndAtOnce) {
  for (const auto& [first, second] : {std::pair(SIGINT, SIGINT), std::pair(SIGINT, SIGTERM),
                                      std::pair(SIGTERM, SIGTERM), std::pair(SIGHUP, SIGINT)}) {
    fs::remove_all(batch_.out() + "/a.json");
    Background running(batch_.words({"--in-process", "-j", "2", "--exclude", "z.json"}),
                       batch_ / "err");
    // The one that hangs is dearer: where this one has begun, that one has.
    ASSERT_TRUE(eventually([&] { return fs::exists(batch_.out() + "/a.json"); }));
    kill(running.pid(), first);
    ASSERT_TRUE(eventually([&] {
      return read_file(batch_ / "err").find("to end; asked again, ends at once") !=
             std::string::npos;
    }));
    EXPECT_EQ(kill(running.pid(), 0), 0) << "the first one waits";
    kill(running.pid(), second);
    EXPECT_EQ(running.wait_at_most_seconds(5), 128 + second);
    EXPECT_THAT(read_file(batch_ / "err"), HasSubstr("waiting for "));
  }
}

// The next item does not begin; what is done is reported.
TEST(BatchFailureLong, AskedOnceThreadsFinishWhatTheyBegan) {
  const BatchDirectories batch;
  constexpr int kItems = 60;
  for (int i = 10; i < 10 + kItems; ++i) {
    batch.add(std::to_string(i) + ".json", read_file(topology("dgx-a100-x2")));
  }
  Background running(batch.words({"--in-process", "-j", "1"}), batch / "err");
  ASSERT_TRUE(eventually([&] { return fs::exists(batch.out() + "/10.json"); }));
  EXPECT_EQ(running.end(SIGINT), 130);
  EXPECT_THAT(read_file(batch / "err"), HasSubstr("stopped on demand"));
  const auto counts = batch.report()["counts"];
  EXPECT_GE(counts["ok"], 1) << "what had begun";
  EXPECT_GE(counts["skipped"], 1);
  EXPECT_EQ(counts["failed"], 0);
}

TEST_F(BatchWithOneThatHangsLong, KilledItLeavesNoChildAndTheNextRunCompletes) {
  Background running(batch_.words({"-j", "2"}), batch_ / "err");
  ASSERT_TRUE(eventually([&] { return others_are_made() && running.children().size() == 1; }));
  const pid_t child = running.children().front();
  const pid_t parent = running.pid();
  EXPECT_EQ(running.end(SIGKILL), 128 + SIGKILL);
  EXPECT_TRUE(eventually([&] { return kill(child, 0) != 0; })) << "the child goes as well";
  std::ofstream(batch_.out() + "/hang.json/.forestcoll-a1B2c3") << "half";
  batch_.unblock("hang.json/allreduce.xml");
  const auto next = batch_.run();
  EXPECT_EQ(next.code, 0);
  EXPECT_THAT(next.err,
              AllOf(HasSubstr("process " + std::to_string(parent)), HasSubstr("ended early here"),
                    HasSubstr("3 items: 1 made, 2 reused")));
  EXPECT_FALSE(fs::exists(batch_.out() + "/hang.json/.forestcoll-a1B2c3"));
  EXPECT_THAT(batch_.run().err, Not(HasSubstr("ended early")));
}

TEST_F(BatchWithOneThatHangsLong, OneBatchAtATime) {
  Background running(batch_.words({"-j", "2"}), batch_ / "err");
  ASSERT_TRUE(eventually([&] { return others_are_made(); }));
  for (const std::vector<std::string>& more : {std::vector<std::string>(), {"--shard", "1/2"}}) {
    const auto second = batch_.run(more);
    EXPECT_EQ(second.code, 4);
    EXPECT_THAT(second.err, AllOf(HasSubstr("another batch works here: process " +
                                            std::to_string(running.pid()) + " on "),
                                  HasSubstr("[J05]")));
  }
  EXPECT_EQ(running.end(SIGTERM), 143);
  EXPECT_EQ(batch_.run({"--exclude", "hang.json"}).code, 0);
}

TEST_F(BatchWithOneThatHangsLong, ShardsAreThereSideBySideButEachOnce) {
  Background running(batch_.words({"--shard", "1/2"}), batch_ / "err");  // the dearest item
  (void)running.wait_for_children();
  ASSERT_TRUE(
      eventually([&] { return fs::exists(batch_.out() + "/.forestcoll-batch.1-of-2.lock"); }));
  const auto other = batch_.run({"--shard", "2/2"});
  EXPECT_EQ(other.code, 0) << other.err;
  EXPECT_EQ(batch_.run({"--shard", "1/2"}).code, 4);
  const auto whole = batch_.run();
  EXPECT_EQ(whole.code, 4);
  EXPECT_THAT(whole.err, HasSubstr("another batch works here: shards of one"));
}

TEST_F(BatchWithOneThatHangsLong, FailFastStopsTheOthers) {
  batch_.add("broken.json", "{");
  const auto result = batch_.run({"--fail-fast"});
  EXPECT_EQ(result.code, 1);
  EXPECT_EQ(batch_.report()["counts"]["failed"], 1);
  EXPECT_EQ(batch_.report()["counts"]["skipped"], 3);
  // An item that fails while the one that hangs is running.
  fs::remove(batch_.in() + "/broken.json");
  fs::create_directories(batch_.out() + "/z.json/allreduce.xml");
  const auto later = batch_.run({"--fail-fast", "-j", "2"});
  EXPECT_EQ(later.code, 1);
  EXPECT_EQ(batch_.statuses()["z.json allreduce"], "failed");
  EXPECT_EQ(batch_.statuses()["hang.json allreduce"], "skipped");
}

TEST(BatchFailureLong, AFullDiskLeavesNothingHalf) {
  const BatchDirectories batch;
  batch.add("large.json", read_file(topology("dgx-a100-x1")));
  batch.add("small.json", pair_topology("10"));
  const auto full = [] {
    const rlimit limit = {8192, 8192};
    setrlimit(RLIMIT_FSIZE, &limit);
  };
  EXPECT_EQ(batch.run({}, {.before_exec = full}).code, 1);
  EXPECT_THAT(batch.statuses(), ElementsAre(Pair("large.json allreduce", "failed"),
                                            Pair("small.json allreduce", "ok")));
  EXPECT_EQ(batch.report()["items"][0]["error"]["code"], "IO");
  EXPECT_EQ(files_below(batch.out(), true).count("large.json/.allreduce.xml.batch"), 0);
  EXPECT_EQ(files_below(batch.out(), true).size(), 2) << "an output and its record";
  EXPECT_EQ(batch.run().code, 0);
  EXPECT_EQ(batch.report()["counts"]["cached"], 1);
}

// Without room for a heap of their own, threads would fetch every piece of memory as a new page.
TEST(BatchFailureLong, ThreadsShareHeapsWhereAddressSpaceIsShort) {
  const BatchDirectories batch;
  for (const char* name : {"a.json", "b.json"}) {
    batch.add(name, read_file(topology("dgx-a100-x1")));
  }
  const auto new_pages = [&](const RunOptions& options) {
    rusage before = {}, after = {};
    getrusage(RUSAGE_CHILDREN, &before);
    EXPECT_EQ(batch.run({"--in-process", "--force"}, options).code, 0);
    getrusage(RUSAGE_CHILDREN, &after);
    return after.ru_minflt - before.ru_minflt;
  };
  const auto usual = new_pages({});
  constexpr rlim_t kMegabyte = rlim_t{1} << 20;
  EXPECT_LT(new_pages(with_address_space(150 * kMegabyte)), 2 * usual);
}

TEST(BatchFailureLong, WhereNothingCanBeWrittenOneItemFails) {
  const BatchDirectories batch;
  batch.add("a.json", pair_topology("10"));
  batch.add("b.json", pair_topology("10"));
  fs::create_directories(batch.out());
  std::ofstream(batch.out() + "/a.json") << "in the way";
  EXPECT_EQ(batch.run().code, 1);
  EXPECT_THAT(batch.statuses(),
              ElementsAre(Pair("a.json allreduce", "failed"), Pair("b.json allreduce", "ok")));
  EXPECT_EQ(batch.items()[0]["error"]["code"], "IO");
  EXPECT_THAT(batch.items()[0]["error"]["message"].get<std::string>(),
              HasSubstr("cannot make the directory"));
}

TEST(BatchFailureLong, AReportThatCannotBeWrittenIsAnError) {
  const BatchDirectories batch;
  batch.add("a.json", pair_topology("10"));
  fs::create_directories(batch.out() + "/report.json");
  const auto result = batch.run();
  EXPECT_EQ(result.code, 4);
  EXPECT_THAT(result.err, HasSubstr("report.json: cannot write"));
}

TEST(BatchFailureLong, WhatDoesNotFitTheTargetIsAFailureOfItsOwn) {
  const BatchDirectories batch;
  batch.add("a.json", read_file(topology("torus-8x8x8")));
  batch.add("b.json", small_topology());
  EXPECT_EQ(batch.run({"-k", "16"}).code, 1);
  EXPECT_EQ(batch.items()[0]["error"]["code"], "T05");
  EXPECT_EQ(batch.items()[1]["status"], "ok");
}

}  // namespace
}  // namespace forestcoll::testing
