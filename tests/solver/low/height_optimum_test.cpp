// Trees of limited height within limits, beside all trees of small fabrics.
#include "forestcoll/height_optimum.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "forestcoll/congestion.hpp"
#include "forestcoll/job_parts.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/whole_collective.hpp"
#include "solver/joint/joint_jobs.hpp"
#include "solver/low/low_oracle.hpp"
#include "support/topology_of.hpp"

namespace forestcoll {
namespace {

struct Case {
  Network network;
  JobOperation operation;
  std::int32_t height = 1;
  std::optional<double> most = {};  // of all trees of that height, in GB/s of the whole buffer
};

std::optional<double> most_of_all(const Network& network, const JobOperation& operation,
                                  std::int32_t height) {
  const auto whole = [](const std::optional<double>& rate, std::size_t times) {
    return rate ? std::optional(*rate * static_cast<double>(times)) : std::nullopt;
  };
  switch (operation.collective) {
    case Collective::allreduce:
      return test::low_allreduce_rate(network, height);
    case Collective::broadcast:
      return test::low_rate(network, single_root(network, Rank(0)), height);
    case Collective::reduce_scatter:
      return whole(test::low_rate(reversed(network), uniform_weights(network), height),
                   network.ranks.size());
    default:
      return whole(test::low_rate(network, uniform_weights(network), height), network.ranks.size());
  }
}

Case case_of(std::uint64_t seed) {
  constexpr std::array kCollectives{Collective::allgather, Collective::reduce_scatter,
                                    Collective::allreduce, Collective::broadcast};
  Case made;
  made.network = test::random_job_with_limits(seed).network;
  const Collective collective = kCollectives[seed % 4];
  made.operation =
      operation_of_all(made.network, collective,
                       collective == Collective::broadcast ? std::optional(Rank(0)) : std::nullopt);
  made.height = static_cast<std::int32_t>(1 + seed / 4 % 3);
  made.most = most_of_all(made.network, made.operation, made.height);
  if (made.most) *made.most *= made.network.unit.to_double();
  return made;
}

// The fabric in the parts that trees of this height take.
Network parts_of(const Network& network, const JobOperation& operation,
                 const HeightOptimum& optimum) {
  const auto part = within_limits(test::topology_of(network), network, operation, optimum.shares,
                                  optimum.reached * Ratio(1, 16));
  EXPECT_TRUE(part) << to_string(part.errors().front());
  return *to_digraph(*part);
}

// Checks the optimum of so many random fabrics that have trees of their height; returns how many
// have.
template <class Check>
std::size_t check_optima(std::uint64_t first_seed, std::uint64_t count, const Check& check) {
  std::size_t compared = 0;
  for (std::uint64_t seed = first_seed; seed < first_seed + count; ++seed) {
    SCOPED_TRACE(seed);
    const Case made = case_of(seed);
    const auto found = optimum_of_height(made.network, made.operation, made.height);
    EXPECT_EQ(made.most.has_value(), found.has_value());
    if (!made.most || !found) continue;
    check(made, *found);
    ++compared;
  }
  return compared;
}

TEST(HeightOptimum, IsThatOfAllTreesOfSmallFabricsWithinLimits) {
  const auto compared = check_optima(40'000, 120, [](const Case& made, const HeightOptimum& found) {
    EXPECT_TRUE(found.is_optimal);
    EXPECT_NEAR(found.reached.to_double(), *made.most, 1e-6 * *made.most);
  });
  EXPECT_GT(compared, 80U);
}

// Links that a limit shares are divided so that trees of this height lose nothing.
TEST(HeightOptimum, IsReachedInItsParts) {
  const auto compared = check_optima(50'000, 80, [](const Case& made, const HeightOptimum& found) {
    const Network parts = parts_of(made.network, made.operation, found);
    ASSERT_TRUE(parts.limits.empty());
    SynthesizeOptions options;
    options.collective = made.operation.collective;
    if (made.operation.root) options.root = Rank(0);
    options.max_height = made.height;
    options.trees_per_root = {TreesPerRoot::Mode::optimal, 0};
    const auto forest = synthesize(parts, options);
    ASSERT_TRUE(forest) << to_string(forest.errors().front());
    EXPECT_NEAR(forest->forest.algbw.to_double(), *made.most, 1e-5 * *made.most);
    // Free links have all that they had, so that the whole may have more.
    EXPECT_LE(forest->forest.algbw, *congestion_algbw(forest->forest, made.network));
  });
  EXPECT_GT(compared, 50U);
}

}  // namespace
}  // namespace forestcoll
