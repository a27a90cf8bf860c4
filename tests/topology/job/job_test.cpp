// Reading the format forestcoll-job.
#include "forestcoll/job.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/commodity.hpp"
#include "support/fabrics.hpp"

namespace forestcoll::testing {
namespace {

constexpr const char* kGood = R"({
  "format": "forestcoll-job", "version": 1, "mesh": "tp=2,dp=4", "x-author": "anybody",
  "steps": [
    {"name": "forward", "repeat": 3, "operations": [
      {"name": "weights", "collective": "allgather", "groups": "dp", "bytes": "64K"},
      {"collective": "allreduce", "groups": [[0, 1], [2, 3]], "bytes": 1000}]},
    {"operations": [
      {"collective": "alltoall", "groups": {"1": [4, 5]}, "demand": [[0, 7], [9, 0]]},
      {"collective": "broadcast", "bytes": 5, "root": 7}]}]
})";

TEST(ParseJob, ReadsStepsAndOperations) {
  const auto job = parse_job(kGood, "job.json", 8, nullptr);
  ASSERT_TRUE(job) << to_string(job.errors().front());
  ASSERT_EQ(job->steps.size(), 2);
  const JobStep& forward = job->steps[0];
  EXPECT_EQ(forward.name, "forward");
  EXPECT_EQ(forward.repeat, 3);
  EXPECT_EQ(forward.operations[0].name, "weights");
  EXPECT_EQ(forward.operations[0].bytes, 65536);
  EXPECT_EQ(forward.operations[0].groups.size(), 2);
  EXPECT_EQ(forward.operations[1].name, "allreduce");
  EXPECT_EQ(job->steps[1].name, "step 1");
  EXPECT_EQ((*job->steps[1].operations[0].demand)(Rank(1), Rank(0)), 9);
  EXPECT_EQ(job->steps[1].operations[1].root, 7);
  EXPECT_EQ(job->steps[1].operations[1].groups.front().size(), 8);
}

// A text in place of another in the good file, the code of the error, and its place.
struct BadJob {
  std::string part, instead, code, where;
};

class ParseJobErrors : public ::testing::TestWithParam<BadJob> {};

TEST_P(ParseJobErrors, NamesThePlace) {
  std::string text = kGood;
  const auto& [part, instead, code, where] = GetParam();
  const std::size_t at = text.find(part);
  ASSERT_NE(at, std::string::npos);
  text.replace(at, part.size(), instead);
  const auto job = parse_job(text, "job.json", 8, nullptr);
  ASSERT_FALSE(job);
  const Diagnostic& error = job.errors().front();
  EXPECT_EQ(name_of(error.code), code) << to_string(error);
  EXPECT_EQ(error.where, where) << to_string(error);
  EXPECT_EQ(error.file, "job.json");
  EXPECT_FALSE(error.remedy.empty());
}

INSTANTIATE_TEST_SUITE_P(
    Bad, ParseJobErrors,
    ::testing::Values(
        BadJob{"forestcoll-job", "forestcoll-forest", "O01", "/format"},
        BadJob{"\"version\": 1", "\"version\": 2", "O01", "/version"},
        BadJob{"\"version\": 1,", "", "O01", ""},
        BadJob{"\"version\": 1", "\"version\": 1, \"speed\": 2", "O01", "/speed"},
        BadJob{"\"version\": 1", "\"version\": 1, \"mesh_order\": \"c\"", "O01", "/mesh_order"},
        BadJob{"\"mesh\"", "\"mesh_order\"", "O01", "/mesh_order"},
        BadJob{"\"tp=2,dp=4\"", "[]", "O01", "/mesh"},
        BadJob{"tp=2,dp=4", "tp=2,dp=3", "O06", "/mesh"},
        BadJob{"\"repeat\": 3", "\"repeat\": 0", "O01", "/steps/0/repeat"},
        BadJob{"\"name\": \"forward\"", "\"name\": 3", "O01", "/steps/0/name"},
        BadJob{"allgather", "allgathers", "O07", "/steps/0/operations/0/collective"},
        BadJob{"\"collective\": \"allgather\",", "", "O01", "/steps/0/operations/0"},
        BadJob{"\"dp\"", "\"ep\"", "O06", "/steps/0/operations/0/groups"},
        BadJob{"\"dp\"", "7", "O02", "/steps/0/operations/0/groups"},
        BadJob{"\"64K\"", "\"64 apples\"", "O01", "/steps/0/operations/0/bytes"},
        BadJob{"1000", "0", "O07", "/steps/0/operations/1/bytes"},
        BadJob{", \"bytes\": 1000", "", "O07", "/steps/0/operations"},
        BadJob{"[2, 3]", "[2, 8]", "O03", "/steps/0/operations/1/groups/1/1"},
        BadJob{"[2, 3]", "[2, 1]", "O04", "/steps/0/operations/1/groups/1/1"},
        BadJob{"[2, 3]", "[]", "O05", "/steps/0/operations/1/groups/1"},
        BadJob{"[9, 0]", "[9]", "O01", "/steps/1/operations/0/demand/1"},
        BadJob{"[9, 0]", "[-9, 0]", "O01", "/steps/1/operations/0/demand/1/0"},
        BadJob{"[9, 0]", "7", "O01", "/steps/1/operations/0/demand/1"},
        BadJob{"[[0, 7], [9, 0]]", "[[4]]", "O07", "/steps/1/operations/0/demand"},
        BadJob{"[[0, 7], [9, 0]]", "[[4, 0], [0, 4]]", "O07", "/steps/1/operations/0/demand"},
        BadJob{"[9, 0]", "[1099511627776, 0]", "A06", "/steps/1/operations/0/demand"},
        BadJob{"\"alltoall\"", "\"allgather\"", "O07", "/steps/1/operations/0/demand"},
        BadJob{"\"root\": 7", "\"root\": 8", "O07", "/steps/1/operations/1/root"},
        BadJob{", \"root\": 7", "", "O07", "/steps/1/operations/1/root"},
        BadJob{"\"broadcast\"", "\"allreduce\"", "O07", "/steps/1/operations/1/root"},
        BadJob{"\"steps\": [", "\"steps\": [], \"x-steps\": [", "O01", "/steps"},
        BadJob{"\"operations\": [", "\"operations\": [], \"x-operations\": [", "O01",
               "/steps/0/operations"}));

