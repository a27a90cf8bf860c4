// Jobs of several process groups under mpirun, each group with a communicator of its own.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "forestcoll/fabric.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/topology_text.hpp"
#include "run/mpirun.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// A schedule of so many GPUs that are linked with each other.
std::string schedule_of_mesh(int gpus, Collective collective, Format format) {
  const std::string text = fmt::format(
      R"({{"format": "forestcoll-topology", "version": 1, "name": "mesh",
          "nodes": [{{"id": "gpu[0-{0}]", "type": "compute"}}],
          "links": [{{"src": "gpu[0-{0}]", "dst": "gpu[0-{0}]", "bandwidth": 10}}]}})",
      gpus - 1);
  auto parsed = parse_topology(text, "mesh");
  if (!parsed) {
    ADD_FAILURE() << to_string(parsed.errors().front());
    return {};
  }
  const auto fabric = make_fabric(std::move(parsed->topology), metadata_of(text));
  CompileOptions options;
  options.synthesis.collective = collective;
  options.format = format;
  if (is_rooted(collective)) options.synthesis.root = Rank(1);
  const auto compiled = compile(*fabric, options);
  if (compiled) return compiled->text;
  ADD_FAILURE() << to_string(compiled.errors().front());
  return {};
}

// On 8 ranks, at once: two allgathers of four, of which one has its ranks in another order; four
// allreduces of two by MSCCL++, with half as much; a broadcast to three of them.
class RunJob : public ::testing::Test {
 protected:
  void SetUp() override {
    scratch_.write("gather.xml", schedule_of_mesh(4, Collective::allgather, Format::msccl));
    scratch_.write("reduce.json", schedule_of_mesh(2, Collective::allreduce, Format::mscclpp));
    scratch_.write("cast.xml", schedule_of_mesh(3, Collective::broadcast, Format::msccl));
  }

  std::string write_job() {
    const std::string gather = R"({"group": 0, "file": "gather.xml", "part": "-"},
                                  {"group": 1, "file": "gather.xml", "part": "-"})";
    std::string reduce;
    for (int g = 0; g < 4; ++g) {
      reduce += fmt::format(R"({}{{"group": {}, "file": "reduce.json", "part": "-"}})",
                            g == 0 ? "" : ",", g);
    }
    return scratch_.write("job.json", fmt::format(
                                          R"({{"format": "forestcoll-job", "version": 1, "steps": [
  {{"name": "layer", "repeat": 3, "rate": {{"value": 8}}, "operations": [
    {{"name": "weights", "collective": "allgather", "rate": {{"value": 8}},
      "groups": [[3, 0, 2, 1], [4, 5, 6, 7]], "schedules": [{}]}},
    {{"name": "gradients", "collective": "{}", "rate": {{"value": 4}},
      "groups": [[0, 4], [1, 5], [2, 6], [3, 7]], "schedules": [{}]}},
    {{"name": "tokens", "collective": "broadcast", "rate": {{"value": 8}}, "groups": [[6, 1, 3]],
      "schedules": [{{"group": 0, "file": "cast.xml", "part": "-"}}]}}]}}]}})",
                                          gather, second_, reduce));
  }

  Result run(int ranks = 8, const std::vector<std::string>& more = {"-c", "2"}) {
    std::vector<std::string> arguments = {write_job(), "-b", "96K", "-n", "2", "-w", "1"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return mpirun_files(ranks, arguments);
  }

  Scratch scratch_;
  std::string second_ = "allreduce";
};

TEST_F(RunJob, AllGroupsAtOnceAreRightInEveryElement) {
  const Result all = run();
  EXPECT_EQ(all.code, 0) << all.out << all.err;
  EXPECT_EQ(rows_of(all.out).all, 3) << all.out;
  EXPECT_EQ(rows_of(all.out).wrong, 0) << all.out;
  EXPECT_THAT(all.out,
              AllOf(HasSubstr("# step layer (one of 3): all operations at once\n"),
                    HasSubstr("# weights: 2 of 4"), HasSubstr("# gradients: 4 of 2"),
                    HasSubstr("       98304"), HasSubstr("       49152"),
                    HasSubstr("# all at once: "), HasSubstr("Out of bounds values : 0 OK")));
  const Result types = run(8, {"-d", "all", "-c", "1", "--nap", "100"});
  EXPECT_EQ(types.code, 0) << types.out << types.err;
  EXPECT_EQ(rows_of(types.out).all, 30);
}

TEST_F(RunJob, StartsItself) {
  const Result alone = run_alone({write_job(), "-b", "96K", "-n", "1", "-w", "0"});
  EXPECT_EQ(alone.code, 0) << alone.out << alone.err;
  EXPECT_THAT(alone.out, HasSubstr(" -np 8 "));
}

TEST_F(RunJob, WrongDataIsOfItsOperationAlone) {
  const std::string right = schedule_of_mesh(4, Collective::allgather, Format::msccl);
  scratch_.write("gather.xml", with(right, "dstoff=\"1\"", "dstoff=\"2\""));
  const Result wrong = run();
  EXPECT_EQ(wrong.code, 1) << wrong.out << wrong.err;
  EXPECT_EQ(rows_of(wrong.out).all, 3);
  EXPECT_EQ(rows_of(wrong.out).wrong, 1) << wrong.out;
  EXPECT_THAT(wrong.out, AllOf(HasSubstr("#   wrong: rank "), HasSubstr("FAILED")));
}

TEST_F(RunJob, AStuckGroupIsNamed) {
  const std::string plan = schedule_of_mesh(2, Collective::allreduce, Format::mscclpp);
  scratch_.write("reduce.json", with(plan, "\"name\":\"signal\"", "\"name\":\"nop\""));
  const Result stuck = run(8, {"--timeout", "1"});
  EXPECT_EQ(stuck.code, 1) << stuck.out << stuck.err;
  EXPECT_THAT(stuck.err,
              AllOf(HasSubstr("stuck: no message for 1 s"), HasSubstr("  gradients: rank ")));
}

TEST_F(RunJob, WhatDoesNotFitTogetherIsRefused) {
  const Result few = run(4);
  EXPECT_EQ(few.code, 2);
  EXPECT_THAT(few.err, HasSubstr("the job is of 8 GPUs; 4 processes were started [X03]"));
  EXPECT_THAT(run(8, {"-o", "max"}).err, HasSubstr("-o max: MSCCL++ adds up"));
  second_ = "allgather";
  const Result other = run();
  EXPECT_EQ(other.code, 2);
  EXPECT_THAT(other.err,
              HasSubstr("reduce.json: it does all_reduce_perf, and its operation is allgather"));
  second_ = "allreduce";
  scratch_.write("cast.xml", schedule_of_mesh(4, Collective::broadcast, Format::msccl));
  EXPECT_THAT(run().err, HasSubstr("cast.xml: it is for 4 GPUs, and its group has 3 [X01]"));
  const Result bound =
      mpirun(2, R"({"format": "forestcoll-job", "version": 1, "steps": []})", {"-b", "8K"});
  EXPECT_EQ(bound.code, 2);
  EXPECT_THAT(bound.err, HasSubstr("[O01]"));
}

}  // namespace
}  // namespace forestcoll::testing
