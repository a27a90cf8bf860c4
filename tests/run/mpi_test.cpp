// Schedules on real buffers, under mpirun.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "audit/plan/shared_builders.hpp"
#include "run/mpirun.hpp"
#include "support/alltoall.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

CompileOptions options_for(Collective collective) {
  CompileOptions options;
  options.synthesis.collective = collective;
  if (is_rooted(collective)) options.synthesis.root = Rank(3);
  return options;
}

using Schedules = std::vector<std::pair<std::string, std::string>>;

// Each of them has `rows` rows, and nothing in them is wrong.
void expect_right(int ranks, const Schedules& schedules, const std::vector<std::string>& arguments,
                  int rows) {
  const Result run = mpirun(ranks, schedules, arguments);
  EXPECT_EQ(run.code, 0) << run.err;
  EXPECT_EQ(rows_of(run.out).all, rows * static_cast<int>(schedules.size())) << run.out;
  EXPECT_EQ(rows_of(run.out).wrong, 0) << run.out;
  std::size_t right = 0;
  for (std::size_t at = 0; (at = run.out.find("Out of bounds values : 0 OK", at)) != run.out.npos;
       ++at) {
    ++right;
  }
  EXPECT_EQ(right, schedules.size()) << run.out;
}

TEST(RunProgram, EveryCollectiveIsRightInEveryElement) {
  Schedules schedules;
  for (const Collective collective :
       {Collective::allgather, Collective::reduce_scatter, Collective::allreduce,
        Collective::broadcast, Collective::reduce}) {
    schedules.emplace_back(to_string(collective),
                           schedule_of("dgx-a100-x1", options_for(collective)));
  }
  expect_right(
      8, schedules,
      {"-b", "16K", "-e", "1M", "-f", "64", "-n", "1", "-w", "1", "-c", "2", "--buffsize", "32K"},
      2);
}

TEST(RunProgram, UnequalSharesAreRightInEveryElement) {
  Schedules schedules;
  for (const Collective collective : {Collective::allgather, Collective::reduce_scatter}) {
    for (const Format format : {Format::msccl, Format::mscclpp}) {
      for (const Placement placement : {Placement::in_place, Placement::out_of_place}) {
        CompileOptions options = options_for(collective);
        options.format = format;
        options.lowering.placement = placement;
        schedules.emplace_back(fmt::format("{}{}{}", to_string(collective),
                                           static_cast<int>(format), static_cast<int>(placement)),
                               schedule_of("dgx-a100-x1", {3, 1, 1, 2, 1, 1, 1, 2}, options));
      }
    }
  }
  expect_right(8, schedules,
               {"-b", "96K", "-e", "1M", "-f", "10", "-n", "1", "-w", "1", "-c", "2", "--vs-mpi"},
               2);
}

TEST(RunProgram, EveryTypeAndOperation) {
  const std::string schedule = schedule_of("dgx-a100-x1", options_for(Collective::allreduce));
  const Result run =
      mpirun(8, schedule, {"-b", "4K", "-d", "all", "-o", "all", "-n", "1", "-w", "0"});
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  EXPECT_EQ(rows_of(run.out).all, 40);
  EXPECT_EQ(rows_of(run.out).wrong, 0) << run.out;
}

TEST(RunProgram, OutOfPlaceAndBesideMpi) {
  CompileOptions options = options_for(Collective::allgather);
  options.lowering.placement = Placement::out_of_place;
  const Result run = mpirun(8, schedule_of("dgx-a100-x1", options),
                            {"-b", "8K", "-n", "1", "-w", "0", "--vs-mpi"});
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("out-of-place"), HasSubstr("mpi-busbw")));
  EXPECT_EQ(rows_of(run.out).all, 1);
}

