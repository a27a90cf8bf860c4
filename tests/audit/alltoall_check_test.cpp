// The checker of all-to-all proofs: proofs that are true are tested with the optimum, here are
// those that are not.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "forestcoll/alltoall_optimum.hpp"
#include "forestcoll/verify.hpp"
#include "support/fabrics.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::HasSubstr;

class AlltoallCheck : public ::testing::Test {
 protected:
  void SetUp() override { solve(test::torus({4, 4}), Demand::uniform(16)); }

  void solve(Network network, Demand demand) {
    network_ = std::move(network);
    demand_ = std::move(demand);
    proof_ = alltoall_optimum(network_, demand_)->proof;
    ASSERT_TRUE(proof_.is_exact());
    ASSERT_EQ(flaw(), "");
  }
  [[nodiscard]] std::string flaw() const { return find_alltoall_flaw(network_, demand_, proof_); }

  Network network_;
  Demand demand_ = Demand::uniform(0);
  AlltoallProof proof_;
};

TEST_F(AlltoallCheck, ARateAboveTheFlows) {
  proof_.reached = proof_.reached * Ratio(1001, 1000);
  EXPECT_THAT(flaw(), HasSubstr("carries more than it can"));
}

TEST_F(AlltoallCheck, ABoundBelowTheCut) {
  ASSERT_FALSE(proof_.cut.empty());
  proof_.at_most = proof_.at_most * Ratio(999, 1000);
  EXPECT_THAT(flaw(), HasSubstr("do not prove the bound"));
}

TEST_F(AlltoallCheck, LengthsOfAnotherCut) {
  proof_.cut.pop_back();
  EXPECT_THAT(flaw(), HasSubstr("not of the cut"));
}

TEST_F(AlltoallCheck, ACutOfEverything) {
  proof_.cut.clear();
  for (std::size_t v = 0; v < network_.graph.node_count(); ++v) proof_.cut.emplace_back(v);
  proof_.lengths.assign(network_.graph.arc_count(), 0);
  EXPECT_THAT(flaw(), HasSubstr("do not prove the bound"));
}

TEST_F(AlltoallCheck, ABoundBelowTheLengths) {
  proof_.cut.clear();
  proof_.lengths.assign(network_.graph.arc_count(), 1);
  EXPECT_EQ(flaw(), "");  // all links as long prove as much on a torus of two equal sides
  proof_.at_most = proof_.at_most * Ratio(999, 1000);
  EXPECT_THAT(flaw(), HasSubstr("do not prove the bound"));
}

TEST_F(AlltoallCheck, LengthsThatAreNone) {
  proof_.cut.clear();
  proof_.lengths.assign(network_.graph.arc_count(), 0);
  EXPECT_THAT(flaw(), HasSubstr("do not prove the bound"));
  proof_.lengths.assign(network_.graph.arc_count(), -1);
  EXPECT_THAT(flaw(), HasSubstr("negative"));
}

// One long arc would be counted once for the capacity and, for sources that symmetry leaves out,
// not at all as it is.
TEST_F(AlltoallCheck, LengthsThatSymmetriesChange) {
  proof_.cut.clear();
  proof_.lengths.assign(network_.graph.arc_count(), 1);
  proof_.lengths[ArcId(0)] = 2;
  EXPECT_THAT(flaw(), HasSubstr("different lengths"));
}

TEST_F(AlltoallCheck, AFlowThatLosesSomething) {
  auto& flow = proof_.flows.sources.front().flow;
  for (std::int64_t& amount : flow) {
    if (amount > 0) {
      --amount;
      break;
    }
  }
  EXPECT_THAT(flaw(), HasSubstr("does not get what it is to get"));
}

TEST_F(AlltoallCheck, ANegativeFlow) {
  // A circle of -1 changes no balance.
  auto& flow = proof_.flows.sources.front().flow;
  const NodeId at = network_.ranks[1], next = network_.graph.head(network_.graph.first_out(at));
  flow[network_.graph.find(at, next)] -= 1000;
  flow[network_.graph.find(next, at)] -= 1000;
  EXPECT_THAT(flaw(), HasSubstr("negative"));
}

TEST_F(AlltoallCheck, ASourceWithoutAFlow) {
  proof_.flows.sources.clear();
  EXPECT_THAT(flaw(), HasSubstr("has something to send, and no flow"));
  SetUp();
  proof_.flows.symmetries.clear();
  EXPECT_THAT(flaw(), HasSubstr("has something to send, and no flow"));
}

TEST_F(AlltoallCheck, AnOrbitTwice) {
  proof_.flows.sources.push_back(proof_.flows.sources.front());
  EXPECT_THAT(flaw(), HasSubstr("two flows"));
}

TEST_F(AlltoallCheck, SymmetriesThatAreNone) {
  const auto symmetry = proof_.flows.symmetries.front();
  auto& changed = proof_.flows.symmetries.front();
  changed[NodeId(0)] = changed[NodeId(1)];
  EXPECT_THAT(flaw(), HasSubstr("no permutation"));
  changed = symmetry;
  std::swap(changed[NodeId(0)], changed[NodeId(5)]);
  EXPECT_THAT(flaw(), HasSubstr("does not map the links"));
  changed.resize(3);
  EXPECT_THAT(flaw(), HasSubstr("not of this fabric"));
}

TEST_F(AlltoallCheck, ASymmetryThatChangesTheDemand) {
  std::vector<std::int64_t> amounts(256, 1);
  amounts[5] = 2;
  demand_ = Demand::matrix(16, amounts);
  EXPECT_THAT(flaw(), HasSubstr("does not map the demand"));
}

TEST_F(AlltoallCheck, ADerivedFabricHasAnotherProof) {
  network_ = test::derated(network_, NodeId(0), NodeId(1), Ratio(1, 2));
  EXPECT_NE(flaw(), "");
}

// Units of demand and parts of them.
TEST_F(AlltoallCheck, FlowsForLess) {
  std::vector<std::int64_t> amounts(256, 6);
  amounts[3] = 9;
  solve(test::torus({4, 4}), Demand::matrix(16, amounts));
  EXPECT_EQ(proof_.flows.unit, 3);
  proof_.flows.unit = 1;
  EXPECT_THAT(flaw(), HasSubstr("does not get what it is to get"));
}

}  // namespace
}  // namespace forestcoll::testing
