// Rates beyond the joint one, against programs by their definition.
#include "forestcoll/max_min.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <vector>

#include "forestcoll/verify.hpp"
#include "solver/joint/joint_jobs.hpp"
#include "solver/joint/joint_oracle.hpp"
#include "support/fabrics.hpp"

namespace forestcoll::testing {
namespace {

using test::groups_of;
using test::operation_of;
using test::RandomJob;

struct Found {
  JointDemand demand;
  MaxMinRates rates;
};

Found rates_of(const RandomJob& job) {
  const auto demand = joint_demand(job.network, job.operations, job.relays);
  EXPECT_TRUE(demand);
  const auto together = joint_optimum(job.network, *demand);
  EXPECT_TRUE(together);
  const auto rates = max_min_rates(job.network, *demand, *together);
  EXPECT_TRUE(rates) << to_string(rates.errors().front());
  EXPECT_EQ(rates->levels.front().rate, together->reached);
  return {*demand, *rates};
}

// Under the lengths of a level all operations up to it use all that there is, later ones nothing.
void expect_proved(const RandomJob& job, const Found& found) {
  std::vector<std::optional<Ratio>> rates(job.operations.size());
  for (const MaxMinLevel& level : found.rates.levels) {
    for (const std::size_t i : level.operations) rates[i] = level.rate;
    Ratio used;
    for (std::size_t i = 0; i < rates.size(); ++i) {
      const JointDemand alone{{found.demand.operations[i]}, {found.demand.buffers[i]}, job.relays};
      const auto most =
          joint_rate_by_lengths(job.network, alone, level.lengths, level.limit_lengths);
      if (!rates[i]) {
        EXPECT_FALSE(most);
        continue;
      }
      if (most)
        used = used + *rates[i] * Ratio(found.demand.buffers[i], found.demand.whole()) / *most;
    }
    EXPECT_EQ(used, Ratio(1));
  }
}

TEST(MaxMin, IsTheDefinitionsOnRandomJobsWithWeights) {
  std::size_t levels = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    RandomJob job =
        seed % 4 == 0 ? test::random_job_with_limits(seed + 7'000) : test::random_job(seed + 3'000);
    std::mt19937_64 random(seed);
    for (JobOperation& operation : job.operations) {
      if (random() % 3 == 0) operation.weight = static_cast<std::int64_t>(1 + random() % 4);
    }
    test::connect(job);
    const Found found = rates_of(job);
    ASSERT_TRUE(found.rates.is_exact);
    const auto expected = test::max_min_by_definition(job.network, job.operations, job.relays);
    for (std::size_t i = 0; i < expected.size(); ++i) {
      EXPECT_NEAR(found.rates.rate_of(i).to_double(), expected[i], 1e-4 * expected[i]) << i;
    }
    EXPECT_TRUE(std::ranges::is_sorted(found.rates.levels, {}, &MaxMinLevel::rate));
    expect_proved(job, found);
    levels += found.rates.levels.size();
  }
  EXPECT_GT(levels, 70U);  // not all jobs end with the joint rate
}

// The NICs hold the pairs across boxes; within the boxes NVLink has room.
TEST(MaxMin, WhatStaysInTheBoxHasWhatNicsDoNotNeed) {
  const auto box = [](std::size_t r) { return r / 8; };
  const auto rail = [](std::size_t r) { return r % 8; };
  RandomJob job{test::dgx_a100(2),
                {operation_of(Collective::allgather, groups_of(16, box)),
                 operation_of(Collective::allreduce, groups_of(16, rail))},
                false};
  const Found found = rates_of(job);
  ASSERT_EQ(found.rates.levels.size(), 2U);
  EXPECT_EQ(found.rates.rate_of(1), Ratio(25));
  EXPECT_GT(found.rates.rate_of(0), Ratio(200));
  expect_proved(job, found);
}

// A weight of two is twice the rate, where both share all that they use.
TEST(MaxMin, WeightsDivideWhatIsShared) {
  const auto all = [](std::size_t) { return std::size_t{0}; };
  RandomJob job{test::dgx_a100(1),
                {operation_of(Collective::allgather, groups_of(8, all)),
                 operation_of(Collective::allgather, groups_of(8, all))},
                false};
  job.operations[1].weight = 2;
  const auto bound = bound_step(job.network, job.operations, false);
  ASSERT_TRUE(bound);
  EXPECT_EQ(bound->demand.buffers[1], 2 * bound->demand.buffers[0]);
  const auto alone = bound->alone[0].reached;
  EXPECT_EQ(bound->together.reached, alone * Ratio(2, 3));
  // One after the other takes as long as both together, of which the lesser weight is last: the
  // other's bytes, which are as many, move at half the rate that it has alone.
  EXPECT_EQ(bound->demand.largest(), 1U);
  EXPECT_EQ(bound->in_turn, alone / Ratio(2));
  EXPECT_EQ(rates_of(job).rates.levels.size(), 1U);
}

}  // namespace
}  // namespace forestcoll::testing