// Asleep between looks for messages, or in whole operations; told on what it runs.
TEST(RunProgram, NapsHoldsWholeOperationsAndSaysItsOrigin) {
  const std::string xml = schedule_of("dgx-a100-x1", options_for(Collective::allreduce));
  for (const std::vector<std::string>& more :
       {std::vector<std::string>{"--nap", "200"}, {"--whole"}, {"--whole", "--hold"}}) {
    std::vector<std::string> arguments = {"-b", "64K", "-n", "1", "-w", "0"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const Result run = mpirun(8, xml, arguments);
    EXPECT_EQ(run.code, 0) << run.out << run.err;
    EXPECT_EQ(rows_of(run.out).wrong, 0);
    EXPECT_THAT(run.out, HasSubstr("# origin: MPI on this machine\n"));
  }
}

TEST(RunProgram, PlansOfEveryCollectiveAndPlacement) {
  Schedules plans;
  for (const Collective collective : {Collective::allgather, Collective::reduce_scatter,
                                      Collective::allreduce, Collective::broadcast}) {
    for (const Placement placement : {Placement::in_place, Placement::out_of_place}) {
      CompileOptions options = options_for(collective);
      options.format = Format::mscclpp;
      options.lowering.placement = placement;
      const bool in_place = placement == Placement::in_place;
      plans.emplace_back(fmt::format("{}{}", to_string(collective), in_place ? " in place" : ""),
                         schedule_of("dgx-a100-x1", options));
    }
  }
  expect_right(8, plans, {"-b", "64K", "-e", "256K", "-f", "4", "-n", "1", "-w", "1"}, 2);
}

// Packets, groups, switch channels, semaphores, gets and reads, through memory and ports.
TEST(RunProgram, PlansOfEveryKindOfOperation) {
  auto plans = audit_test::small_plans();
  for (auto& shared : audit_test::shared_plans()) plans.push_back(std::move(shared));
  std::map<int, Schedules> plans_of;
  for (const auto& [name, plan] : plans) {
    plans_of[static_cast<int>(plan["gpus"].size())].emplace_back(name, plan.dump());
  }
  for (const auto& [ranks, of_these] : plans_of) {
    SCOPED_TRACE(ranks);
    expect_right(ranks, of_these, {"-b", "24K", "-n", "1", "-w", "1", "-c", "2", "--timeout", "5"},
                 1);
  }
}

// Through its port channels, and in rounds of a pipeline.
TEST(RunProgram, APlanBetweenBoxesInRounds) {
  CompileOptions options = options_for(Collective::allreduce);
  options.format = Format::mscclpp;
  const std::string plan = schedule_of("dgx-a100-x2", options);
  EXPECT_THAT(plan, AllOf(HasSubstr("port"), HasSubstr("pipeline")));
  const std::size_t at = plan.find("\"unit_size\":");
  const std::string unit = plan.substr(at, plan.find(',', at) - at);
  std::string small = plan;
  for (std::size_t i = small.find(unit); i != std::string::npos; i = small.find(unit, i + 1)) {
    small.replace(i, unit.size(), "\"unit_size\":256");
  }
  const Result run = mpirun(16, small, {"-b", "64K", "-n", "1", "-w", "1", "-d", "half"});
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  EXPECT_EQ(rows_of(run.out).all, 1);
  EXPECT_EQ(rows_of(run.out).wrong, 0) << run.out;
}

TEST(RunProgram, APlanThatForgetsToSignalIsStuckInWords) {
  CompileOptions options = options_for(Collective::allgather);
  options.format = Format::mscclpp;
  const std::string plan = schedule_of("dgx-a100-x1", options);
  const Result run = mpirun(8, with(plan, "\"name\":\"signal\"", "\"name\":\"nop\""),
                            {"-b", "8K", "-n", "1", "-w", "0", "--timeout", "1"});
  EXPECT_EQ(run.code, 1) << run.out << run.err;
  EXPECT_THAT(run.err, AllOf(HasSubstr("(wait): waits for a signal of rank "),
                             HasSubstr("on memory channel ")));
}

TEST(RunProgram, PlansOnlyAddUp) {
  CompileOptions options = options_for(Collective::allreduce);
  options.format = Format::mscclpp;
  const Result run = mpirun(8, schedule_of("dgx-a100-x1", options), {"-o", "prod"});
  EXPECT_EQ(run.code, 2);
  EXPECT_THAT(run.err, HasSubstr("-o prod: MSCCL++ adds up and does nothing else [X02]"));
}

// Paths over GPUs that only hand on, and pairs in several parts.
TEST(RunProgram, AllToAllAsXmlAndAsFlows) {
  for (const Format format : {Format::msccl, Format::flows}) {
    const std::string schedule = alltoall_of("hypercube-16", format);
    const Result run = mpirun(16, schedule, {"-b", "64K", "-n", "1", "-w", "0", "-d", "uint8"});
    EXPECT_EQ(run.code, 0) << run.out << run.err;
    EXPECT_EQ(rows_of(run.out).all, 1);
    EXPECT_EQ(rows_of(run.out).wrong, 0) << run.out;
  }
}

// One root's data, out of place and in place.
TEST(RunProgram, ScatterAndGatherAsPlansAndAsFlows) {
  Schedules schedules;
  for (const Collective collective : {Collective::scatter, Collective::gather}) {
    const std::string name(to_string(collective));
    auto options = test::rooted_as(collective, Rank(5), Format::mscclpp, 2);
    schedules.emplace_back(name, schedule_of("torus-4x4", options));
    // In place, a scatter is from rank 0 alone.
    if (collective == Collective::scatter) options.synthesis.root = Rank(0);
    options.lowering.placement = Placement::in_place;
    schedules.emplace_back(name + "-in-place", schedule_of("torus-4x4", options));
    schedules.emplace_back(
        name + "-flows",
        schedule_of("torus-4x4", test::rooted_as(collective, Rank(5), Format::flows, 2)));
  }
  expect_right(16, schedules, {"-b", "64K", "-n", "1", "-w", "0", "-d", "uint8", "-c", "1"}, 1);
}

// A chunk that goes to the wrong place loads, runs to its end, and is wrong.
TEST(RunProgram, WrongDataIsFoundAndNamesTheRank) {
  const std::string right = schedule_of("dgx-a100-x1", options_for(Collective::allgather));
  const Result run =
      mpirun(8, with(right, "dstoff=\"1\"", "dstoff=\"2\""), {"-b", "8K", "-n", "1", "-w", "0"});
  EXPECT_EQ(run.code, 1) << run.out << run.err;
  EXPECT_EQ(rows_of(run.out).wrong, 1) << run.out;
  EXPECT_THAT(run.out, AllOf(HasSubstr("FAILED"), HasSubstr("#   wrong: rank ")));
}

// Each has its table or its refusal, whatever became of those before it.
TEST(RunProgram, SeveralSchedulesOneAfterTheOther) {
  const std::string right = schedule_of("dgx-a100-x1", options_for(Collective::allgather));
  const Scratch scratch;
  const std::string wrong = scratch.write("wrong.xml", with(right, "dstoff=\"1\"", "dstoff=\"2\"")),
                    foreign = scratch.write("foreign", "size 4"),
                    last = scratch.write("last.xml", right);
  const std::vector<std::string> more = {"-b", "8K", "-n", "1", "-w", "0"};
  const auto run_files = [&](std::vector<std::string> files) {
    files.insert(files.end(), more.begin(), more.end());
    return mpirun(8, right, files);
  };
  const Result run = run_files({wrong, foreign, last});
  EXPECT_EQ(run.code, 2) << run.out << run.err;
  EXPECT_EQ(rows_of(run.out).all, 3) << run.out;
  EXPECT_EQ(rows_of(run.out).wrong, 1) << run.out;
  EXPECT_THAT(run.out, AllOf(HasSubstr("# schedule: " + wrong + "\n"),
                             HasSubstr("# schedule: " + last + "\n")));
  EXPECT_THAT(run.err, HasSubstr(foreign + ": 1:1: not a schedule that can be run"));
  EXPECT_EQ(run_files({wrong, last}).code, 1);
}

// What comes while a threadblock still sends waits in its slots, slice by slice: no receive that is
// asked for too early may take a slot that is in use.
TEST(RunProgram, SlicesThatComeWhileAThreadblockSends) {
  std::string xml =
      "<algo name=\"crossing\" proto=\"Simple\" nchannels=\"1\" nchunksperloop=\"4\" ngpus=\"2\" "
      "coll=\"allgather\" inplace=\"1\" outofplace=\"0\" minBytes=\"0\" maxBytes=\"0\">\n";
  for (int rank = 0; rank < 2; ++rank) {
    const int peer = 1 - rank;
    xml += fmt::format(
        "<gpu id=\"{0}\" i_chunks=\"2\" o_chunks=\"4\" s_chunks=\"0\">\n"
        "<tb id=\"0\" send=\"{1}\" recv=\"{1}\" chan=\"0\">\n",
        rank, peer);
    for (int step = 0; step < 4; ++step) {
      const int chunk = step % 2;
      xml += fmt::format(
          "<step s=\"{}\" type=\"{}\" srcbuf=\"i\" srcoff=\"{}\" dstbuf=\"o\" dstoff=\"{}\" "
          "cnt=\"1\" depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n",
          step, step < 2 ? 's' : 'r', chunk, 2 * (step < 2 ? rank : peer) + chunk);
    }
    xml += "</tb>\n</gpu>\n";
  }
  const Result run = mpirun(2, xml + "</algo>\n",
                            {"-b", "64K", "-e", "4M", "-f", "4", "-n", "3", "--timeout", "10"});
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  EXPECT_EQ(rows_of(run.out).all, 4);
  EXPECT_EQ(rows_of(run.out).wrong, 0) << run.out;
}

// Two threadblocks of one rank that wait for each other: nobody can see it without running it.
TEST(RunProgram, AStuckRunEndsAndNamesWhoWaitsForWhat) {
  const std::string stuck =
      "<algo name=\"stuck\" proto=\"Simple\" nchannels=\"1\" nchunksperloop=\"2\" ngpus=\"2\" "
      "coll=\"allgather\" inplace=\"1\" outofplace=\"0\" minBytes=\"0\" maxBytes=\"0\">\n"
      "<gpu id=\"0\" i_chunks=\"1\" o_chunks=\"2\" s_chunks=\"0\">\n"
      "<tb id=\"0\" send=\"1\" recv=\"1\" chan=\"0\">\n"
      "<step s=\"0\" type=\"r\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"1\" cnt=\"1\" "
      "depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n"
      "<step s=\"1\" type=\"s\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\" cnt=\"1\" "
      "depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n</tb>\n</gpu>\n"
      "<gpu id=\"1\" i_chunks=\"1\" o_chunks=\"2\" s_chunks=\"0\">\n"
      "<tb id=\"0\" send=\"0\" recv=\"0\" chan=\"0\">\n"
      "<step s=\"0\" type=\"r\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"0\" cnt=\"1\" "
      "depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n"
      "<step s=\"1\" type=\"s\" srcbuf=\"i\" srcoff=\"0\" dstbuf=\"o\" dstoff=\"1\" cnt=\"1\" "
      "depid=\"-1\" deps=\"-1\" hasdep=\"0\"/>\n</tb>\n</gpu>\n</algo>\n";
  const Result run = mpirun(2, stuck, {"-b", "64", "-w", "0", "-n", "1", "--timeout", "1"});
  EXPECT_EQ(run.code, 1) << run.out << run.err;
  EXPECT_THAT(run.err, HasSubstr("rank 0, threadblock 0, step 0 (r, line 4), pass 1 of 1: waits "
                                 "for a message of rank 1 on channel 0"));
  EXPECT_THAT(run.err, HasSubstr("rank 1, threadblock 0, step 0 (r, line 10)"));
}

std::size_t count_of(const std::string& text, const std::string& word) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find(word, at)) != text.npos; at += word.size()) ++count;
  return count;
}

