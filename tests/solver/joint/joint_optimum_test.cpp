// The best joint rate against the program by its definition, and against itself.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "forestcoll/codes.hpp"
#include "forestcoll/joint_bound.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/topology_text.hpp"
#include "forestcoll/verify.hpp"
#include "solver/joint/joint_jobs.hpp"
#include "solver/joint/joint_oracle.hpp"
#include "support/fabrics.hpp"

namespace forestcoll::testing {
namespace {

using test::connect;
using test::groups_of;
using test::operation_of;
using test::random_groups;
using test::random_job;
using test::RandomJob;

JointOptimum optimum_of(const RandomJob& job) {
  return test::exact_optimum(job.network, job.operations, job.relays);
}

// Trees with weights whose common denominator is far beyond 64 bits reach a simple rate.
TEST(JointOptimumLong, IsExactOnIrregularGroupsOf64) {
  std::mt19937_64 random(5);
  std::vector<std::size_t> order(64);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::shuffle(order, random);
  const auto anywhere = [&](std::size_t r) { return order[r] / 16; };
  for (const Collective collective : {Collective::allreduce, Collective::alltoall}) {
    const RandomJob job{
        test::dgx_a100(8), {operation_of(collective, groups_of(64, anywhere))}, true};
    optimum_of(job);
  }
}

Network one_way_ring() {
  const auto parsed =
      parse_topology(R"({"format": "forestcoll-topology", "version": 1, "name": "ring",
    "nodes": [{"id": "g[0-3]", "type": "compute"}],
    "links": [{"src": "g[0-3]", "dst": "g[1,2,3,0]", "pair": "zip", "bandwidth": 1,
               "duplex": "simplex"}]})",
                     "ring");
  return *to_digraph(parsed->topology);
}

