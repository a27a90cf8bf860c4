// Operations and jobs for tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/job.hpp"
#include "forestcoll/joint_bound.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll::test {

/// Ranks of the same colour are a group.
inline Groups groups_of(std::size_t ranks, const std::function<std::size_t(std::size_t)>& colour) {
  std::map<std::size_t, std::vector<Rank>> by_colour;
  for (std::size_t r = 0; r < ranks; ++r) by_colour[colour(r)].push_back(Rank(r));
  Groups groups;
  for (auto& [number, group] : by_colour) groups.push_back(std::move(group));
  return groups;
}

inline JobOperation operation_of(Collective collective, Groups groups,
                                 std::optional<std::int64_t> bytes = {}) {
  return {std::string(to_string(collective)), collective, std::move(groups), bytes, {}, {}};
}

/// Some of the ranks in one or two groups.
[[nodiscard]] Groups random_groups(std::size_t ranks, std::mt19937_64& random);

struct RandomJob {
  Network network;
  std::vector<JobOperation> operations;
  bool relays = false;
};
/// One to four operations on a fabric of three to five GPUs and up to two switches.
[[nodiscard]] RandomJob random_job(std::uint64_t seed);
/// The same with one to three limits, each of some arcs, at most half of what these carry.
[[nodiscard]] RandomJob random_job_with_limits(std::uint64_t seed);
/// Sets relays where the groups do not reach one another without them.
void connect(RandomJob& job);

/// Fails the test where it is not exact, or its lengths do not prove it.
[[nodiscard]] JointOptimum exact_optimum(const Network& network,
                                         const std::vector<JobOperation>& operations,
                                         bool relays = false);

}  // namespace forestcoll::test
