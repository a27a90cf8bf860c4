// A small slice of what tools/scripts/stress does, and proof that its reference can tell.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "stress/balance_trial.hpp"
#include "stress/comparison.hpp"
#include "stress/kinds.hpp"
#include "stress/reference_packer.hpp"
#include "stress/trial.hpp"
#include "support/fabrics.hpp"

namespace forestcoll::stress {
namespace {

class Stress : public ::testing::TestWithParam<Kind> {};

TEST_P(Stress, EveryPackingIsSound) {
  for (std::uint64_t seed = 0; seed < 28; seed += 7) {
    const auto attempts = try_fabric(GetParam(), seed);
    EXPECT_GE(attempts.size(), 4u);
    for (const Attempt& attempt : attempts) {
      EXPECT_EQ(attempt.flaw, "") << "seed " << seed << ", " << attempt.what;
      if (GetParam() != Kind::wide) {
        EXPECT_EQ(attempt.refusal, "") << "seed " << seed;
      }
    }
  }
}

std::vector<Kind> every_kind() {
  std::vector<Kind> kinds;
  for (const KindName& each : kKinds) kinds.push_back(each.kind);
  return kinds;
}

INSTANTIATE_TEST_SUITE_P(Kinds, Stress, ::testing::ValuesIn(every_kind()), [](const auto& kind) {
  std::string name(kKinds[static_cast<std::size_t>(kind.param)].name);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(Kinds, StandInTheOrderOfTheirNumbers) {
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    EXPECT_EQ(static_cast<std::size_t>(kKinds[i].kind), i);
    EXPECT_EQ(kind_of(i).kind, kKinds[i].kind);
  }
}

TEST(Kinds, AreWhatTheySayOfBalance) {
  int unbalanced = 0;
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    for (const KindName& kind : kKinds) {
      const Network network = random_fabric_of(kind.kind, seed);
      const bool balanced = is_balanced(network, network.capacity);
      if (kind.kind == Kind::unbalanced) {
        unbalanced += !balanced;
      } else {
        EXPECT_TRUE(balanced) << kind.name << " " << seed;
      }
    }
  }
  EXPECT_GE(unbalanced, 50);
}

TEST(Unbalanced, ASliceIsAtItsOptimum) {
  int below_cuts = 0;
  for (std::uint64_t seed = 100; seed < 200; ++seed) {
    const BalanceTrial trial = try_unbalanced(seed);
    EXPECT_EQ(trial.flaw, "") << "seed " << seed;
    below_cuts += trial.below_cuts;
  }
  EXPECT_GT(below_cuts, 0);
}

void expect_agreement(std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    EXPECT_EQ(find_difference(comparison_fabric(seed)), "") << "seed " << seed;
  }
}

TEST(Reference, AgreesOnASliceOfItsFabrics) {
  expect_agreement(0, 1);
}

TEST(ReferenceLong, AgreesOnMoreOfItsFabrics) {
  expect_agreement(2, 5);
}

TEST(Reference, PacksWhatIsKnown) {
  // Two boxes of eight on two switches: 65/3 GB/s per root, thirteen trees (Zhao et al., NSDI'26).
  const auto packing = reference_pack(test::dgx_a100(2));
  ASSERT_TRUE(packing);
  EXPECT_EQ(packing->k, 13);
  EXPECT_TRUE(is_complete(*packing));
}

TEST(Reference, SaysWhereAForestIsIncomplete) {
  const auto packing = reference_pack(test::torus({3, 4}));
  ASSERT_TRUE(packing);
  ASSERT_TRUE(is_complete(*packing));
  auto overloaded = *packing;
  ++overloaded.trees[0].multiplicity;
  EXPECT_FALSE(is_complete(overloaded));
  auto missing = *packing;
  missing.trees.pop_back();
  EXPECT_FALSE(is_complete(missing));
  auto circular = *packing;
  const std::size_t v = circular.trees[0].root == 0 ? 1 : 0;
  circular.trees[0].parent[v] = v;
  EXPECT_FALSE(is_complete(circular));
}

}  // namespace
}  // namespace forestcoll::stress
