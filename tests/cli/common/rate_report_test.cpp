// The three figures and what a failure costs, in JSON and in words, whatever is known of them.
#include "common/report/rate_report.hpp"

#include <gtest/gtest.h>

#include "forestcoll/codes.hpp"

namespace forestcoll::testing {
namespace {

using cli::FailurePrice;
using cli::ThreeFigures;

Diagnostic unknown() {
  return make_error(Code::E14, "too large", "round it");
}

RateFigures exactly(const Ratio& optimum, const Ratio& by_trees) {
  return {RateFigure{optimum, optimum}, RateFigure{by_trees, by_trees}};
}

TEST(RateReport, EachFigureStandsByItself) {
  const ThreeFigures figures{
      {RateFigure{Ratio(400), Ratio(1000, 3)}, Expected<RateFigure>(unknown())}, Ratio(300)};
  cli::Json json;
  cli::put_figures(json, figures);
  EXPECT_EQ(
      json["optimum"].dump(),
      R"({"exact":"400","value":400.0,"at_least":{"exact":"1000/3","value":333.3333333333333}})");
  EXPECT_EQ(json["optimum_by_trees"]["not_computed"]["code"], "E14");
  EXPECT_EQ(json["reached"].dump(), R"({"exact":"300","value":300.0})");
  EXPECT_EQ(cli::in_words(figures.rates.optimum), "333.333 (1000/3) to 400");
  EXPECT_EQ(cli::in_words(figures.rates.by_trees), "not computed: too large [E14]");
  EXPECT_TRUE(cli::differ(figures.rates));
  EXPECT_FALSE(cli::differ(exactly(5, 5)));
  EXPECT_TRUE(cli::differ(exactly(6, 5)));
}

TEST(RateReport, OfTheOptimum) {
  EXPECT_EQ(cli::of_optimum(Ratio(50), exactly(100, 50).optimum), "50 % of the optimum 100 GB/s");
  EXPECT_EQ(cli::of_optimum(Ratio(50), Expected<RateFigure>(RateFigure{100, 80})),
            "50 % of the upper bound 100 GB/s; the optimum is at least 80 GB/s (a gap of 20 "
            "%)");
  EXPECT_EQ(cli::of_optimum(Ratio(50), Expected<RateFigure>(unknown())),
            "the optimum is not computed: too large [E14]");
}

TEST(PriceReport, NamesWhatChanges) {
  FailurePrice price{
      .collective = "allreduce", .before = exactly(200, 100), .after = exactly(150, 100)};
  price.reached_before = Ratio(80);
  price.reached_after = Expected<Ratio>(unknown());
  EXPECT_EQ(
      cli::in_words(std::vector{price}),
      "the failure costs  GB/s              before                          after   change\n"
      "allreduce          optimum              200                            150  -25.0 %\n"
      "allreduce          optimum by trees     100                            100   +0.0 %\n"
      "allreduce          reached               80  not computed: too large [E14]         \n");
  const cli::Json json = cli::to_json(price);
  EXPECT_EQ(json["optimum"]["change"], -0.25);
  EXPECT_EQ(json["optimum_by_trees"]["change"], 0);
  EXPECT_FALSE(json["reached"].contains("change"));
  EXPECT_FALSE(json.contains("times"));
}

TEST(PriceReport, OneFigureIsEnoughWhereTheyAreEqual) {
  FailurePrice price{
      .collective = "allgather", .before = exactly(200, 200), .after = exactly(50, 50)};
  price.times_before = {{.bytes = 1 << 20, .seconds = 1e-5}};
  price.times_after = {{.bytes = 1 << 20, .seconds = 2e-5}};
  EXPECT_EQ(cli::in_words(price),
            "  the failure costs  GB/s         before  after    change\n"
            "  allgather          optimum         200     50   -75.0 %\n"
            "  allgather          us of 1 MiB    10.0   20.0  +100.0 %");
  EXPECT_EQ(
      cli::to_json(price)["times"][0].dump(),
      R"({"bytes":1048576,"before_simulated_seconds":1e-05,"after_simulated_seconds":2e-05,"change":1.0})");
  EXPECT_FALSE(cli::to_json(price).contains("reached"));
}

}  // namespace
}  // namespace forestcoll::testing
