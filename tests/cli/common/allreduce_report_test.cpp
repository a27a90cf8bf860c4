// What is said of the best allreduce, whatever is known of it.
#include "common/report/allreduce_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace forestcoll::testing {
namespace {

using cli::in_network_in_words;
using cli::in_words;
using cli::to_json;

const Ratio kTwoPhases(100);

AllreduceOptimum reached(const Ratio& algbw, const Ratio& upper) {
  AllreduceOptimum optimum{.upper = upper, .statistics = {}};
  optimum.split = AllreduceSplit{algbw, {}, {}};
  optimum.value = algbw.to_double();
  return optimum;
}

AllreduceOptimum in_floating_point(double value, const Ratio& upper) {
  AllreduceOptimum optimum{.upper = upper, .statistics = {}};
  optimum.value = value;
  return optimum;
}

AllreduceOptimum unsolved(const Ratio& upper) {
  return {.upper = upper, .statistics = {}};
}

TEST(AllreduceReport, AllThatCanBeKnown) {
  EXPECT_EQ(
      in_words(reached(125, 125), kTwoPhases),
      "optimum of allreduce by trees: 125 GB/s, 25.00 % more than reduce_scatter, then allgather, "
      "with both phases at the same time\n");
  EXPECT_EQ(in_words(reached(100, 100), kTwoPhases),
            "optimum of allreduce by trees: 100 GB/s, equal to reduce_scatter, then allgather\n");
  EXPECT_EQ(in_words(in_floating_point(125, 125), kTwoPhases),
            "optimum of allreduce by trees: about 125 GB/s (reduce_scatter, then "
            "allgather: 100); proved upper bound 125 GB/s\n");
  EXPECT_EQ(in_words(unsolved(150), kTwoPhases),
            "optimum of allreduce by trees: between 100 GB/s, which reduce_scatter, then allgather "
            "reaches, and the upper bound 150 GB/s\n");
  EXPECT_EQ(in_words(reached(120, 150), kTwoPhases),
            "optimum of allreduce by trees: between 120 GB/s, which trees reach, and the upper "
            "bound 150 GB/s\n");
  const Diagnostic error{.code = Code::E14, .message = "too large", .remedy = ""};
  EXPECT_EQ(in_words(error, kTwoPhases),
            "optimum of allreduce by trees: not computed: too large [E14]\n");
}

TEST(AllreduceReport, AllThatCanBeKnownOfSwitches) {
  const auto words = [](const Expected<AllreduceOptimum>& optimum,
                        const Expected<AllreduceOptimum>& of_ranks) {
    return in_network_in_words(optimum, of_ranks, kTwoPhases);
  };
  EXPECT_EQ(words(reached(180, 180), reached(120, 120)),
            "optimum of allreduce with in-network multicast and reduction: 180 GB/s, 50.00 % more "
            "than without it\n");
  EXPECT_EQ(words(reached(180, 180), unsolved(150)),
            "optimum of allreduce with in-network multicast and reduction: 180 GB/s, 80.00 % more "
            "than without it\n");
  EXPECT_EQ(words(in_floating_point(180, 180), reached(120, 120)),
            "optimum of allreduce with in-network multicast and reduction: about 180 GB/s, 50.00 % "
            "more than without it; "
            "proved upper bound 180 GB/s\n");
  EXPECT_EQ(words(reached(150, 180), reached(120, 120)),
            "optimum of allreduce with in-network multicast and reduction: between 150 GB/s, which "
            "trees reach, and the upper bound 180 "
            "GB/s\n");
  EXPECT_EQ(words(unsolved(180), reached(120, 120)),
            "optimum of allreduce with in-network multicast and reduction: between 120 GB/s, which "
            "the optimum without it "
            "reaches, and the upper bound 180 GB/s\n");
  const Diagnostic error{.code = Code::E14, .message = "too large", .remedy = ""};
  EXPECT_EQ(words(error, reached(120, 120)),
            "optimum of allreduce with in-network multicast and reduction: not computed: too large "
            "[E14]\n");
}

TEST(AllreduceReport, JsonHasWhatIsKnown) {
  EXPECT_EQ(to_json(reached(125, 125), kTwoPhases).dump(),
            R"({"at_most":{"exact":"125","value":125.0},"at_least":{"exact":"125","value":125.0},)"
            R"("exact":"125","value":125.0,"gap":25.0})");
  EXPECT_EQ(to_json(unsolved(150), kTwoPhases).dump(),
            R"({"at_most":{"exact":"150","value":150.0}})");
}

}  // namespace
}  // namespace forestcoll::testing
