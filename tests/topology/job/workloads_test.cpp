// Jobs as others write them: workloads of SimAI and OptCCL, traces of PyTorch's profiler.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "forestcoll/job.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::vector<std::size_t>> numbers(const Groups& groups) {
  std::vector<std::vector<std::size_t>> all;
  for (const auto& group : groups) {
    all.emplace_back();
    for (const Rank rank : group) all.back().push_back(rank.index());
  }
  return all;
}

// A text in place of another in a good file, the code of the error, and its place.
struct BadWorkload {
  std::string part, instead, code, where;
};

void expect_refused(std::string text, const BadWorkload& bad, std::size_t ranks) {
  const std::size_t at = text.find(bad.part);
  ASSERT_NE(at, std::string::npos) << bad.part;
  text.replace(at, bad.part.size(), bad.instead);
  const auto job = parse_job(text, "job", ranks, nullptr);
  ASSERT_FALSE(job) << bad.instead;
  const Diagnostic& error = job.errors().front();
  EXPECT_EQ(name_of(error.code), bad.code) << to_string(error);
  EXPECT_EQ(error.where, bad.where) << to_string(error);
  EXPECT_FALSE(error.remedy.empty());
}

// SimAI and AICB.

constexpr const char* kSimai =
    "HYBRID_TRANSFORMER_FWD_IN_BCKWD model_parallel_NPU_group: 2 ep: 2 pp: 1 vpp: 1 ga: 1 "
    "all_gpus: 8 checkpoints: 0 checkpoint_initiates: 0 pp_comm 0\n"
    "5\n"
    "grads\t-1\t1\tNONE\t0\t1\tNONE\t0\t1\tREDUCESCATTER\t4096\t100\n"
    "column -1 1 ALLGATHER 1024 1 REDUCESCATTER 512 1 ALLREDUCE 64 100\r\n"
    "column -1 1 ALLGATHER 1024 1 REDUCESCATTER 512 1 ALLREDUCE 64 100\n"
    "moe -1 1 ALLTOALL_EP 2048 1 NONE 0 1 ALLGATHER_DP_EP 256 100\n"
    "norm -1 1 NONE 77 1 NONE 0 1 NONE 0 100\n";

TEST(SimaiWorkload, RowsAreStepsForwardAndBack) {
  const auto job = parse_job(kSimai, "job", 8, nullptr);
  ASSERT_TRUE(job) << to_string(job.errors().front());
  ASSERT_EQ(job->steps.size(), 5U);
  // Gradients of weights go among the replicas of data, which ep and edp are.
  const JobOperation& grads = job->steps[0].operations.front();
  EXPECT_EQ(job->steps[0].name, "grads backward");
  EXPECT_EQ(grads.collective, Collective::reduce_scatter);
  EXPECT_EQ(grads.bytes, 4096);
  EXPECT_THAT(numbers(grads.groups), ElementsAre(ElementsAre(0, 2, 4, 6), ElementsAre(1, 3, 5, 7)));
  // Equal rows are one step, and what goes back goes at once.
  EXPECT_EQ(job->steps[1].repeat, 2);
  EXPECT_THAT(numbers(job->steps[1].operations.front().groups), Contains(ElementsAre(2, 3)));
  EXPECT_EQ(job->steps[2].repeat, 2);
  ASSERT_EQ(job->steps[2].operations.size(), 2U);
  EXPECT_EQ(job->steps[2].operations[1].collective, Collective::allreduce);
  EXPECT_THAT(numbers(job->steps[3].operations.front().groups), Contains(ElementsAre(5, 7)));
  EXPECT_THAT(numbers(job->steps[4].operations.front().groups), Contains(ElementsAre(3, 7)));
  ASSERT_TRUE(job->mesh);
  EXPECT_EQ(job->mesh->axes.size(), 4U);
  EXPECT_THAT(job->notes, ElementsAre(HasSubstr("forward")));
}

