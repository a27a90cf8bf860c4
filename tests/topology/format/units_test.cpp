#include "topology/format/units.hpp"

#include <gtest/gtest.h>

#include "forestcoll/topology_text.hpp"

namespace forestcoll::topology {
namespace {

std::optional<Ratio> bandwidth(const char* text, const Ratio& unit = 1) {
  return parse_quantity(Quantity::bandwidth, text, unit);
}

TEST(Units, NumbersAreInTheDefaultUnit) {
  EXPECT_EQ(bandwidth("25"), Ratio(25));
  EXPECT_EQ(bandwidth("370.8"), Ratio(1854, 5));
  EXPECT_EQ(bandwidth("1e3"), Ratio(1000));
  EXPECT_EQ(bandwidth("1000/3"), Ratio(1000, 3));
  EXPECT_EQ(bandwidth("200", Ratio(1, 8)), Ratio(25));
}

TEST(Units, AUnitInTheTextWins) {
  EXPECT_EQ(bandwidth("200 Gb/s", 1000), Ratio(25));
  EXPECT_EQ(bandwidth("200Gb/s"), Ratio(25));
  EXPECT_EQ(bandwidth("25 GB/s"), Ratio(25));
  EXPECT_EQ(bandwidth("25000 MB/s"), Ratio(25));
  EXPECT_EQ(bandwidth("200000 Mb/s"), Ratio(25));
  EXPECT_EQ(bandwidth("1 TB/s"), Ratio(1000));
  EXPECT_EQ(bandwidth("1.6 Tb/s"), Ratio(200));
  EXPECT_EQ(bandwidth("1 GiB/s"), Ratio(1'073'741'824, 1'000'000'000));
  EXPECT_EQ(bandwidth("1000/3 Gb/s"), Ratio(125, 3));
}

TEST(Units, LatenciesHaveTheirOwn) {
  const auto latency = [](const char* text) { return parse_quantity(Quantity::latency, text, 1); };
  EXPECT_EQ(latency("0.7"), Ratio(7, 10));
  EXPECT_EQ(latency("700 ns"), Ratio(7, 10));
  EXPECT_EQ(latency("2 ms"), Ratio(2000));
  EXPECT_EQ(latency("2 GB/s"), std::nullopt);
}

TEST(Units, NothingElseIsANumber) {
  for (const char* text : {"", " ", "GB/s", "25 ", "25 GBs", "25 gb/s", "25 GB/s ", " 25", "NaN",
                           "inf", "0x10", "1/0", "1//2", "1/2/3", "25 us", "--1", "1e", "25,5"}) {
    EXPECT_EQ(bandwidth(text), std::nullopt) << text;
  }
  EXPECT_EQ(parse_quantity(Quantity::number, "1 GB/s", 1), std::nullopt);
}

TEST(Units, BitsASecondWithTheirSlash) {
  for (const auto& [written, meant] : {std::pair("100Gbps", Ratio(25, 2)),
                                       {"100 Gbps", Ratio(25, 2)},
                                       {"800000Mbps", Ratio(100)},
                                       {"1.6 Tbps", Ratio(200)},
                                       {"25 GB/s", Ratio(25)}}) {
    EXPECT_EQ(bandwidth(with_slash(written).c_str()), meant) << written;
  }
  // Bytes are not written so.
  for (const std::string text : {"25 GBps", "25 gbps", "bps", "", "25"}) {
    EXPECT_EQ(with_slash(text) == text, !text.ends_with("bps")) << text;
  }
  EXPECT_EQ(bandwidth(with_slash("25 gbps").c_str()), std::nullopt);
  EXPECT_EQ(bandwidth(with_slash("bps").c_str()), std::nullopt);
  EXPECT_EQ(parse_bandwidth("400Gbps"), Ratio(50));
  EXPECT_EQ(parse_bandwidth("0"), std::nullopt);
  EXPECT_EQ(parse_bandwidth("-1"), std::nullopt);
}

TEST(Units, WhatDoesNotFitIsNotRounded) {
  EXPECT_EQ(bandwidth("1e30"), std::nullopt);
  EXPECT_EQ(bandwidth("1e-30"), std::nullopt);
  EXPECT_EQ(bandwidth("9000000000000000000 TB/s"), std::nullopt);
}

}  // namespace
}  // namespace forestcoll::topology
