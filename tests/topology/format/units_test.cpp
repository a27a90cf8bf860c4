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
  EXPECT_EQ(latency("0.7 µs"), Ratio(7, 10));
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

TEST(Units, ASmallBIsBitsAndALargeOneBytesInEverySpelling) {
  for (const char* bits :
       {"200 Gb/s", "200Gbps", "200 Gbps", "200 Gb/sec", "200 Gbit/s", "200 Gbits/s", "200 gbit/s",
        "200 Gbit/sec", "200000 Mbps", "0.2 Tbps"}) {
    EXPECT_EQ(bandwidth(bits, 1000), Ratio(25)) << bits;
  }
  for (const char* bytes : {"25 GB/s", "25GBps", "25 GB/sec", "25 GByte/s", "25 Gbytes/s",
                            "25 gbyte/s", "25 GBytes/sec", "25000 MBps", "0.025 TBps"}) {
    EXPECT_EQ(bandwidth(bytes, 1000), Ratio(25)) << bytes;
  }
  const Ratio binary(1'073'741'824, 1'000'000'000);
  EXPECT_EQ(bandwidth("1 GiBps"), binary);
  EXPECT_EQ(bandwidth("8 Gib/s"), binary);
  EXPECT_EQ(bandwidth("1024 MiB/s"), binary);
  EXPECT_EQ(bandwidth("1 TiB/s"), binary * Ratio(1024));
  EXPECT_EQ(parse_bandwidth("400Gbps"), Ratio(50));
  EXPECT_EQ(parse_bandwidth("0"), std::nullopt);
  EXPECT_EQ(parse_bandwidth("-1"), std::nullopt);
}

TEST(Units, BitsOrBytesIsAsked) {
  for (const char* text : {"200 gb", "200 gb/s", "200 gbps", "200 Gb", "200 GB", "200 G", "200g",
                           "200 GBs", "200 gB/s", "200 Gs"}) {
    EXPECT_EQ(bandwidth(text), std::nullopt) << text;
    EXPECT_EQ(remedy_of_bandwidth(text), "Bits or bytes? Write \"200 Gb/s\" or \"200 GB/s\".")
        << text;
  }
  EXPECT_EQ(remedy_of_bandwidth("1 gib"), "Bits or bytes? Write \"1 Gib/s\" or \"1 GiB/s\".");
  EXPECT_EQ(remedy_of_bandwidth("200 Gbit"), "Write \"200 Gbit/s\".");
  EXPECT_EQ(remedy_of_bandwidth("25gbytes"), "Write \"25 gbytes/s\".");
  for (const char* text :
       {"", "25 Bananas", "x", "-1 gb", "bps", "25 Gbitps", "25 /s", "25 GT/s"}) {
    EXPECT_EQ(bandwidth(text), std::nullopt) << text;
    EXPECT_TRUE(remedy_of_bandwidth(text).ends_with("Tb/s.")) << text;
  }
}

TEST(Units, WhatDoesNotFitIsNotRounded) {
  EXPECT_EQ(bandwidth("1e30"), std::nullopt);
  EXPECT_EQ(bandwidth("1e-30"), std::nullopt);
  EXPECT_EQ(bandwidth("9000000000000000000 TB/s"), std::nullopt);
}

}  // namespace
}  // namespace forestcoll::topology
