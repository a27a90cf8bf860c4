// A mesh laid over the ranks in another order is the mesh with its axes in that order.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "forestcoll/job.hpp"

namespace forestcoll::testing {
namespace {

const Mesh kMesh{{{"tp", 4}, {"cp", 3}, {"dp", 2}}};
constexpr std::size_t kRanks = 24;

using GroupSet = std::set<std::set<Rank>>;

GroupSet as_set(const Groups& groups) {
  GroupSet set;
  for (const auto& group : groups) set.insert({group.begin(), group.end()});
  return set;
}

Mesh in_order(const std::vector<std::size_t>& order) {
  Mesh mesh;
  for (const std::size_t axis : order) mesh.axes.push_back(kMesh.axes[axis]);
  return mesh;
}

TEST(Placement, IsTheMeshInAnotherOrder) {
  std::vector<std::size_t> order{0, 1, 2};
  do {
    const auto placement = placement_of(kMesh, order);
    ASSERT_EQ(placement.size(), kRanks);
    EXPECT_EQ(std::set<Rank>(placement.begin(), placement.end()).size(), kRanks);
    const Mesh other = in_order(order);
    for (const std::string axes : {"tp", "cp", "dp", "tp-cp", "dp-tp", "cp-dp"}) {
      const Groups own = *parse_groups(axes, kRanks, &kMesh);
      const Job job{{{"step", 1, {{"", Collective::allgather, own, {}, {}, {}}}}}, kMesh};
      const Job there = placed(job, placement);
      EXPECT_EQ(as_set(there.steps[0].operations[0].groups),
                as_set(*parse_groups(axes, kRanks, &other)))
          << axes;
    }
  } while (std::ranges::next_permutation(order).found);
}

TEST(Placement, InTheOrderOfTheMeshChangesNothing) {
  const std::vector<std::size_t> order{0, 1, 2};
  std::size_t next = 0;
  for (const Rank rank : placement_of(kMesh, order)) EXPECT_EQ(rank, Rank(next++));
}

// Members stay in their order, so that roots and demands keep their meaning.
TEST(Placement, KeepsTheOrderOfMembers) {
  const std::vector<std::size_t> dp_first{2, 1, 0};
  const Job job{{{"step", 1, {{"", Collective::broadcast, {{Rank(5), Rank(1)}}, {}, 0, {}}}}},
                kMesh};
  const auto placement = placement_of(kMesh, dp_first);
  const Job there = placed(job, placement);
  const std::vector<Rank> expected{placement[5], placement[1]};
  EXPECT_EQ(there.steps[0].operations[0].groups[0], expected);
}

}  // namespace
}  // namespace forestcoll::testing