// Of all ranks together, however many threadblocks wait.
TEST(RunProgram, AStuckRunPrintsOneMessage) {
  CompileOptions options = options_for(Collective::allgather);
  options.format = Format::mscclpp;
  const std::string plan = schedule_of("dgx-a100-x1", options);
  const Result run = mpirun(8, with(plan, "\"name\":\"signal\"", "\"name\":\"nop\""),
                            {"-b", "8K", "-n", "1", "-w", "0", "--timeout", "1"});
  EXPECT_EQ(run.code, 1);
  EXPECT_EQ(count_of(run.err, "stuck: no message for 1 s"), 1) << run.err;
  EXPECT_LE(count_of(run.err, "waits for"), 16) << run.err;
}

// Each in its own window of sizes, and where no size is asked for, at one of its window.
TEST(RunProgram, FilesOfSeveralWindowsRunEachInItsOwn) {
  const auto within = [](std::int64_t least, std::int64_t most) {
    CompileOptions options = options_for(Collective::allgather);
    options.xml.min_bytes = least;
    options.xml.max_bytes = most;
    return schedule_of("dgx-a100-x1", options);
  };
  const Schedules files = {{"small.xml", within(1 << 10, 64 << 10)},
                           {"large.xml", within(1 << 20, 16 << 20)}};
  const std::vector<std::string> once = {"-n", "1", "-w", "0"};
  expect_right(8, files, once, 1);
  const Result both = mpirun(8, files, {"-b", "16K", "-e", "1M", "-f", "64", "-n", "1", "-w", "0"});
  EXPECT_EQ(both.code, 0) << both.err;
  EXPECT_EQ(rows_of(both.out).all, 2) << both.out;
  const Result one = mpirun(8, files, {"-b", "16K", "-n", "1", "-w", "0"});
  EXPECT_EQ(one.code, 0) << one.err;
  EXPECT_EQ(rows_of(one.out).all, 1) << one.out;
  EXPECT_EQ(count_of(one.out, "Using devices"), 1) << one.out;
  EXPECT_EQ(count_of(one.out, "left out"), 1) << one.out;
  const Result none = mpirun(8, files, {"-b", "256K", "-n", "1", "-w", "0"});
  EXPECT_EQ(none.code, 2) << none.out;
  EXPECT_EQ(count_of(none.err, "[X04]"), 1) << none.err;
}

