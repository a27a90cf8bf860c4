// Known answers of several collectives at once, each an exact fraction proved from both sides.
#include <gtest/gtest.h>

#include <string>
#include <vector>

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

constexpr Collective kGather = Collective::allgather;
constexpr Collective kScatter = Collective::reduce_scatter;
constexpr Collective kReduce = Collective::allreduce;
constexpr Collective kAll = Collective::alltoall;

Network mesh_of_eight() {
  test::FabricBuilder b(8);
  for (std::size_t i = 0; i < 8; ++i) {
    for (std::size_t j = 0; j < i; ++j) b.link(i, j, 1);
  }
  return b.build();
}

// The exact rate, as text; an interval where it is none.
std::string rate(const Network& network, const std::vector<JobOperation>& operations, bool relays) {
  const auto demand = joint_demand(network, operations, relays);
  if (!demand) return to_string(demand.errors().front());
  const auto optimum = joint_optimum(network, *demand);
  if (!optimum) return to_string(optimum.errors().front());
  const auto again =
      joint_rate_by_lengths(network, *demand, optimum->lengths, optimum->limit_lengths);
  EXPECT_EQ(again, optimum->at_most);
  if (optimum->is_exact()) return optimum->reached.to_string();
  return optimum->reached.to_string() + " to " + optimum->at_most.to_string();
}

const Groups kPairs = {
    {Rank(0), Rank(1)}, {Rank(2), Rank(3)}, {Rank(4), Rank(5)}, {Rank(6), Rank(7)}};

TEST(JointKnown, FullMeshOfEight) {
  const Network mesh = mesh_of_eight();
  EXPECT_EQ(rate(mesh, {operation_of(kReduce, kPairs)}, true), "4");
  EXPECT_EQ(rate(mesh, {operation_of(kReduce, kPairs)}, false), "1");
  const Groups quads = groups_of(8, [](std::size_t r) { return r / 4; });
  EXPECT_EQ(rate(mesh, {operation_of(kReduce, quads)}, true), "10/3");
  EXPECT_EQ(rate(mesh, {operation_of(kReduce, quads)}, false), "2");
  EXPECT_EQ(rate(mesh, {operation_of(kGather, {kPairs.front()}, 2)}, true), "14");
  EXPECT_EQ(rate(mesh, {operation_of(kGather, kPairs, 2)}, true), "8");
}

TEST(JointKnown, TwoBoxesOfA100) {
  const Network a100 = test::bundled_network("dgx-a100-x2");
  const Groups rails = groups_of(16, [](std::size_t r) { return r % 8; });
  const Groups boxes = groups_of(16, [](std::size_t r) { return r / 8; });
  const Groups all = groups_of(16, [](std::size_t) { return 0; });
  EXPECT_EQ(rate(a100, {operation_of(kReduce, {rails.front()})}, true), "200");
  EXPECT_EQ(rate(a100, {operation_of(kReduce, {rails.front()})}, false), "25");
  EXPECT_EQ(rate(a100, {operation_of(kReduce, rails)}, true), "25");
  EXPECT_EQ(rate(a100, {operation_of(kReduce, rails)}, false), "25");
  EXPECT_EQ(rate(a100, {operation_of(kGather, boxes), operation_of(kReduce, rails)}, false), "25");
  EXPECT_EQ(rate(a100, {operation_of(kGather, all), operation_of(kScatter, all)}, false), "520/3");
  EXPECT_EQ(rate(a100, {operation_of(kGather, all, 2), operation_of(kAll, all, 1)}, false), "80");
}

TEST(JointKnown, FourBoxesOfH100) {
  const Network h100 = test::bundled_network("dgx-h100-x4-rail");
  const Groups rails = groups_of(32, [](std::size_t r) { return r % 8; });
  const Groups boxes = groups_of(32, [](std::size_t r) { return r / 8; });
  const Groups halves = groups_of(32, [](std::size_t r) { return r / 16; });
  EXPECT_EQ(rate(h100, {operation_of(kReduce, {rails[0]})}, true), "800/3");
  EXPECT_EQ(rate(h100, {operation_of(kReduce, {rails[0]})}, false), "100/3");
  EXPECT_EQ(rate(h100, {operation_of(kReduce, {rails[0], rails[1]})}, true), "400/3");
  EXPECT_EQ(rate(h100, {operation_of(kReduce, rails)}, true), "100/3");
  EXPECT_EQ(rate(h100, {operation_of(kReduce, rails, 1), operation_of(kGather, boxes, 4)}, false),
            "400/3");
  EXPECT_EQ(rate(h100, {operation_of(kReduce, rails), operation_of(kAll, halves)}, false), "25");
}

TEST(JointKnown, Torus) {
  const Network torus = test::bundled_network("torus-4x4");
  const Groups rows = groups_of(16, [](std::size_t r) { return r / 4; });
  const Groups columns = groups_of(16, [](std::size_t r) { return r % 4; });
  for (const bool relays : {true, false}) {
    EXPECT_EQ(rate(torus, {operation_of(kGather, rows)}, relays), "8/3");
    EXPECT_EQ(rate(torus, {operation_of(kGather, rows), operation_of(kReduce, columns)}, relays),
              "4/3");
  }
}

TEST(JointKnown, SixteenDies) {
  const Network mi250 = test::bundled_network("mi250-x1");
  const Groups halves = groups_of(16, [](std::size_t r) { return r / 8; });
  const Groups modules = groups_of(16, [](std::size_t r) { return r / 2; });
  EXPECT_EQ(rate(mi250, {operation_of(kReduce, halves)}, true), "500/3");
  EXPECT_EQ(rate(mi250, {operation_of(kReduce, halves)}, false), "150");
  EXPECT_EQ(rate(mi250, {operation_of(kReduce, modules)}, true), "225");
  EXPECT_EQ(rate(mi250, {operation_of(kReduce, {modules.front()})}, true), "350");
}

// CLP's primal simplex takes the first program of lengths for infeasible.
TEST(JointKnown, ThreeOfFourWhereCapacitiesAreSixthsToTwos) {
  test::FabricBuilder b(4, 3);  // switches are 4 to 6
  b.link(1, 5, 6);
  b.arc(4, 5, 6);
  b.link(2, 4, 12);
  b.link(3, 4, 12);
  b.link(2, 5, 3);
  b.link(1, 4, 2);
  b.link(2, 3, 12);
  b.link(0, 5, 3);
  b.link(3, 6, 6);
  const Groups three = {{Rank(2), Rank(1), Rank(3)}};
  EXPECT_EQ(rate(b.build(), {operation_of(kScatter, three)}, false), "15/2");
}

}  // namespace
}  // namespace forestcoll::testing
