// Groups in their parts of the links: together no more than there is, and each at the joint rate.
#include "forestcoll/job_parts.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "forestcoll/codes.hpp"
#include "forestcoll/joint_bound.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/verify.hpp"
#include "solver/joint/joint_jobs.hpp"
#include "support/fabrics.hpp"
#include "support/topology_of.hpp"

namespace forestcoll::testing {
namespace {

using test::groups_of;
using test::operation_of;
using test::RandomJob;

Topology two_boxes() {
  return test::generated_topology("dgx-a100", {{"boxes", "2"}});
}

struct DividedJob {
  Topology whole;
  std::vector<JobOperation> operations;
  StepBound bound;
  std::vector<JobPart> parts;
};

DividedJob divide(const Topology& whole, const std::vector<JobOperation>& operations,
                  bool relays = false) {
  const Network network = *to_digraph(whole);
  auto bound = bound_step(network, operations, relays, {.shares = true});
  EXPECT_TRUE(bound) << to_string(bound.errors().front());
  auto parts = job_parts(whole, network, operations, bound->together.shares, relays);
  EXPECT_TRUE(parts) << to_string(parts.errors().front());
  return {whole, operations, *std::move(bound), *std::move(parts)};
}

std::vector<PartClaim> claims_of(const DividedJob& job) {
  std::vector<PartClaim> claims;
  for (const JobPart& part : job.parts) {
    claims.push_back({"a part", job.operations[part.operation].groups[part.group], &part.topology});
  }
  return claims;
}

// What a group can do with its part alone.
Ratio rate_in(const JobPart& part, const DividedJob& job) {
  JobOperation alone = job.operations[part.operation];
  std::vector<Rank> all;
  for (std::size_t r = 0; r < part.topology.ranks.size(); ++r) all.emplace_back(r);
  alone.groups = {all};
  const Network network = *to_digraph(part.topology);
  const auto demand = joint_demand(network, std::vector{alone}, false);
  EXPECT_TRUE(demand) << to_string(demand.errors().front());
  return joint_optimum(network, *demand)->reached;
}

Ratio joint_rate(const JobPart& part, const DividedJob& job) {
  const JointDemand& demand = job.bound.demand;
  return job.bound.together.reached * Ratio(demand.buffers[part.operation], demand.whole());
}

// The oracle of a part is the joint optimum itself, of one group on the part. Returns the number of
// parts that lose by rounding, which is little.
std::size_t expect_at_joint_rate(const DividedJob& job) {
  const Diagnostics flaws = check_parts(job.whole, claims_of(job));
  EXPECT_TRUE(flaws.empty()) << to_string(flaws.front());
  std::size_t below = 0;
  for (const JobPart& part : job.parts) {
    const Ratio rate = rate_in(part, job), wanted = joint_rate(part, job);
    EXPECT_GE(rate.to_double(), wanted.to_double() * (1 - 1e-5)) << "operation " << part.operation;
    if (rate < wanted) ++below;
  }
  return below;
}

// Whether the members of every group reach one another both ways, as a topology's GPUs do: then an
// allgather of theirs is possible.
bool has_ways_back(const RandomJob& job) {
  RandomJob both = job;
  for (JobOperation& operation : both.operations) {
    operation = operation_of(Collective::allgather, operation.groups);
  }
  return joint_demand(both.network, both.operations, both.relays).has_value();
}

bool goes_one_way(const JobOperation& operation) {
  return is_rooted(operation.collective) || is_personalized(operation.collective);
}

TEST(JobParts, AreRefusedWhereThereIsNoWayBack) {
  std::size_t refused = 0;
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    RandomJob job = test::random_job(seed + 70'000);
    connect(job);
    if (has_ways_back(job)) continue;
    const Topology whole = test::topology_of(job.network);
    const Network network = *to_digraph(whole);
    const auto bound = bound_step(network, job.operations, job.relays, {.shares = true});
    ASSERT_TRUE(bound);
    const auto parts =
        job_parts(whole, network, job.operations, bound->together.shares, job.relays);
    ASSERT_FALSE(parts) << seed;
    EXPECT_EQ(parts.errors().front().code, Code::O08);
    ++refused;
  }
  EXPECT_GT(refused, 0);
}

TEST(JobParts, ReachTheJointRateOnRandomJobs) {
  std::size_t parts = 0, below = 0;
  for (std::uint64_t seed = 0; seed < 80; ++seed) {
    SCOPED_TRACE(seed);
    RandomJob job = test::random_job(seed + 70'000);
    connect(job);
    if (!has_ways_back(job)) continue;
    const DividedJob divided = divide(test::topology_of(job.network), job.operations, job.relays);
    const std::size_t rounded = expect_at_joint_rate(divided);
    if (std::ranges::any_of(job.operations, goes_one_way)) continue;  // for slivers of ways back
    parts += divided.parts.size();
    below += rounded;
  }
  EXPECT_GT(parts, 10);
  EXPECT_LE(below, parts / 10);
}

TEST(JobParts, ReachTheJointRateOfAMesh) {
  const auto in_box = [](std::size_t r) { return r / 8; };
  const auto across = [](std::size_t r) { return r % 8; };
  const std::vector mesh{operation_of(Collective::allgather, groups_of(32, in_box), 4),
                         operation_of(Collective::allreduce, groups_of(32, across), 1),
                         operation_of(Collective::alltoall, groups_of(32, across), 1)};
  const DividedJob job = divide(test::topology_of(test::dgx_a100(4)), mesh);
  ASSERT_EQ(job.parts.size(), 4 + 8 + 8);
  EXPECT_EQ(expect_at_joint_rate(job), 0);
}

// Equal groups get equal parts, so that one schedule serves all of them.
TEST(JobParts, AreAlikeWhereGroupsAre) {
  const auto across = [](std::size_t r) { return r % 8; };
  const auto in_box = [](std::size_t r) { return r / 8; };
  const DividedJob job =
      divide(two_boxes(), {operation_of(Collective::allreduce, groups_of(16, across)),
                           operation_of(Collective::reduce_scatter, groups_of(16, in_box))});
  std::set<std::string> across_shapes, box_shapes;
  for (const JobPart& part : job.parts) {
    (part.operation == 0 ? across_shapes : box_shapes).insert(shape_of(part.topology));
  }
  EXPECT_EQ(across_shapes.size(), 1);
  EXPECT_EQ(box_shapes.size(), 1);
}

Ratio bandwidth_of_kind(const Topology& topology, const std::string& kind) {
  Ratio sum;
  for (const TopologyLink& link : topology.links) {
    if (link.kind == kind) sum = sum + link.bandwidth;
  }
  return sum;
}

// Of two GPUs in different boxes, which need their NICs alone: NVLinks at them are theirs as well,
// by halves where two groups have the GPU.
TEST(JobParts, HandOutWhatNobodyUses) {
  const Groups pair{{Rank(0), Rank(8)}};
  const Ratio both = bandwidth_of_kind(two_boxes(), "nvlink") * Ratio(1, 8);
  const DividedJob one = divide(two_boxes(), {operation_of(Collective::allreduce, pair)});
  EXPECT_EQ(bandwidth_of_kind(one.parts.at(0).topology, "nvlink"), both);
  const DividedJob two = divide(two_boxes(), {operation_of(Collective::allreduce, pair),
                                              operation_of(Collective::allgather, pair)});
  EXPECT_EQ(bandwidth_of_kind(two.parts.at(0).topology, "nvlink"), both * Ratio(1, 2));
}

TEST(JobParts, CheckFindsWhatIsNoPart) {
  const auto across = [](std::size_t r) { return r % 8; };
  const Topology whole = two_boxes();
  const DividedJob job =
      divide(whole, {operation_of(Collective::allreduce, groups_of(16, across))});
  ASSERT_TRUE(check_parts(whole, claims_of(job)).empty());

  DividedJob wider = job;
  TopologyLink& link = wider.parts[3].topology.links[LinkId(0)];
  link.bandwidth = link.bandwidth * Ratio(1'000'001, 1'000'000);
  EXPECT_EQ(check_parts(whole, claims_of(wider)).size(), 2) << "both directions";

  DividedJob exchanged = job;
  std::swap(exchanged.parts[2].topology, exchanged.parts[5].topology);
  EXPECT_EQ(check_parts(whole, claims_of(exchanged)).size(), 2);

  DividedJob turned = job;
  std::swap(turned.parts[0].topology.ranks[0], turned.parts[0].topology.ranks[1]);
  EXPECT_EQ(check_parts(whole, claims_of(turned)).size(), 1);

  const Topology other = test::topology_of(test::dgx_a100(1));
  EXPECT_FALSE(check_parts(other, claims_of(job)).empty());
}

}  // namespace
}  // namespace forestcoll::testing
