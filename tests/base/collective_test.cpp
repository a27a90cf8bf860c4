#include "forestcoll/collective.hpp"

#include <gtest/gtest.h>

namespace forestcoll {
namespace {

TEST(Collective, NamesRoundTrip) {
  for (const auto c : {Collective::allgather, Collective::reduce_scatter, Collective::allreduce,
                       Collective::broadcast, Collective::reduce, Collective::alltoall,
                       Collective::scatter, Collective::gather}) {
    EXPECT_EQ(parse_collective(to_string(c)), c);
  }
  EXPECT_FALSE(parse_collective("alltoallv"));
  EXPECT_FALSE(parse_collective(""));
}

TEST(Collective, ReducesOrBroadcastsWhereItHasTrees) {
  for (const auto c : {Collective::reduce_scatter, Collective::reduce}) {
    EXPECT_TRUE(has_reduce(c) && !has_broadcast(c)) << to_string(c);
  }
  for (const auto c : {Collective::allgather, Collective::broadcast}) {
    EXPECT_TRUE(has_broadcast(c) && !has_reduce(c)) << to_string(c);
  }
  EXPECT_TRUE(has_reduce(Collective::allreduce) && has_broadcast(Collective::allreduce));
  for (const auto c : {Collective::alltoall, Collective::scatter, Collective::gather}) {
    EXPECT_FALSE(has_reduce(c) || has_broadcast(c)) << to_string(c);
  }
}

TEST(Collective, BusbwFactorsAreThoseOfNcclTests) {
  EXPECT_EQ(busbw_factor(Collective::allgather, 16), Ratio(15, 16));
  EXPECT_EQ(busbw_factor(Collective::reduce_scatter, 16), Ratio(15, 16));
  EXPECT_EQ(busbw_factor(Collective::alltoall, 16), Ratio(15, 16));
  EXPECT_EQ(busbw_factor(Collective::scatter, 16), Ratio(15, 16));
  EXPECT_EQ(busbw_factor(Collective::gather, 16), Ratio(15, 16));
  EXPECT_EQ(busbw_factor(Collective::allreduce, 16), Ratio(15, 8));
  EXPECT_EQ(busbw_factor(Collective::broadcast, 16), Ratio(1));
  EXPECT_EQ(busbw_factor(Collective::reduce, 16), Ratio(1));
}

}  // namespace
}  // namespace forestcoll
