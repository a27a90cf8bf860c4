// What several checks of one file find, put together.
#include "audit/common/findings.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace forestcoll::audit {
namespace {

constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

TEST(Findings, OfTwoChecksAreThoseOfOne) {
  Findings one("file"), first("file"), second("file");
  for (Findings* findings : {&one, &first}) {
    findings->add(Rule::limit, Place{2, 0, 0, 7, {}}, "too many");
  }
  for (Findings* findings : {&one, &second}) {
    findings->add(Rule::race, Place{1, 0, 0, 3, {}}, "unordered");
    findings->add(Rule::limit, Place{0, 0, 0, 1, {}}, "too many");
  }
  EXPECT_FALSE(first.blocked());
  first.add(second);
  EXPECT_EQ(first.count(), one.count());
  EXPECT_TRUE(first.blocked());
  EXPECT_TRUE(first.has(Rule::race));
  EXPECT_FALSE(first.has(Rule::result));
  EXPECT_EQ(first.faults(kAll), one.faults(kAll));
  const Diagnostics all = first.sorted(kAll), expected = one.sorted(kAll);
  ASSERT_EQ(all.size(), expected.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].where, expected[i].where);
    EXPECT_EQ(all[i].file, "file");
  }
}

TEST(Findings, AreCountedBeyondThoseThatAreKept) {
  Findings many("file"), more("file");
  for (int i = 0; i < 9'000; ++i) {
    many.add(Rule::race, Place{i, 0, 0, 0, {}}, "unordered");
    more.add(Rule::race, Place{i, 1, 0, 0, {}}, "unordered");
  }
  many.add(more);
  EXPECT_EQ(many.count(), 18'000U);
  EXPECT_LT(many.sorted(kAll).size(), 18'000U);
  EXPECT_GE(many.sorted(kAll).size(), 9'000U);
}

}  // namespace
}  // namespace forestcoll::audit
