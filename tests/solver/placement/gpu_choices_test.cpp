// Sets of GPUs that a job may take.
#include "forestcoll/gpu_choices.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <set>
#include <vector>

#include "support/fabrics.hpp"
#include "support/topology_of.hpp"

namespace forestcoll {
namespace {

bool is_set_of(const std::vector<Rank>& set, std::size_t count, std::size_t ranks) {
  return set.size() == count &&
         std::ranges::adjacent_find(set, std::greater_equal<>()) == set.end() &&
         set.back().index() < ranks;
}

TEST(GpuChoices, AreAllSetsWhereTheyAreFew) {
  const Network network = test::dgx_a100(1);
  const auto all = all_gpu_choices(network, 3, 56);
  EXPECT_TRUE(all.all);
  EXPECT_EQ(std::set(all.sets.begin(), all.sets.end()).size(), 56);
  for (const auto& set : all.sets) EXPECT_TRUE(is_set_of(set, 3, 8));
  EXPECT_TRUE(all_gpu_choices(network, 3, 55).sets.empty());
  EXPECT_FALSE(all_gpu_choices(network, 3, 55).all);
  EXPECT_EQ(all_gpu_choices(network, 8, 1).sets.size(), 1);
}

TEST(GpuChoices, AreByBoxesAndPlacesInThem) {
  const Topology topology = test::generated_topology("dgx-a100", {{"boxes", "4"}});
  const auto network = to_digraph(topology);
  ASSERT_TRUE(network);
  const auto some = gpu_choices_by_boxes(topology, *network, 12, 100);
  EXPECT_FALSE(some.all);
  std::set<std::vector<std::size_t>> by_box;  // how many of each, sorted
  for (const auto& set : some.sets) {
    EXPECT_TRUE(is_set_of(set, 12, 32));
    std::vector<std::size_t> count(4, 0);
    for (const Rank r : set) ++count[r.index() / 8];
    std::ranges::sort(count, std::greater<>());
    by_box.insert(count);
  }
  EXPECT_TRUE(by_box.contains({8, 4, 0, 0}));
  EXPECT_TRUE(by_box.contains({6, 6, 0, 0}));
  EXPECT_TRUE(by_box.contains({4, 4, 4, 0}));
  EXPECT_TRUE(by_box.contains({3, 3, 3, 3}));
  EXPECT_EQ(gpu_choices_by_boxes(topology, *network, 12, 2).sets.size(), 2);
}

TEST(GpuChoices, HaveBlocksWhereThereAreNoBoxes) {
  const Topology topology =
      test::generated_topology("torus", {{"dims", "4x4"}, {"bandwidth", "50"}});
  const auto network = to_digraph(topology);
  ASSERT_TRUE(network);
  const auto some = gpu_choices_by_boxes(topology, *network, 4, 100);
  const auto is_square = [](const std::vector<Rank>& set) {
    std::set<std::size_t> rows, columns;
    for (const Rank r : set) {
      rows.insert(r.index() / 4);
      columns.insert(r.index() % 4);
    }
    return rows.size() == 2 && columns.size() == 2;
  };
  EXPECT_GE(std::ranges::count_if(some.sets, is_square), 1);
}

TEST(DistinctPlacements, LeaveOutWhatIsTheSame) {
  const Network network = test::dgx_a100(1);  // all GPUs are alike
  const Job job{{{"step", 1, {{"a", Collective::allgather, {{Rank(0), Rank(1)}}}}}}};
  const std::vector<std::vector<Rank>> placements{
      {Rank(0), Rank(1)}, {Rank(1), Rank(0)}, {Rank(1), Rank(2)}, {Rank(2), Rank(3)}};
  using Indices = std::vector<std::size_t>;
  EXPECT_EQ(distinct_placements(network, job, placements, false), (Indices{0, 2, 3}));
  EXPECT_EQ(distinct_placements(network, job, placements, true).front(), 0);
  EXPECT_LT(distinct_placements(network, job, placements, true).size(), 3);
}

}  // namespace
}  // namespace forestcoll
