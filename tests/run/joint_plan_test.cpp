// One plan of several process groups under mpirun: every element of every group.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

#include "audit/random_groups.hpp"
#include "run/mpirun.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// Ranks 1 and 4 with 0 in another order, 2 and 3, and 5, which only passes on.
std::string plan_of(Collective collective, bool in_place) {
  std::mt19937_64 random(11);
  const audit_test::RandomGroups groups(collective, {{4, 0, 1}, {2, 3}}, 6, true, random);
  PlanOptions options;
  options.in_place = in_place;
  options.shape.unit_bytes = 1024;  // several rounds
  const auto plan = lower_to_plan(groups.forests, IdVector<Rank, std::int32_t>(6, 0), options);
  if (plan) return to_mscclpp_json(*plan, "groups");
  ADD_FAILURE() << to_string(plan.errors().front());
  return {};
}

TEST(RunJointPlan, EveryGroupIsRightInEveryElement) {
  std::vector<std::pair<std::string, std::string>> plans;
  for (const Collective collective :
       {Collective::allgather, Collective::reduce_scatter, Collective::allreduce}) {
    for (const bool in_place : {true, false}) {
      plans.emplace_back(fmt::format("{}{}", to_string(collective), in_place),
                         plan_of(collective, in_place));
    }
  }
  const Result run = mpirun(6, plans, {"-b", "48K", "-n", "1", "-w", "1", "-c", "2", "--vs-mpi"});
  EXPECT_EQ(run.code, 0) << run.out << run.err;
  EXPECT_EQ(rows_of(run.out).all, 6) << run.out;
  EXPECT_EQ(rows_of(run.out).wrong, 0) << run.out;
}

TEST(RunJointPlan, WrongDataIsFound) {
  std::string plan = plan_of(Collective::allgather, true);
  plan = with(plan, "\"process_groups\":[[4,0,1],[2,3]]", "\"process_groups\":[[0,4,1],[2,3]]");
  const Result run = mpirun(6, plan, {"-b", "48K", "-n", "1", "-w", "0", "-c", "1"});
  EXPECT_EQ(run.code, 1) << run.out << run.err;
  EXPECT_THAT(run.out, AllOf(HasSubstr("wrong: rank 0 "), HasSubstr("rank 4 "), HasSubstr("FAILED"),
                             ::testing::Not(HasSubstr("rank 2 ("))));
}

}  // namespace
}  // namespace forestcoll::testing
