#include "solver/joint/joint_jobs.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "forestcoll/commodity.hpp"
#include "forestcoll/verify.hpp"
#include "support/fabrics.hpp"

namespace forestcoll::test {
namespace {

Network random_network(std::mt19937_64& random) {
  RandomOptions options;
  options.max_compute = 5;
  options.max_switches = 2;
  options.max_capacity = 1 + static_cast<Capacity>(random() % 9);
  options.one_way = random() % 3 == 0;
  options.unbalanced = random() % 3 == 0;
  return random_fabric(random(), options);
}

JobOperation random_operation(std::size_t ranks, std::mt19937_64& random) {
  constexpr Collective kCollectives[] = {Collective::allgather, Collective::reduce_scatter,
                                         Collective::allreduce, Collective::broadcast,
                                         Collective::reduce,    Collective::alltoall,
                                         Collective::scatter,   Collective::gather};
  // One after the other: compilers differ in the order of arguments.
  const Collective collective = kCollectives[random() % 8];
  Groups groups = random_groups(ranks, random);
  const auto bytes = static_cast<std::int64_t>(1 + random() % 7);
  JobOperation operation = operation_of(collective, std::move(groups), bytes);
  if (is_rooted(operation.collective)) operation.root = 0;
  return operation;
}

}  // namespace

Groups random_groups(std::size_t ranks, std::mt19937_64& random) {
  std::vector<std::size_t> order(ranks);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::shuffle(order, random);
  Groups groups(1);
  for (const std::size_t r : order) {
    if (groups.back().size() >= 2 && random() % 3 == 0) groups.emplace_back();
    groups.back().push_back(Rank(r));
  }
  if (groups.size() > 1 && random() % 3 == 0) groups.pop_back();
  return groups;
}

RandomJob random_job(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  RandomJob job;
  do {
    job.network = random_network(random);
  } while (job.network.ranks.size() < 3);
  const std::size_t count = 1 + random() % 4;
  for (std::size_t i = 0; i < count; ++i) {
    job.operations.push_back(random_operation(job.network.ranks.size(), random));
  }
  job.relays = random() % 2 == 0;
  return job;
}

RandomJob random_job_with_limits(std::uint64_t seed) {
  RandomJob job = random_job(seed);
  connect(job);
  std::mt19937_64 random(seed + 1);
  const std::size_t arcs = job.network.graph.arc_count();
  for (std::size_t i = 0, count = 1 + random() % 3; i < count; ++i) {
    std::map<ArcId, std::int64_t> uses;
    Capacity all = 0;
    while (uses.size() < std::min<std::size_t>(arcs, 2 + i)) {
      const ArcId arc(random() % arcs);
      const auto weight = static_cast<std::int64_t>(1 + random() % 3);
      if (uses.emplace(arc, weight).second) all += weight * job.network.capacity[arc];
    }
    const auto capacity =
        static_cast<Capacity>(1 + random() % static_cast<std::uint64_t>(all / 2 + 1));
    job.network.limits.push_back({{uses.begin(), uses.end()}, capacity, {}});
  }
  return job;
}

void connect(RandomJob& job) {
  if (!joint_demand(job.network, job.operations, job.relays)) job.relays = true;
}

JointOptimum exact_optimum(const Network& network, const std::vector<JobOperation>& operations,
                           bool relays) {
  const auto demand = joint_demand(network, operations, relays);
  EXPECT_TRUE(demand);
  auto optimum = joint_optimum(network, *demand);
  EXPECT_TRUE(optimum);
  EXPECT_TRUE(optimum->is_exact())
      << optimum->reached.to_string() << " to " << optimum->at_most.to_string();
  EXPECT_EQ(joint_rate_by_lengths(network, *demand, optimum->lengths, optimum->limit_lengths),
            optimum->at_most);
  return *std::move(optimum);
}

}  // namespace forestcoll::test
