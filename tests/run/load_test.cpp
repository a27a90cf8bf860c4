// What is read, and what is refused before anything is run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "run/mpirun.hpp"
#include "run/schedule.hpp"

namespace forestcoll::testing {
namespace {

using run::load_schedule;

std::string xml() {
  CompileOptions options;
  options.synthesis.collective = Collective::allreduce;
  return schedule_of("dgx-a100-x1", options);
}

std::string plan() {
  CompileOptions options;
  options.format = Format::mscclpp;
  return schedule_of("dgx-a100-x1", options);
}

std::optional<Code> first_code(const std::string& text) {
  const auto schedule = load_schedule(text, "file");
  return schedule ? std::nullopt : schedule.errors().front().code;
}

TEST(RunLoad, FactsAreThoseOfTheFile) {
  const auto schedule = load_schedule(with(with(xml(), "minBytes=\"0\"", "minBytes=\"1024\""),
                                           "outofplace=\"0\"", "outofplace=\"1\""),
                                      "file");
  ASSERT_TRUE(schedule) << to_string(schedule.errors().front());
  const run::ScheduleFacts& facts = (*schedule)->facts();
  EXPECT_EQ(facts.format, "msccl-xml");
  EXPECT_EQ(facts.pattern, run::Pattern::allreduce);
  EXPECT_EQ(facts.ranks, 8);
  EXPECT_EQ(facts.min_bytes, 1024);
  EXPECT_TRUE(facts.in_place && facts.out_of_place);
  EXPECT_FALSE(facts.is_refused_by_runtimes);
  EXPECT_FALSE(facts.only_sums);
  const auto other = load_schedule(plan(), "file");
  ASSERT_TRUE(other) << to_string(other.errors().front());
  EXPECT_EQ((*other)->facts().format, "mscclpp-plan");
  EXPECT_EQ((*other)->facts().grain, 16);
  EXPECT_TRUE((*other)->facts().only_sums);
}

// What only some runtimes take is run by the rules of the first of them.
TEST(RunLoad, LimitsOfARuntimeAreNoReasonNotToRun) {
  const auto research = load_schedule(
      schedule_of("dgx-a100-x1",
                  {.synthesis = {.collective = Collective::reduce_scatter, .trees_per_root = {}},
                   .tree_count = TreeCount::as_given,
                   .lowering = {.target = "msccl"}}),
      "file");
  ASSERT_TRUE(research) << to_string(research.errors().front());
  EXPECT_EQ((*research)->facts().pattern, run::Pattern::reduce_scatter);
  const auto unloadable = load_schedule(with(xml(), "  <gpu", "\t<gpu"), "file");
  ASSERT_TRUE(unloadable) << to_string(unloadable.errors().front());
  EXPECT_TRUE((*unloadable)->facts().is_refused_by_runtimes);
}

TEST(RunLoad, WrongFilesAreRefusedWithTheFindingsOfVerify) {
  EXPECT_EQ(first_code(""), Code::X01);
  EXPECT_EQ(first_code("{}"), Code::X01);
  EXPECT_EQ(first_code("\xEF\xBB\xBF size"), Code::X01);
  const std::string right = xml();
  EXPECT_EQ(first_code(right.substr(0, right.size() / 2)), Code::V01);
  EXPECT_EQ(first_code(with(right, "recv=\"1\"", "recv=\"99\"")), Code::V07);
  EXPECT_EQ(first_code(with(right, "hasdep=\"1\"", "hasdep=\"0\"")), Code::V09);
  EXPECT_EQ(first_code(with(right, "cnt=\"1\"", "cnt=\"70\"")), Code::V08);
  EXPECT_EQ(first_code(with(right, "type=\"s\"", "type=\"nop\"")), Code::V10);
  EXPECT_EQ(first_code(with(right, "type=\"s\"", "type=\"cpy\"")), Code::V12);
  const std::string other = plan();
  EXPECT_EQ(first_code(with(other, "\"name\":\"put\"", "\"name\":\"puts\"")), Code::V04);
  EXPECT_EQ(first_code(with(other, "\"collective\":\"allreduce\"", "\"collective\":\"some\"")),
            Code::V04);
  const std::string flows = alltoall_of("dgx-a100-x1", Format::flows);
  EXPECT_EQ(first_code(flows), std::nullopt);
  EXPECT_EQ(first_code(with(flows, "\"share\":\"1\"", "\"share\":\"1/3\"")), Code::V03);
  EXPECT_EQ(first_code(with(flows, "\"collective\":\"alltoall\"", "\"collective\":\"alltoallv\"")),
            Code::V03);
}

// Thousands of broken files: each is refused in words or taken, and none ends the process.
TEST(RunLoad, BrokenFilesNeverCrash) {
  std::mt19937 random(11);
  const std::vector<std::string> good = {xml(), plan(), alltoall_of("dgx-a100-x1", Format::flows)};
  int refused = 0;
  for (int i = 0; i < 600; ++i) {
    std::string text = good[static_cast<std::size_t>(i) % good.size()];
    for (int change = 0; change < 1 + i % 3; ++change) {
      const std::size_t at = random() % text.size();
      const std::size_t length = 1 + random() % 20;
      if (random() % 2 == 0) {
        text.replace(at, length, std::to_string(random() % 300));
      } else {
        text.replace(at, length, text.substr(random() % text.size(), length));
      }
    }
    const auto schedule = load_schedule(text, "file");
    if (schedule) continue;
    ++refused;
    ASSERT_FALSE(schedule.errors().empty());
    EXPECT_TRUE(schedule.errors().front().code.has_value());
    EXPECT_FALSE(schedule.errors().front().message.empty());
  }
  EXPECT_GT(refused, 300);
}

}  // namespace
}  // namespace forestcoll::testing