TEST(SimaiWorkload, GroupsOfOneMoveNothingAndPipelinesAreLeftOut) {
  const std::string text =
      "MICRO model_parallel_NPU_group: 1 ep: 1 pp: 2 vpp: 1 ga: 1 all_gpus: 4 pp_comm: 8.0\n2\n"
      "a -1 1 ALLREDUCE 8 1 NONE 0 1 NONE 0 1\nb -1 1 NONE 0 1 NONE 0 1 ALLREDUCE 8 1\n";
  const auto job = parse_job(text, "job", 4, nullptr);
  ASSERT_TRUE(job) << to_string(job.errors().front());
  ASSERT_EQ(job->steps.size(), 1U);
  EXPECT_THAT(numbers(job->steps.front().operations.front().groups),
              ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  EXPECT_THAT(job->notes, Contains(HasSubstr("pipeline")));
}

TEST(SimaiWorkload, BrokenOnesAreRefusedWithTheLine) {
  for (const BadWorkload& bad : std::vector<BadWorkload>{
           {"all_gpus: 8", "all_gpus: 16", "O03", "line 1"},
           {"all_gpus: 8", "all_gpus: x", "O01", "line 1"},
           {"all_gpus: 8", "", "O01", "line 1"},
           {"ep: 2", "ep: 3", "O01", "line 1"},
           {"group: 2", "group: 9223372036854775807", "O01", "line 1"},
           {"\n5\n", "\n6\n", "O01", "line 2"},
           {"\n5\n", "\n4\n", "O01", "line 2"},
           {"\n5\n", "\nfive\n", "O01", "line 2"},
           {"ALLTOALL_EP", "ALLTOALL_XP", "O01", "line 6"},
           {"ALLTOALL_EP", "SENDRECV", "O01", "line 6"},
           {" 77 ", " -77 ", "O01", "line 7"},
           {"norm -1", "norm", "O01", "line 7"},
       }) {
    expect_refused(kSimai, bad, 8);
  }
  const std::string none = "MICRO all_gpus: 4\n1\na -1 1 NONE 0 1 NONE 0 1 NONE 0 1\n";
  EXPECT_FALSE(parse_job(none, "job", 4, nullptr));
  EXPECT_FALSE(parse_job(kSimai, "job", 16, nullptr));
  EXPECT_TRUE(parse_job(kSimai, "job", 16, nullptr, MeshFit::some_ranks));
  EXPECT_FALSE(parse_job(kSimai, "job", 4, nullptr, MeshFit::some_ranks));
  const Mesh mesh{{{"tp", 8}}};
  EXPECT_EQ(parse_job(kSimai, "job", 8, &mesh).errors().front().code, Code::S04);
}

// OptCCL.

constexpr const char* kOptccl = R"({"format": "optccl-workload-spec", "topology": "a100",
  "num_nodes": 2, "collectives": [
    {"type": "all_to_all", "group": "aa", "demand": 8,
     "participants": [[0, ["g", 1]], [0, ["g", 2]]]},
    {"type": "all_to_all", "group": "aa", "demand": 8,
     "participants": [[1, ["g", 1]], [1, ["g", 10]]]},
    {"type": "point_to_point", "source": [0, ["g", 1]], "sink": [1, ["g", 10]], "demand": 0.5},
    {"type": "point_to_point", "source": [1, ["g", 10]], "sink": [0, ["g", 1]], "demand": 0.5},
    {"type": "all_gather", "demand": 2,
     "participants": [[0, ["g", 1]], [0, ["g", 2]], [1, ["g", 1]]]},
    {"type": "reduce", "sink": [1, ["g", 1]], "sources": [[0, ["g", 2]]], "demand": 3}]})";

