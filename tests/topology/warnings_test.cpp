// Where warnings are given, and where they are not.
#include "topology_testing.hpp"

namespace forestcoll {
namespace {

using testing::codes_of;
using ::testing::ElementsAre;
using testing::findings_of;
using testing::flat_file;
using ::testing::IsEmpty;

const std::string kNodes = R"({"id":"gpu[0-3]","type":"compute"},{"id":"sw","type":"switch"})";
const std::string kStar = R"({"src":"gpu[0-3]","dst":"sw","bandwidth":25})";

TEST(Warnings, ACleanFileHasNone) {
  EXPECT_THAT(codes_of(findings_of(flat_file(kNodes, kStar))), IsEmpty());
}

TEST(Warnings, TwoSimplexLinksAreAPairBothWays) {
  EXPECT_THAT(
      codes_of(findings_of(flat_file(
          kNodes, kStar + R"(,{"src":"gpu0","dst":"gpu1","bandwidth":5,"duplex":"simplex"},)"
                          R"({"src":"gpu1","dst":"gpu0","bandwidth":7,"duplex":"simplex"})"))),
      IsEmpty());
}

TEST(Warnings, ASimplexLinkBesideAFullOneIsARepetitionOnly) {
  EXPECT_THAT(
      codes_of(findings_of(flat_file(
          kNodes, kStar + R"(,{"src":"gpu0","dst":"gpu1","bandwidth":5},)"
                          R"({"src":"gpu0","dst":"gpu1","bandwidth":5,"duplex":"simplex"})"))),
      ElementsAre("W03 /links/2"));
}

TEST(Warnings, DisabledLinksDoNotCount) {
  EXPECT_THAT(codes_of(findings_of(flat_file(
                  kNodes, kStar + R"(,{"src":"gpu0","dst":"sw","bandwidth":99999,"enabled":false},)"
                                  R"({"src":"gpu0","dst":"gpu1","bandwidth":5,"duplex":"simplex",)"
                                  R"("enabled":false})"))),
              IsEmpty());
}

TEST(Warnings, OneWayRingsHaveOnePerEntry) {
  const auto findings = findings_of(flat_file(
      R"({"id":"gpu[0-3]","type":"compute"})",
      R"({"src":"gpu[0-3]","dst":"gpu[1-3,0]","pair":"zip","bandwidth":5,"duplex":"simplex"})"));
  EXPECT_THAT(codes_of(findings), ElementsAre("W07 /links/0"));
  EXPECT_EQ(findings[0].message, "\"gpu0\" to \"gpu1\" has no way back (and 3 more of this entry)");
}

TEST(Warnings, ASwitchWithLinksOneWayOnlyCarriesNothing) {
  EXPECT_THAT(codes_of(findings_of(flat_file(
                  kNodes + R"(,{"id":"sink","type":"switch"})",
                  kStar + R"(,{"src":"gpu[0-1]","dst":"sink","bandwidth":5,"duplex":"simplex"})"))),
              ElementsAre("W02 /nodes/2", "W07 /links/1"));
}

// GPUs send through one node and receive through another: PCIe is no way between them.
const std::string kDirections =
    R"({"src":"gpu[0-3]","dst":"out","bandwidth":24,"duplex":"simplex","kind":"pcie"},
       {"src":"out","dst":"sw","bandwidth":25,"duplex":"simplex","kind":"nic"},
       {"src":"sw","dst":"in","bandwidth":25,"duplex":"simplex","kind":"nic"},
       {"src":"in","dst":"gpu[0-3]","bandwidth":24,"duplex":"simplex","kind":"pcie"})";
const std::string kDirectionNodes = kNodes + R"(,{"id":"out","type":"switch"},
                                                 {"id":"in","type":"switch"})";

TEST(Warnings, TheTwoDirectionsOfAPcieSwitchAreMeant) {
  EXPECT_THAT(codes_of(findings_of(flat_file(kDirectionNodes, kDirections))), IsEmpty());
}

TEST(Warnings, OtherNodesOfOneWayAreNot) {
  std::string other = kDirections;
  for (std::size_t at; (at = other.find("pcie")) != std::string::npos;) other.replace(at, 4, "usb");
  EXPECT_THAT(codes_of(findings_of(flat_file(kDirectionNodes, other))),
              ElementsAre("W01 /nodes/2", "W01 /nodes/3", "W07 /links/0", "W07 /links/1",
                          "W07 /links/2", "W07 /links/3"));
}