TEST(RunProgram, StartsItselfWithAsManyProcessesAsNeeded) {
  const Scratch scratch;
  const std::string file = scratch.write(
      "allgather.xml", schedule_of("dgx-a100-x1", options_for(Collective::allgather)));
  const Result run = run_alone({file, "-b", "8K", "-n", "1", "-w", "0"});
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  EXPECT_THAT(run.out, HasSubstr(" -np 8 "));
  EXPECT_EQ(rows_of(run.out).all, 1) << run.out;
  const Result absent = run_alone({scratch / "absent.xml"});
  EXPECT_EQ(absent.code, 4);
  EXPECT_EQ(count_of(absent.err, "absent.xml"), 1) << absent.err;
}

// One connection that two threadblocks have, in several places.
TEST(RunProgram, TellsOneErrorOfAKind) {
  const Scratch scratch;
  std::string text = schedule_of("dgx-a100-x1", options_for(Collective::allgather));
  for (std::size_t at = 0; (at = text.find("recv=\"7\"", at)) != std::string::npos; ++at) {
    text.replace(at, 8, "recv=\"6\"");
  }
  const Result run = run_alone({scratch.write("wrong.xml", text)});
  EXPECT_EQ(run.code, 2) << run.out;
  EXPECT_THAT(run.err, HasSubstr(" more like it\n"));
  EXPECT_EQ(count_of(run.err, "two threadblocks on one connection"), 1) << run.err;
}