TEST(OptcclWorkload, LikeCollectivesAreOneOperation) {
  const auto job = parse_job(kOptccl, "job", 4, nullptr);
  ASSERT_TRUE(job) << to_string(job.errors().front());
  ASSERT_EQ(job->steps.size(), 1U);
  const auto& operations = job->steps.front().operations;
  ASSERT_EQ(operations.size(), 5U);
  EXPECT_EQ(operations[0].collective, Collective::alltoall);
  EXPECT_EQ(operations[0].bytes, 16'000'000'000);
  EXPECT_THAT(numbers(operations[0].groups), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3)));
  // What goes both ways between two GPUs is two operations, as they share members.
  EXPECT_EQ(operations[1].collective, Collective::broadcast);
  EXPECT_EQ(operations[1].bytes, 500'000'000);
  EXPECT_EQ(operations[1].root, 0);
  EXPECT_THAT(numbers(operations[1].groups), ElementsAre(ElementsAre(0, 3)));
  EXPECT_THAT(numbers(operations[2].groups), ElementsAre(ElementsAre(3, 0)));
  EXPECT_EQ(operations[3].bytes, 6'000'000'000);
  EXPECT_EQ(operations[4].collective, Collective::reduce);
  EXPECT_THAT(numbers(operations[4].groups), ElementsAre(ElementsAre(2, 1)));
  EXPECT_THAT(job->notes, ElementsAre(HasSubstr("at once")));
}

// A third of a GB in decimals.
TEST(OptcclWorkload, DemandsAreRoundedUpToWholeBytes) {
  std::string text = kOptccl;
  text.replace(text.find("\"demand\": 2"), 11, "\"demand\": 0.3333333333333333");
  const auto job = parse_job(text, "job", 4, nullptr);
  ASSERT_TRUE(job) << to_string(job.errors().front());
  EXPECT_EQ(job->steps.front().operations[3].bytes, 1'000'000'000);
}

TEST(OptcclWorkload, ErrorsNameTheGpu) {
  std::string text = kOptccl;
  text.replace(text.find("[0, [\"g\", 1]]"), 13, "[0, [\"g\", 2]]");
  const auto job = parse_job(text, "job", 4, nullptr);
  ASSERT_FALSE(job);
  EXPECT_THAT(job.errors().front().message, HasSubstr("the GPU [0, [\"g\", 2]] is twice"));
}

TEST(OptcclWorkload, BrokenOnesAreRefusedWithThePlace) {
  for (const BadWorkload& bad : std::vector<BadWorkload>{
           {"all_to_all", "all_to_any", "O01", "/collectives/0/type"},
           {"\"demand\": 8", "\"demand\": 0", "O01", "/collectives/0/demand"},
           {"\"demand\": 8", "\"demand\": 1e300", "O01", "/collectives/0/demand"},
           {"[0, [\"g\", 1]], [0", "[0", "O05", "/collectives/0"},
           {"\"participants\"", "\"members\"", "O01", "/collectives/0/participants"},
           {"[0, [\"g\", 1]]", "[0, {}]", "O01", "/collectives/0/participants"},
           {"[0, [\"g\", 1]]", "[7, [\"g\", 1]]", "O03", "/collectives"},
           {"[0, [\"g\", 1]]", "[0, [\"g\", 2]]", "O04", "/collectives/0/participants"},
           {"\"collectives\": [", "\"collectives\": 3, \"x\": [", "O01", "/collectives"},
           {"\"source\"", "\"from\"", "O01", "/collectives/2/source"},
       }) {
    expect_refused(kOptccl, bad, 4);
  }
}

// PyTorch.

std::string event(double begin, double length, const std::string& arguments) {
  return R"({"ph": "X", "cat": "kernel", "name": "ncclDevKernel", "ts": )" + std::to_string(begin) +
         R"(, "dur": )" + std::to_string(length) + R"(, "args": {"dtype": "BFloat16", )" +
         arguments + "}}";
}

std::string trace() {
  const std::string tp =
      R"("Collective name": "_allgather_base", "In msg nelems": 512, "Out msg nelems": 1024,
         "Group size": 2, "Process Group Name": "3", "Process Group Ranks": "[0, 1]")";
  const std::string dp =
      R"("Collective name": "\"allreduce\"", "In msg nelems": 64, "Out msg nelems": 64,
         "Group size": 4, "Process Group Description": "dp", "Process Group Ranks": [0, 2, 4, 6])";
  const std::string send = R"("Collective name": "send", "In msg nelems": 64)";
  return R"({"traceEvents": [{"ph": "M", "name": "process_name"}, )" + event(200, 10, tp) + ", " +
         event(100, 10, tp) + ", " + event(105, 10, dp) + ", " + event(205, 1, send) + ", " +
         event(300, 10, tp) + "]}";
}

