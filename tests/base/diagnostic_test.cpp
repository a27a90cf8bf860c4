#include "forestcoll/diagnostic.hpp"

#include <gtest/gtest.h>

#include <optional>

namespace forestcoll {
namespace {

TEST(Diagnostic, NamesPlaceCodeAndRemedy) {
  EXPECT_EQ(to_string(Diagnostic{.code = Code::E05,
                                 .file = "dgx2.json",
                                 .where = "/links/17/bandwidth",
                                 .message = "expected a bandwidth, found \"50GBs\"",
                                 .remedy = "write \"50 GB/s\""}),
            "dgx2.json: /links/17/bandwidth: expected a bandwidth, found \"50GBs\" [E05]\n"
            "  write \"50 GB/s\"");
  EXPECT_EQ(
      to_string(Diagnostic{.code = Code::W02, .severity = Severity::warning, .message = "unused"}),
      "warning: unused [W02]");
}

TEST(Diagnostic, OfNumbersThatDoNotFitSaysWhatToDo) {
  EXPECT_EQ(to_string(inexact("the rate does not fit 64 bits")),
            "the rate does not fit 64 bits [E14]\n"
            "  round the bandwidths to a coarser grid with `quantize`");
}

TEST(Expected, HoldsAValueOrErrors) {
  const Expected<int> value(3);
  ASSERT_TRUE(value);
  EXPECT_EQ(*value, 3);
  const Expected<int> error(Diagnostic{.code = Code::E01});
  ASSERT_FALSE(error);
  EXPECT_EQ(error.errors().front().code, Code::E01);
}

TEST(Expected, OfNothingIsDoneOrHoldsErrors) {
  const Expected<void> done;
  EXPECT_TRUE(done);
  EXPECT_TRUE(done.errors().empty());
  EXPECT_TRUE(Expected<void>(Diagnostics{}));  // collected, and there was none
  const Expected<void> error = Diagnostic{.code = Code::E01};
  ASSERT_FALSE(error);
  EXPECT_EQ(error.errors().front().code, Code::E01);
}

TEST(Stopped, IsAKindOfItsOwn) {
  EXPECT_TRUE(was_stopped({Diagnostic{.kind = ErrorKind::stopped}}));
  EXPECT_FALSE(was_stopped({Diagnostic{.code = Code::R01, .kind = ErrorKind::limit}}));
  EXPECT_FALSE(was_stopped({}));
}

TEST(Codes, WhatSeveralHaveInCommon) {
  EXPECT_TRUE(is_of_many_messages(Code::T05));
  EXPECT_FALSE(is_of_many_messages(Code::T01));
  EXPECT_TRUE(is_of_disconnection(Code::E09));
  EXPECT_FALSE(is_of_disconnection(std::nullopt));
}

}  // namespace
}  // namespace forestcoll
