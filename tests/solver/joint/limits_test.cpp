// The joint rate where links share capacities.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/job_parts.hpp"
#include "forestcoll/joint_bound.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/topology_text.hpp"
#include "forestcoll/verify.hpp"
#include "forestcoll/whole_collective.hpp"
#include "solver/joint/joint_jobs.hpp"
#include "solver/joint/joint_oracle.hpp"
#include "support/fabrics.hpp"
#include "support/topology_of.hpp"

namespace forestcoll::testing {
namespace {

using test::exact_optimum;
using test::groups_of;
using test::operation_of;
using test::RandomJob;

Groups everybody(std::size_t ranks) {
  return groups_of(ranks, [](std::size_t) { return 0; });
}

Ratio rate_of(const Network& network, Collective collective) {
  return exact_optimum(network, {operation_of(collective, everybody(network.ranks.size()))})
      .reached;
}

class LimitsRandom : public ::testing::TestWithParam<int> {};

TEST_P(LimitsRandom, AsByDefinition) {
  for (int i = 0; i < 30; ++i) {
    const auto seed = static_cast<std::uint64_t>(1000 * GetParam() + i);
    SCOPED_TRACE(seed);
    const RandomJob job = test::random_job_with_limits(seed);
    const double expected = test::joint_rate_by_definition(job.network, job.operations, job.relays);
    EXPECT_NEAR(exact_optimum(job.network, job.operations, job.relays).reached.to_double(),
                expected, 1e-6 * expected);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, LimitsRandom, ::testing::Range(0, 10));

// Three GPUs on a switch, two of them behind a bridge of 10 GB/s for what they send, and for what
// they receive.
Topology bridge(const std::string& limits) {
  const auto parsed = parse_topology(R"({"format": "forestcoll-topology", "version": 1,
    "nodes": [{"id": "g[0-2]", "type": "compute"}, {"id": "sw", "type": "switch"}],
    "links": [{"src": "g[0-2]", "dst": "sw", "bandwidth": 10, "kind": "pcie"}],
    "limits": [)" + limits + "]}",
                                     "bridge");
  EXPECT_TRUE(parsed) << to_string(parsed.errors().front());
  return parsed->topology;
}

Ratio rate_on_bridge(const std::string& limits, Collective collective) {
  return rate_of(*to_digraph(bridge(limits)), collective);
}

// By hand: an allgather sends each GPU 2/3 of the data, so that without limits 10 · 3/2 = 15.
TEST(Limits, OfABridge) {
  EXPECT_EQ(rate_on_bridge("", Collective::allgather), Ratio(15));
  // g0 and g1 receive 4/3 of the data together.
  const std::string down = R"({"links": ["sw->g[0-1]"], "bandwidth": 10})";
  EXPECT_EQ(rate_on_bridge(down, Collective::allgather), Ratio(15, 2));
  // All send 2 of it together, of which g2 sends no more than its link carries.
  const std::string up = R"({"links": ["g0->sw", "g1->sw"], "bandwidth": 10})";
  EXPECT_EQ(rate_on_bridge(up, Collective::allgather), Ratio(10));
  // A bus: 4/3 down and 2/3 up.
  const std::string bus = R"({"links": ["g[0-1]~sw"], "bandwidth": 10})";
  EXPECT_EQ(rate_on_bridge(bus, Collective::allgather), Ratio(5));
  EXPECT_EQ(rate_on_bridge(bus, Collective::reduce_scatter), Ratio(5));
  // What goes up counts twice: 4/3 and 4/3.
  const std::string weighed =
      R"({"links": ["sw->g[0-1]", "g[0-1]->sw"], "weights": [1, 2], "bandwidth": 10})";
  EXPECT_EQ(rate_on_bridge(weighed, Collective::allgather), Ratio(15, 4));
  // All that goes anywhere on one bus: 2 down and 2 up, as the switch does not copy.
  const std::string all = R"({"links": ["kind=pcie"], "bandwidth": "30 GB/s"})";
  EXPECT_EQ(rate_on_bridge(all, Collective::allgather), Ratio(15, 2));
}

TEST(Limits, ThatDoNotBindChangeNothing) {
  for (const Collective collective :
       {Collective::allgather, Collective::allreduce, Collective::alltoall}) {
    EXPECT_EQ(rate_on_bridge(R"({"links": ["kind=pcie"], "bandwidth": 60})", collective),
              rate_on_bridge("", collective));
  }
}

// A limit of one link is its bandwidth.
TEST(Limits, OfOneLinkAreBandwidths) {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    SCOPED_TRACE(seed);
    RandomJob job = test::random_job(seed + 3'000);
    connect(job);
    RandomJob narrow = job;
    const ArcId arc(seed % job.network.graph.arc_count());
    if (job.network.capacity[arc] < 2) continue;
    const Capacity half = job.network.capacity[arc] / 2;
    narrow.network.capacity[arc] = half;
    job.network.limits.push_back({{{arc, 1}}, half, {}});
    EXPECT_EQ(exact_optimum(job.network, job.operations, job.relays).reached,
              exact_optimum(narrow.network, narrow.operations, narrow.relays).reached);
  }
}

// Limits of all boxes are one class, as their links are.
void expect_half_where_nics_share(std::size_t boxes) {
  Topology topology = test::generated_topology("dgx-a100", {{"boxes", std::to_string(boxes)}});
  const Network plain = *to_digraph(topology);
  const Ratio before = rate_of(plain, Collective::allgather);
  for (std::size_t b = 0; b < boxes; ++b) {
    SharedLimit limit{"nics", Ratio(100), {}};  // of 200 GB/s of eight NICs
    for (const TopologyLink& link : topology.links) {
      if (link.kind == "ib" && topology.nodes[link.src].box == "box" + std::to_string(b)) {
        limit.uses.push_back({link.src, link.dst, 1});
      }
    }
    ASSERT_EQ(limit.uses.size(), 8U);
    topology.limits.push_back(limit);
  }
  EXPECT_EQ(rate_of(*to_digraph(topology), Collective::allgather), before * Ratio(1, 2));
}

TEST(Limits, AreSolvedBySymmetry) {
  expect_half_where_nics_share(4);
}
TEST(LimitsLong, AreSolvedBySymmetry) {
  expect_half_where_nics_share(16);
}

// Unequal shares of an allgather are broadcasts of as much from each of their owners, at once.
TEST(Limits, OfUnequalSharesAsByDefinition) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE(seed);
    Network network = test::random_job_with_limits(seed + 90'000).network;
    std::vector<JobOperation> broadcasts;
    std::int64_t all = 0, most = 0;
    for (std::size_t r = 0; r < network.ranks.size(); ++r) {
      const auto weight = static_cast<std::int64_t>((seed + 3 * r) % 4);
      network.weight.push_back(weight);
      all += weight;
      most = std::max(most, weight);
      if (weight == 0) continue;
      auto operation = operation_of(Collective::broadcast, everybody(network.ranks.size()), weight);
      operation.root = r;
      broadcasts.push_back(std::move(operation));
    }
    if (!joint_demand(network, broadcasts, false)) continue;
    const double expected = test::joint_rate_by_definition(network, broadcasts, false) *
                            static_cast<double>(all) / static_cast<double>(most);
    const auto optimum = optimum_of_all(network, operation_of_all(network, Collective::allgather));
    ASSERT_TRUE(optimum);
    EXPECT_NEAR(optimum->reached.to_double(), expected, 1e-6 * expected);
    const auto demand = demand_of_all(network, operation_of_all(network, Collective::allgather));
    EXPECT_EQ(joint_rate_by_lengths(network, *demand, optimum->lengths, optimum->limit_lengths),
              optimum->at_most);
  }
}

TEST(Limits, PartsKeepThem) {
  std::size_t parts = 0;
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    SCOPED_TRACE(seed);
    const RandomJob job = test::random_job_with_limits(seed + 70'000);
    const Topology whole = test::topology_of(job.network);
    const Network network = *to_digraph(whole);
    const auto bound = bound_step(network, job.operations, job.relays, {.shares = true});
    ASSERT_TRUE(bound) << to_string(bound.errors().front());
    const auto made = job_parts(whole, network, job.operations, bound->together.shares, job.relays);
    if (!made) continue;  // no way back
    std::vector<PartClaim> claims;
    for (const JobPart& part : *made) {
      claims.push_back(
          {"a part", job.operations[part.operation].groups[part.group], &part.topology});
    }
    const Diagnostics flaws = check_parts(whole, claims);
    EXPECT_TRUE(flaws.empty()) << to_string(flaws.front());
    parts += made->size();
  }
  EXPECT_GT(parts, 30);
}

}  // namespace
}  // namespace forestcoll::testing