// Bytes that nothing divides, of trees beside paths: both sides of the proof meet, or all but.
TEST(JointOptimum, ProvesOddBytesOfTreesBesidePaths) {
  std::size_t exact = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    RandomJob job = random_job(seed + 90'000);
    std::mt19937_64 random(seed);
    job.operations.push_back(
        operation_of(Collective::alltoall, random_groups(job.network.ranks.size(), random)));
    for (JobOperation& operation : job.operations) {
      operation.bytes = static_cast<std::int64_t>(1'000'000 + random() % 1'000'000'000);
      if (operation.root) operation.root = random() % 2;
    }
    connect(job);
    const auto bound = bound_step(job.network, job.operations, job.relays);
    ASSERT_TRUE(bound) << to_string(bound.errors().front());
    const JointOptimum& together = bound->together;
    EXPECT_LE(together.reached, together.at_most);
    EXPECT_GE(together.reached.to_double(), (1 - 1e-6) * together.at_most.to_double());
    EXPECT_GE(together.reached, bound->in_turn);
    const auto checked =
        joint_rate_by_lengths(job.network, bound->demand, together.lengths, together.limit_lengths);
    ASSERT_TRUE(checked);
    EXPECT_LE(*checked, together.at_most);
    exact += together.is_exact() ? 1U : 0U;
  }
  EXPECT_GE(exact, 50U);
}

// With a rate that has to be reached: what reaches it is as without, the rest is proved to be
// slower.
TEST(JointOptimum, EndsWhereNoRateIsAsHigh) {
  int ended = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    RandomJob job = random_job(seed + 50'000);
    connect(job);
    const auto demand = joint_demand(job.network, job.operations, job.relays);
    ASSERT_TRUE(demand);
    const auto whole = joint_optimum(job.network, *demand);
    ASSERT_TRUE(whole);
    for (const double times : {0.99, 1.01, 3.0}) {
      JointLimits limits;
      limits.least_rate = whole->reached.to_double() * times;
      const auto found = joint_optimum(job.network, *demand, limits);
      ASSERT_TRUE(found);
      if (found->reached == Ratio(0)) {
        ++ended;
        EXPECT_GT(times, 1);
        EXPECT_GE(found->at_most, whole->at_most);
        EXPECT_EQ(joint_rate_by_lengths(job.network, *demand, found->lengths, {}), found->at_most);
      } else {
        EXPECT_EQ(found->reached, whole->reached);
      }
    }
  }
  EXPECT_GT(ended, 20);
}

// Of a demand with few bytes beside many: what one pair has does not drown in what others have.
TEST(JointOptimum, ProvesUnevenDemands) {
  const Network network = test::dgx_a100(1);
  std::mt19937_64 random(11);
  std::vector<std::int64_t> amounts(64);
  for (std::int64_t& amount : amounts)
    amount = static_cast<std::int64_t>(1 + random() % 1'000'000'000);
  JobOperation experts = operation_of(Collective::alltoall, groups_of(8, [](auto) { return 0; }));
  experts.demand = Demand::matrix(8, amounts);
  JobOperation sums =
      operation_of(Collective::allreduce, groups_of(8, [](auto) { return 0; }), 1 << 28);
  const auto bound = bound_step(network, std::vector{experts, sums}, false);
  ASSERT_TRUE(bound) << to_string(bound.errors().front());
  EXPECT_GE(bound->together.reached.to_double(), (1 - 1e-6) * bound->together.at_most.to_double());
  EXPECT_GE(bound->together.reached, bound->in_turn);
}

// A ring of one direction has a way from a root to all, though none back within the group.
TEST(JointOptimum, AsksForTheWaysThatAreUsed) {
  const Network ring = one_way_ring();
  for (const auto& [collective, root, has_way] :
       {std::tuple(Collective::broadcast, 0, true), std::tuple(Collective::broadcast, 1, false),
        std::tuple(Collective::reduce, 1, true), std::tuple(Collective::scatter, 0, true),
        std::tuple(Collective::gather, 1, true), std::tuple(Collective::gather, 0, false),
        std::tuple(Collective::allgather, 0, false)}) {
    JobOperation operation = operation_of(collective, {{Rank(0), Rank(1)}});
    if (is_rooted(collective)) operation.root = static_cast<std::size_t>(root);
    const auto demand = joint_demand(ring, std::vector{operation}, false);
    EXPECT_EQ(demand.has_value(), has_way) << to_string(collective) << root;
  }
}

// Many bytes beside few.
TEST(JointOptimum, AddsUpManyBytesBesideFew) {
  const Groups all = groups_of(4, [](auto) { return 0; });
  const std::vector operations{operation_of(Collective::alltoall, all, std::int64_t{1} << 40),
                               operation_of(Collective::allgather, all, 1 << 10)};
  const auto bound = bound_step(one_way_ring(), operations, false);
  ASSERT_TRUE(bound) << to_string(bound.errors().front());
  EXPECT_LE(bound->together.reached, bound->together.at_most);
  EXPECT_NEAR(bound->together.reached.to_double(), 2.0 / 3, 1e-6);
}

class JointRandom : public ::testing::TestWithParam<int> {};

TEST_P(JointRandom, AsByDefinition) {
  for (int i = 0; i < 30; ++i) {
    RandomJob job = random_job(static_cast<std::uint64_t>(1000 * GetParam() + i));
    connect(job);
    SCOPED_TRACE(1000 * GetParam() + i);
    const double expected = test::joint_rate_by_definition(job.network, job.operations, job.relays);
    EXPECT_NEAR(optimum_of(job).reached.to_double(), expected, 1e-6 * expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, JointRandom, ::testing::Range(0, 10));

Ratio rate_of(const RandomJob& job) {
  return optimum_of(job).reached;
}

// What is the same job has the same rate.
TEST(JointOptimum, IsTheSameForTheSameJob) {
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    SCOPED_TRACE(seed);
    RandomJob job = random_job(seed + 50'000);
    connect(job);
    const Ratio rate = rate_of(job);

    RandomJob scaled = job;
    for (JobOperation& operation : scaled.operations) *operation.bytes *= 1'000'003;
    EXPECT_EQ(rate_of(scaled), rate) << "amounts in another unit";

    RandomJob wider = job;
    wider.network.unit = job.network.unit * Ratio(7, 3);
    EXPECT_EQ(rate_of(wider), rate * Ratio(7, 3)) << "capacities in another unit";

    RandomJob other_order = job;
    std::ranges::reverse(other_order.operations);
    for (JobOperation& operation : other_order.operations) std::ranges::reverse(operation.groups);
    EXPECT_EQ(rate_of(other_order), rate) << "operations and groups in another order";

    RandomJob halves = job;
    for (JobOperation& operation : halves.operations) *operation.bytes *= 2;
    JobOperation half = halves.operations.front();
    *half.bytes /= 2;
    halves.operations.front() = half;
    halves.operations.push_back(half);
    const auto largest = [](const RandomJob& of) {
      return *std::ranges::max_element(of.operations, {}, &JobOperation::bytes)->bytes;
    };
    EXPECT_EQ(rate_of(halves) * Ratio(2 * largest(job), largest(halves)), rate)
        << "an operation as two halves";
  }
}

// Ranks that are numbered in another order.
TEST(JointOptimum, DoesNotDependOnTheNumbersOfRanks) {
  const Network torus = test::torus({3, 4});
  const auto rows = [](std::size_t r) { return r / 3; };
  const RandomJob job{
      torus,
      {operation_of(Collective::allgather, groups_of(12, rows)),
       operation_of(Collective::alltoall, groups_of(12, [](auto r) { return r % 3; }))},
      true};
  RandomJob other = job;
  std::vector<std::size_t> to(12);
  std::iota(to.begin(), to.end(), std::size_t{0});
  std::mt19937_64 random(7);
  std::ranges::shuffle(to, random);
  for (std::size_t r = 0; r < 12; ++r) {
    other.network.ranks[to[r]] = torus.ranks[r];
    other.network.rank_of[torus.ranks[r]] = Rank(to[r]);
  }
  for (JobOperation& operation : other.operations) {
    for (auto& group : operation.groups) {
      for (Rank& r : group) r = Rank(to[r.index()]);
    }
  }
  EXPECT_EQ(rate_of(other), rate_of(job));
}

// What operations take of the links is within them, and more than nothing where lengths are.
TEST(JointOptimum, LoadsKeepTheLinksAndFillThoseThatBind) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    RandomJob job = random_job(seed + 90'000);
    connect(job);
    const JointOptimum optimum = optimum_of(job);
    ASSERT_EQ(optimum.loads.size(), job.operations.size());
    for (std::size_t a = 0; a < job.network.graph.arc_count(); ++a) {
      double sum = 0;
      for (const auto& load : optimum.loads) sum += load[ArcId(a)];
      EXPECT_LE(sum, 1 + 1e-12);
      if (optimum.lengths[ArcId(a)] > 0) {
        EXPECT_NEAR(sum, 1, 1e-12) << "seed " << seed;
      }
    }
  }
}

TEST(JointOptimum, WrongLengthsProveLess) {
  RandomJob job = random_job(3);
  connect(job);
  const auto demand = joint_demand(job.network, job.operations, job.relays);
  const JointOptimum optimum = optimum_of(job);
  std::size_t other = 0;
  for (std::size_t a = 0; a < optimum.lengths.size(); ++a) {
    ArcLengths lengths = optimum.lengths;
    lengths[ArcId(a)] += 1 + lengths[ArcId(a)] / 2;
    const auto bound = joint_rate_by_lengths(job.network, *demand, lengths, {});
    ASSERT_TRUE(bound);
    EXPECT_GE(*bound, optimum.at_most);
    if (*bound != optimum.at_most) ++other;
    lengths[ArcId(a)] = -1;
    EXPECT_FALSE(joint_rate_by_lengths(job.network, *demand, lengths, {}));
  }
  EXPECT_GT(other, 0);
  EXPECT_FALSE(joint_rate_by_lengths(job.network, *demand, ArcLengths(), {}));
  EXPECT_FALSE(joint_rate_by_lengths(job.network, *demand,
                                     ArcLengths(job.network.graph.arc_count(), 0), {}));
}

// One after the other takes the sum of the times; at once it takes no longer, and no less than the
// longest.
TEST(JointOptimum, IsBetweenTheLongestAndTheSum) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    RandomJob job = random_job(seed + 70'000);
    connect(job);
    const auto step = bound_step(job.network, job.operations, job.relays);
    ASSERT_TRUE(step);
    EXPECT_GE(step->together.reached, step->in_turn);
    ASSERT_EQ(step->alone.size(), job.operations.size());
    for (std::size_t i = 0; i < job.operations.size(); ++i) {
      const Ratio part(step->demand.buffers[i], step->demand.whole());
      EXPECT_LE(step->together.reached * part, step->alone[i].at_most);
    }
  }
}

TEST(JointOptimum, SaysWhereRanksDoNotReachOneAnother) {
  const Network torus = test::torus({4, 4});
  const JobOperation far = operation_of(Collective::allreduce, {{Rank(0), Rank(10)}});
  const auto step = bound_step(torus, std::vector{far}, false);
  ASSERT_FALSE(step);
  EXPECT_EQ(step.errors().front().code, Code::O08);
  EXPECT_TRUE(bound_step(torus, std::vector{far}, true));
}

TEST(JointOptimum, SaysWhereAmountsDoNotFit) {
  const Network torus = test::torus({4, 4});
  const JobOperation huge =
      operation_of(Collective::allgather, {{Rank(0), Rank(1), Rank(2)}}, std::int64_t{1} << 60);
  const auto step = bound_step(
      torus, std::vector{huge, operation_of(Collective::reduce_scatter, {{Rank(0), Rank(1)}}, 1)},
      true);
  ASSERT_FALSE(step);
  EXPECT_EQ(step.errors().front().code, Code::E14);
}

}  // namespace
}  // namespace forestcoll::testing