TEST(Warnings, AForgottenDirectionOfPcieIsNot) {
  // A NIC that the network reaches both ways, and the GPU one way only.
  EXPECT_THAT(
      codes_of(findings_of(flat_file(
          kNodes + R"(,{"id":"nic","type":"switch"})",
          kStar + R"(,{"src":"gpu0","dst":"nic","bandwidth":24,"duplex":"simplex","kind":"pcie"},
                      {"src":"nic","dst":"sw","bandwidth":25,"kind":"nic"})"))),
      ElementsAre("W01 /nodes/2", "W07 /links/1"));
}

TEST(Warnings, LargeBandwidthsAreJudgedPerLink) {
  // 12 TB/s in all, but of links of 1 TB/s.
  EXPECT_THAT(codes_of(findings_of(flat_file(
                  kNodes, R"({"src":"gpu[0-3]","dst":"sw","bandwidth":1000,"count":12})"))),
              IsEmpty());
  EXPECT_THAT(codes_of(findings_of(
                  flat_file(kNodes, R"({"src":"gpu[0-3]","dst":"sw","bandwidth":10000})"))),
              IsEmpty());
  EXPECT_THAT(codes_of(findings_of(
                  flat_file(kNodes, R"({"src":"gpu[0-3]","dst":"sw","bandwidth":10000.001})"))),
              ElementsAre("W04 /links/0/bandwidth"));
}

TEST(Warnings, AHeavilyDegradedLinkIsNoSlipOfTheUnit) {
  EXPECT_THAT(codes_of(findings_of(
                  flat_file(kNodes, kStar + R"(,{"src":"gpu0","dst":"gpu1","bandwidth":25,)"
                                            R"("derate":0.00001})"))),
              IsEmpty());
}

std::string boxes(const std::string& links) {
  return R"({"format":"forestcoll-topology","version":1,
    "templates":{"t":{"nodes":[{"id":"gpu[0-1]","type":"compute"}],
                      "links":[{"src":"gpu0","dst":"gpu1","bandwidth":100}]}},
    "boxes":[{"id":"a[0-2]","template":"t"},{"id":"b","template":"t"}],
    "nodes":[{"id":"sw","type":"switch"}],
    "links":[)" +
         links + "]}";
}

TEST(Warnings, BoxesOfOneTemplateAreCompared) {
  EXPECT_THAT(codes_of(findings_of(boxes(R"({"src":"a[0-2]/gpu[0-1]","dst":"sw","bandwidth":25},)"
                                         R"({"src":"b/gpu[0-1]","dst":"sw","bandwidth":25})"))),
              IsEmpty());
  EXPECT_THAT(codes_of(findings_of(
                  boxes(R"({"src":"a[0-2]/gpu[0-1]","dst":"sw","bandwidth":25},)"
                        R"({"src":"b/gpu[0-1]","dst":"sw","bandwidth":25,"derate":0.5})"))),
              ElementsAre("W05 /boxes/1"));
}

TEST(Warnings, TheOddBoxIsNamedWhetherItHasLessOrMore) {
  EXPECT_THAT(codes_of(findings_of(boxes(R"({"src":"a[0-2]/gpu[0-1]","dst":"sw","bandwidth":25},)"
                                         R"({"src":"b/gpu[0-1]","dst":"sw","bandwidth":50})"))),
              ElementsAre("W05 /boxes/1"));
}

TEST(Warnings, DoNotHideBehindNumbersThatDoNotFit) {
  // The sums at the switch overflow 64 bits: no W01, no crash.
  EXPECT_THAT(codes_of(findings_of(flat_file(
                  kNodes, R"({"src":"gpu0","dst":"sw","bandwidth":"1/999999999999999989"},)"
                          R"({"src":"gpu1","dst":"sw","bandwidth":"1/999999999999999967"},)"
                          R"({"src":"gpu2","dst":"sw","bandwidth":"1/999999999999999877"},)"
                          R"({"src":"gpu3","dst":"sw","bandwidth":"1/999999999999999863"})"))),
              IsEmpty());
}

}  // namespace
}  // namespace forestcoll
