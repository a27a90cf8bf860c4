// Plans for any buffers of callers: nothing but scratch is reached from elsewhere.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

const auto kNoBuffersOfCallers =
    AllOf(Not(HasSubstr("\"type\":\"i\",\"access")), Not(HasSubstr("\"type\":\"o\",\"access")),
          Not(HasSubstr("\"buffer_type\":\"i\"")), Not(HasSubstr("\"buffer_type\":\"o\"")),
          Not(HasSubstr("begin their allocations")));

/// What `verify` says of a plan that is valid and reaches scratch alone.
std::string verified(const std::string& fabric, const std::vector<std::string>& more) {
  const Scratch scratch;
  const std::string plan = scratch / "plan.json";
  run_well(joined({"synth", fabric, "--format", "mscclpp", "--any-buffers", "-o", plan}, more));
  EXPECT_THAT(read_file(plan), kNoBuffersOfCallers);
  return run_well({"verify", plan, "--topology", fabric}).out;
}

TEST(AnyBuffersLong, PlansOfEveryCollectiveReachScratchAlone) {
  for (const std::string collective : {"allreduce", "allgather", "reduce_scatter"}) {
    EXPECT_THAT(verified(topology("dgx-a100-x2"), {"-c", collective, "-k", "1"}),
                Not(HasSubstr("allocations")))
        << collective;
  }
  EXPECT_THAT(verified(topology("dgx-a100-x2"),
                       {"-c", "broadcast", "--root", "box0/gpu1", "-k", "1", "--outofplace"}),
              Not(HasSubstr("allocations")));
}

// Sums in the switch keep their rate.
TEST(AnyBuffersLong, SwitchesReachScratch) {
  const Scratch scratch;
  const std::string fabric = scratch / "box.json";
  ASSERT_EQ(run({"topo", "gen", "dgx-h100", "-o", fabric}).code, 0);
  const std::string plan = scratch / "plan.json";
  ASSERT_EQ(run({"synth", fabric, "--format", "mscclpp", "-k", "auto", "-o", plan}).code, 0);
  const auto by_default = run({"verify", plan, "--topology", fabric, "--json"});
  ASSERT_EQ(
      run({"synth", fabric, "--format", "mscclpp", "-k", "auto", "--any-buffers", "-o", plan}).code,
      0);
  EXPECT_THAT(read_file(plan), AllOf(HasSubstr("\"glres\""), kNoBuffersOfCallers));
  const auto any = run({"verify", plan, "--topology", fabric, "--json"});
  ASSERT_EQ(any.code, 0) << any.out;
  EXPECT_EQ(nlohmann::json::parse(any.out)["algbw"],
            nlohmann::json::parse(by_default.out)["algbw"]);
  EXPECT_THAT(any.out, Not(HasSubstr("multicast memory")));
}

TEST(AnyBuffers, AreForPlansOfTrees) {
  expect_says(2, {"synth", topology("dgx-a100-x1"), "--any-buffers", "-o", "-"},
              "--any-buffers is for plans of MSCCL++");
  const auto paths = run({"synth", topology("dgx-a100-x1"), "-c", "alltoall", "--format", "mscclpp",
                          "--any-buffers", "-o", "-"});
  EXPECT_EQ(paths.code, 3) << paths.err;
  EXPECT_THAT(paths.err, AllOf(HasSubstr("put data into the buffers of callers"),
                               HasSubstr("who allocate them")));
}

}  // namespace
}  // namespace forestcoll::testing