TEST(RunProgram, WhatCannotBeRunEndsInWordsOnAllRanks) {
  const std::string right = schedule_of("dgx-a100-x1", options_for(Collective::allgather));
  const Result wrong_number = mpirun(4, right, {});
  EXPECT_EQ(wrong_number.code, 2);
  EXPECT_THAT(wrong_number.err,
              HasSubstr("the schedule is for 8 GPUs; 4 processes were started [X03]"));
  const Result foreign = mpirun(2, "size 4", {});
  EXPECT_EQ(foreign.code, 2);
  EXPECT_THAT(foreign.err, HasSubstr("<stdin>: 1:1: not a schedule that can be run"));
  const Result too_small = mpirun(8, right, {"-b", "4"});
  EXPECT_EQ(too_small.code, 2);
  EXPECT_THAT(too_small.err, HasSubstr("[X04]"));
  const Result too_large = mpirun(8, right, {"-b", "4G"});
  EXPECT_EQ(too_large.code, 3);
  EXPECT_THAT(too_large.err, HasSubstr("[X06]"));
  const Result no_root = mpirun(8, right, {"-r", "8"});
  EXPECT_EQ(no_root.code, 2);
  EXPECT_THAT(no_root.err, HasSubstr("root 8 of 8 ranks [X05]"));
}

}  // namespace
}  // namespace forestcoll::testing