TEST(KinetoTrace, WhatOverlapsIsAStep) {
  std::string text = trace();
  const auto at = text.find("[0, 2, 4, 6]");
  text.replace(at, 12, R"("[0, 2, 4, 6]")");
  const auto job = parse_job(text, "job", 8, nullptr);
  ASSERT_TRUE(job) << to_string(job.errors().front());
  ASSERT_EQ(job->steps.size(), 2U);
  ASSERT_EQ(job->steps[0].operations.size(), 2U);
  const JobOperation& gather = job->steps[0].operations[0];
  EXPECT_EQ(gather.collective, Collective::allgather);
  EXPECT_EQ(gather.bytes, 2048);
  EXPECT_THAT(numbers(gather.groups), ElementsAre(ElementsAre(0, 1), ElementsAre(2, 3),
                                                  ElementsAre(4, 5), ElementsAre(6, 7)));
  EXPECT_EQ(job->steps[0].operations[1].name, "allreduce dp");
  EXPECT_THAT(numbers(job->steps[0].operations[1].groups),
              ElementsAre(ElementsAre(0, 2, 4, 6), ElementsAre(1, 3, 5, 7)));
  EXPECT_EQ(job->steps[1].repeat, 2);
  EXPECT_THAT(job->notes, Contains(HasSubstr("overlap")));
  EXPECT_THAT(job->notes,
              Contains(HasSubstr("1 events of other kinds are left out, such as \"send\"")));
}

TEST(KinetoTrace, ListsOfRanksThatAreCutGoOnEvenly) {
  std::string ranks;
  for (int r = 0; r < 58; r += 2) ranks += std::to_string(r) + ", ";
  const auto with = [&](const std::string& last) {
    return R"({"traceEvents": [)" +
           event(0, 1,
                 R"("Collective name": "allreduce", "In msg nelems": 8, "Group size": 64,
                    "Process Group Ranks": "[)" +
                     ranks + "..., " + last + R"(]")") +
           "]}";
  };
  const auto job = parse_job(with("126"), "job", 128, nullptr);
  ASSERT_TRUE(job) << to_string(job.errors().front());
  const Groups& groups = job->steps.front().operations.front().groups;
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[1].size(), 64U);
  EXPECT_EQ(groups[1].back().index(), 127U);
  EXPECT_FALSE(parse_job(with("127"), "job", 128, nullptr));
}

TEST(KinetoTrace, BrokenOnesAreRefusedWithThePlace) {
  std::string good = trace();
  good.replace(good.find("[0, 2, 4, 6]"), 12, R"("[0, 2, 4, 6]")");
  for (const BadWorkload& bad : std::vector<BadWorkload>{
           {"BFloat16", "Quaternion", "O01", "/traceEvents/1/args/dtype"},
           {"\"Out msg nelems\": 1024", "\"Out msg nelems\": -1", "O01",
            "/traceEvents/1/args/Out msg nelems"},
           {"[0, 1]", "[0, 9]", "O03", "/traceEvents/1/args/Process Group Ranks"},
           {"[0, 1]", "[0, a]", "O01", "/traceEvents/1/args/Process Group Ranks"},
           {"[0, 1]", "[1, 1]", "O04", "/traceEvents/1/args/Process Group Ranks"},
       }) {
    std::string text = good;
    text.replace(text.find(bad.part), bad.part.size(), bad.instead);
    const auto job = parse_job(text, "job", 8, nullptr);
    ASSERT_FALSE(job) << bad.instead;
    EXPECT_EQ(name_of(job.errors().front().code), bad.code) << to_string(job.errors().front());
    EXPECT_EQ(job.errors().front().where, bad.where);
  }
  EXPECT_FALSE(parse_job(R"({"traceEvents": []})", "job", 8, nullptr));
}

}  // namespace
}  // namespace forestcoll::testing