TEST(ParseJob, RefusesWhatIsNoJson) {
  for (const char* text : {"", "{", "[]", "7", "{\"format\": 1}"}) {
    const auto job = parse_job(text, "job.json", 8, nullptr);
    ASSERT_FALSE(job);
    EXPECT_EQ(job.errors().front().code, Code::O01) << text;
  }
}

// A job of fewer ranks than the fabric has, by its own mesh or one beside it.
TEST(ParseJob, MayBeForSomeRanks) {
  const auto own = parse_job(kGood, "job.json", 12, nullptr, MeshFit::some_ranks);
  ASSERT_TRUE(own);
  ASSERT_TRUE(own->mesh);
  EXPECT_EQ(own->mesh->points(), 8);
  EXPECT_FALSE(parse_job(kGood, "job.json", 12, nullptr));
  const auto small = parse_job(kGood, "job.json", 7, nullptr, MeshFit::some_ranks);
  ASSERT_FALSE(small);
  EXPECT_EQ(small.errors().front().code, Code::O06);
  const auto mesh = parse_mesh("tp=2", MeshOrder::megatron, 8, {}, MeshFit::some_ranks);
  ASSERT_TRUE(mesh);
  constexpr std::string_view kOfAll =
      R"({"format": "forestcoll-job", "version": 1,
          "steps": [{"operations": [{"collective": "allgather"}]}]})";
  const auto beside = parse_job(kOfAll, "job.json", 8, &*mesh, MeshFit::some_ranks);
  ASSERT_TRUE(beside);
  EXPECT_EQ(beside->steps[0].operations[0].groups[0].size(), 2);
}

TEST(ParseJob, RefusesTwoMeshes) {
  const auto mesh = parse_mesh("dp=8", MeshOrder::megatron, 8);
  const auto job = parse_job(kGood, "job.json", 8, &*mesh);
  ASSERT_FALSE(job);
  EXPECT_EQ(job.errors().front().code, Code::S04);
}

// Every collective as trees and paths, in one unit.
TEST(JointDemand, CountsInOneUnit) {
  const Network torus = test::torus({8});
  const auto job = parse_job(kGood, "job.json", 8, nullptr);
  const auto forward = joint_demand(torus, job->steps[0].operations, true);
  ASSERT_TRUE(forward);
  EXPECT_EQ(forward->buffers, (std::vector<std::int64_t>{8192, 125}));
  EXPECT_EQ(forward->operations[0].size(), 2);
  EXPECT_EQ(forward->operations[0][0].amounts, std::vector<std::int64_t>(4, 2048));
  EXPECT_EQ(forward->operations[1][0].amounts, std::vector<std::int64_t>{125});
  const auto second = joint_demand(torus, job->steps[1].operations, true);
  ASSERT_TRUE(second);
  EXPECT_EQ(second->buffers, (std::vector<std::int64_t>{8, 5}));
  EXPECT_EQ(second->operations[0][0].amounts, (std::vector<std::int64_t>{0, 7, 9, 0}));
  EXPECT_EQ(second->operations[1][0].amounts, (std::vector<std::int64_t>{0, 0, 0, 0, 0, 0, 0, 5}));
}

}  // namespace
}  // namespace forestcoll::testing
