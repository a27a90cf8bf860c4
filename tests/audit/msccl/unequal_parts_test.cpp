// Ranks that own unequal parts: whose they are the file says, and errors about them are found.
#include <gtest/gtest.h>

#include "audit/checking.hpp"
#include "support/executor.hpp"
#include "support/fabrics.hpp"
#include "support/topology_of.hpp"

namespace audit_test {
namespace {

// Rank 0 owns chunks 0 and 1, rank 1 none, rank 2 the last: each sends to both others.
Algo unequal_stars(bool in_place) {
  Algo algo;
  algo.coll = "allgather";
  algo.nchunks = 3;
  algo.inplace = in_place ? 1 : 0;
  algo.outofplace = in_place ? 0 : 1;
  algo.gpus.resize(3);
  const std::vector<int> begin = {0, 2, 2, 3};
  const auto send = [&](int from, int to) {
    const int first = begin[static_cast<std::size_t>(from)];
    const int count = begin[static_cast<std::size_t>(from) + 1] - first;
    const Step sent =
        in_place ? Step{"s", 'o', first, 'o', first, count} : Step{"s", 'i', 0, 'o', first, count};
    algo.gpus[static_cast<std::size_t>(from)].tbs.push_back({to, -1, 0, {sent}});
    algo.gpus[static_cast<std::size_t>(to)].tbs.push_back(
        {-1, from, 0, {Step{"r", 'o', first, 'o', first, count}}});
  };
  for (const int from : {0, 2}) {
    for (int to = 0; to < 3; ++to) {
      if (to != from) send(from, to);
    }
  }
  if (!in_place) {
    algo.gpus[0].tbs.push_back({-1, -1, 0, {Step{"cpy", 'i', 0, 'o', 0, 2}}});
    algo.gpus[2].tbs.push_back({-1, -1, 0, {Step{"cpy", 'i', 0, 'o', 2, 1}}});
  }
  algo = finished(algo);
  algo.gpus[0].i_chunks = 2;
  algo.gpus[1].i_chunks = 0;
  algo.gpus[2].i_chunks = 1;
  return algo;
}

TEST(UnequalParts, AreThoseThatTheFileDeclares) {
  for (const bool in_place : {true, false}) {
    const Algo algo = unequal_stars(in_place);
    EXPECT_EQ(execute(algo, 5), Outcome::right);
    const Verdict verdict = verdict_for(algo);
    EXPECT_TRUE(verdict.ok) << to_string(verdict.findings.front());
    ASSERT_EQ(verdict.conditions.size(), 1U);
    EXPECT_NE(verdict.conditions[0].find("the part of the data that the file gives it"),
              std::string::npos);
    EXPECT_EQ(verdict.usable_counts.find("any count (elements that the call counts per rank)"), 0U)
        << verdict.usable_counts;
  }
}

TEST(UnequalParts, AWrongOwnerIsFound) {
  Algo algo = unequal_stars(false);
  std::swap(algo.gpus[1].i_chunks, algo.gpus[2].i_chunks);
  EXPECT_NE(execute(algo, 2), Outcome::right);
  EXPECT_TRUE(finds(verdict_for(algo), Code::V08, "is beyond the 0 chunks", "rank 2"));
  algo = unequal_stars(true);  // where the file names no input, and rank 1 sends nothing
  std::swap(algo.gpus[1].i_chunks, algo.gpus[2].i_chunks);
  EXPECT_NE(execute(algo, 2), Outcome::right);
  EXPECT_FALSE(verdict_for(algo).ok);
}

TEST(UnequalParts, ADisplacedChunkIsFound) {
  for (const bool in_place : {true, false}) {
    Algo algo = unequal_stars(in_place);
    Step& received = algo.gpus[1].tbs[0].steps[0];  // of rank 0's two chunks
    ASSERT_EQ(received.type, "r");
    received.dstoff = received.srcoff = 1;
    EXPECT_NE(execute(algo, 2), Outcome::right);
    EXPECT_FALSE(verdict_for(algo).ok);
  }
}

// Together they have to be the whole buffer.
TEST(UnequalParts, ADeclarationThatLeavesChunksWithoutAnOwnerIsFound) {
  Algo algo = unequal_stars(false);
  algo.gpus[2].i_chunks = 0;
  EXPECT_TRUE(finds(verdict_for(algo), Code::V11, "i_chunks is 2", "rank 0"));
}

// There a call has its part at rank times count, which is another place.
TEST(UnequalParts, InPlaceNoPartIsNamedByItsOwnBuffer) {
  Algo algo = unequal_stars(true);
  Step& sent = algo.gpus[2].tbs[1].steps[0];
  ASSERT_EQ(sent.type, "s");
  sent.srcbuf = 'i';
  sent.srcoff = 0;
  EXPECT_EQ(execute(algo, 2), Outcome::wrong);
  EXPECT_TRUE(finds(verdict_for(algo), Code::V11, "begins at rank × count", "rank 2"));
}

TEST(UnequalParts, AreNotForTheRuntimeThatChecksSizes) {
  const Verdict verdict = verdict_for(unequal_stars(true), "msccl");
  EXPECT_TRUE(finds(verdict, Code::V03, "target msccl loads equal ones alone"));
}

forestcoll::Topology weighted_star(const std::vector<std::int64_t>& weights) {
  forestcoll::test::FabricBuilder fabric(3, 1);
  for (std::size_t r = 0; r < 3; ++r) fabric.link(r, 3, 1);
  auto topology = forestcoll::test::topology_of(fabric.build());
  for (std::size_t r = 0; r < weights.size(); ++r) {
    topology.nodes[topology.ranks[r]].weight = weights[r];
  }
  return topology;
}

TEST(UnequalParts, AreThoseOfTheTopology) {
  const std::string text = to_xml(unequal_stars(true));
  const auto with = [&](const std::vector<std::int64_t>& weights) {
    const auto topology = weighted_star(weights);
    return *forestcoll::verify(text, "x.xml", &topology, {});
  };
  EXPECT_TRUE(with({4, 0, 2}).ok);  // in proportion
  EXPECT_TRUE(
      finds(with({1, 1, 1}), Code::V20, "n0 owns 2 of 3 chunks in the file, and 1 of 3 units"));
  EXPECT_FALSE(with({2, 1, 1}).ok);
  // And a file of equal parts is not for a topology of others.
  const auto weighted = weighted_star({2, 0, 1});
  const auto verdict = forestcoll::verify(good(), "x.xml", &weighted, {});
  EXPECT_TRUE(finds(*verdict, Code::V20, "n0 owns 1 of 3 chunks in the file, and 2 of 3 units"));
}

}  // namespace
}  // namespace audit_test
