// Where warnings are given, and where they are not.
#include "topology/topology_testing.hpp"

namespace forestcoll {
namespace {

using testing::codes_of;
using ::testing::ElementsAre;
using testing::findings_of;
using testing::flat_file;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

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

TEST(Warnings, OneWayPairsAmongOthersHaveOnePerEntry) {
  const auto findings =
      findings_of(flat_file(kNodes, kStar + R"(,{"src":"gpu[0-2]","dst":"gpu[1-3]","pair":"zip",)"
                                            R"("bandwidth":5,"duplex":"simplex"})"));
  EXPECT_THAT(codes_of(findings), ElementsAre("W07 /links/1"));
  EXPECT_EQ(findings[0].message, "\"gpu0\" to \"gpu1\" has no way back (and 2 more of this entry)");
}

TEST(Warnings, AFabricOfOneWayLinksIsMeant) {
  const std::string gpus = R"({"id":"gpu[0-3]","type":"compute"})";
  const std::string ring =
      R"({"src":"gpu[0-3]","dst":"gpu[1-3,0]","pair":"zip","bandwidth":5,"duplex":"simplex"})";
  EXPECT_THAT(codes_of(findings_of(flat_file(gpus, ring))), IsEmpty());
  EXPECT_THAT(codes_of(findings_of(
                  flat_file(gpus, ring + R"(,{"src":"gpu0","dst":"gpu2","bandwidth":5})"))),
              IsEmpty());
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
              ElementsAre("W01 /nodes/2", "W01 /nodes/3"));
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
  const std::string others = R"({"src":"a[0-2]/gpu[0-1]","dst":"sw","bandwidth":25},)";
  EXPECT_THAT(
      codes_of(findings_of(boxes(others + R"({"src":"b/gpu[0-1]","dst":"sw","bandwidth":25})"))),
      IsEmpty());
  const auto missing = findings_of(boxes(others + R"({"src":"b/gpu0","dst":"sw","bandwidth":50})"));
  EXPECT_THAT(codes_of(missing), ElementsAre("W05 /boxes/1"));
  EXPECT_EQ(missing[0].message, "box \"b\" has 2 links, 3 boxes of template \"t\" 3");
}

TEST(Warnings, WhatTheFileDeclaresOfABoxIsKnown) {
  const std::string others = R"({"src":"a[0-2]/gpu[0-1]","dst":"sw","bandwidth":25},)";
  for (const std::string declared :
       {R"("bandwidth":25,"derate":0.5})", R"("bandwidth":50})", R"("bandwidth":25,"count":2})",
        R"("bandwidth":25,"enabled":false})"}) {
    EXPECT_THAT(codes_of(findings_of(boxes(others +
                                           R"({"src":"b/gpu0","dst":"sw","bandwidth":25},)"
                                           R"({"src":"b/gpu1","dst":"sw",)" +
                                           declared))),
                IsEmpty())
        << declared;
  }
}

TEST(Warnings, TheOddBoxIsNamedWhetherItHasLessOrMore) {
  EXPECT_THAT(codes_of(findings_of(boxes(R"({"src":"a[0-2]/gpu0","dst":"sw","bandwidth":25},)"
                                         R"({"src":"b/gpu[0-1]","dst":"sw","bandwidth":25})"))),
              ElementsAre("W05 /boxes/1"));
}

// A link's bandwidth, by what its kind can carry.
TEST(Warnings, BandwidthsAreJudgedByTheirKind) {
  const auto codes = [](const std::string& rest) {
    return codes_of(
        findings_of(flat_file(kNodes, R"({"src":"gpu[0-3]","dst":"sw",)" + rest + "}")));
  };
  for (const std::string good :
       {R"("bandwidth":100,"kind":"ib")", R"("bandwidth":"800 Gb/s","kind":"roce")",
        R"("bandwidth":50,"count":8,"kind":"ib")", R"("bandwidth":200)",
        R"("bandwidth":200,"kind":"ibis")", R"("bandwidth":1800,"kind":"nvlink")"}) {
    EXPECT_THAT(codes(good), IsEmpty()) << good;
  }
  for (const std::string slip :
       {R"("bandwidth":"200 GB/s","kind":"ib")", R"("bandwidth":101,"kind":"InfiniBand")",
        R"("bandwidth":400,"kind":"ib-ndr")", R"("bandwidth":400,"kind":"RoCEv2")",
        R"("bandwidth":400,"kind":"100GbE")", R"("bandwidth":256,"kind":"pcie")",
        R"("bandwidth":3600,"kind":"nvlink")"}) {
    EXPECT_THAT(codes(slip), ElementsAre("W04 /links/0/bandwidth")) << slip;
  }
}

// "box[0-2]/gpu[0-3]" to "box[0-2]/nvsw" links every GPU to every box's switch.
TEST(Warnings, ProductsOfRangesThatLookAlike) {
  const auto codes = [](const std::string& src, const std::string& dst,
                        const std::string& more = "") {
    std::vector<std::string> found;
    const std::string nodes = R"({"id":"box[0-2]/gpu[0-3]","type":"compute"},)"
                              R"({"id":"gpu[0-7]","type":"compute"},)"
                              R"({"id":"box[0-2]/nvsw","type":"switch"},)"
                              R"({"id":"box[0-2]/nic[0-3]","type":"switch"},)"
                              R"({"id":"leaf[0-3]","type":"switch"},)"
                              R"({"id":"spine[0-3]","type":"switch"},)"
                              R"({"id":"sw","type":"switch"})";
    const std::string links = R"({"src":"box[0-2]/gpu[0-3]","dst":"sw","bandwidth":1},)"
                              R"({"src":"gpu[0-7]","dst":"sw","bandwidth":1},)"
                              R"({"src":")" +
                              src + R"(","dst":")" + dst + R"(","bandwidth":1)" + more + "}";
    for (const std::string& code : codes_of(findings_of(flat_file(nodes, links)))) {
      if (code.starts_with("W12")) found.push_back(code);
    }
    return found;
  };
  EXPECT_THAT(codes("box[0-2]/gpu[0-3]", "box[0-2]/nvsw"), ElementsAre("W12 /links/2"));
  EXPECT_THAT(codes("box[0-2]/gpu[0-3]", "box[0,1,2]/nic[0-3]"), ElementsAre("W12 /links/2"));
  EXPECT_THAT(codes("box[0-2]/nvsw", "box[0-2]/nic0"), ElementsAre("W12 /links/2"));
  EXPECT_THAT(codes("box[0-2]/gpu[0-1]", "box[0-2]/gpu[2-3]"), ElementsAre("W12 /links/2"));
  EXPECT_THAT(codes("gpu[0-3]", "gpu[4-7]"), ElementsAre("W12 /links/2"));  // two quads
  // Meant, or nothing to mistake.
  EXPECT_THAT(codes("box[0-2]/gpu[0-3]", "box[0-2]/nic[0-3]", R"(,"pair":"zip")"), IsEmpty());
  EXPECT_THAT(codes("box[0-2]/gpu[0-3]", "box[0-2]/nvsw", R"(,"pair":"product")"), IsEmpty());
  EXPECT_THAT(codes("box[0-2]/gpu[0-3]", "box[0-2]/nvsw", R"(,"enabled":false)"), IsEmpty());
  EXPECT_THAT(codes("box0/gpu[0-3]", "box0/nvsw"), IsEmpty());
  EXPECT_THAT(codes("box[0]/gpu[0-3]", "box[0]/nvsw"), IsEmpty());
  EXPECT_THAT(codes("box[0-1]/gpu[0-3]", "box[0-2]/nvsw"), IsEmpty());
  EXPECT_THAT(codes("box0/gpu[0-3]", "box[1-2]/gpu[0-3]"), IsEmpty());
  EXPECT_THAT(codes("leaf[0-3]", "spine[0-3]"), IsEmpty());
  EXPECT_THAT(codes("gpu[0-1]", "gpu[4-5]"), IsEmpty());
  EXPECT_THAT(codes("gpu[0-7]", "leaf[0-3]"), IsEmpty());
  EXPECT_THAT(codes("box[0-2]/gpu[0-3]", "sw"), IsEmpty());
}

std::vector<std::string> products(const std::string& nodes, const std::string& links) {
  std::vector<std::string> remedies;
  for (const Diagnostic& finding : findings_of(flat_file(nodes, links))) {
    if (finding.code == Code::W12) remedies.push_back(finding.remedy);
  }
  return remedies;
}

// The boxes' numbers stand in ids that begin differently.
TEST(Warnings, ProductsThatShareTheNumbersOfBoxes) {
  const auto count = [](const std::string& src, const std::string& dst) {
    const std::string nodes = R"({"id":"gpu[0-2]-[0-3]","type":"compute"},)"
                              R"({"id":"gpu[0-7]","type":"compute"},)"
                              R"({"id":"rack0/gpu[0-3]","type":"compute"},)"
                              R"({"id":"rack[1-2]/gpu[0-3]","type":"compute"},)"
                              R"({"id":"nvsw[0-5]","type":"switch"},)"
                              R"({"id":"leaf[0-2]-[0-3]","type":"switch"},)"
                              R"({"id":"sw","type":"switch"})";
    const std::string star = R"({"src":"gpu[0-2]-[0-3]","dst":"sw","bandwidth":1},)"
                             R"({"src":"gpu[0-7]","dst":"sw","bandwidth":1},)"
                             R"({"src":"rack0/gpu[0-3]","dst":"sw","bandwidth":1},)"
                             R"({"src":"rack[1-2]/gpu[0-3]","dst":"sw","bandwidth":1},)";
    return products(nodes,
                    star + R"({"src":")" + src + R"(","dst":")" + dst + R"(","bandwidth":1})")
        .size();
  };
  EXPECT_EQ(count("gpu[0-2]-[0-3]", "nvsw[0-2]"), 1U);
  EXPECT_EQ(count("nvsw[0,1,2]", "gpu[0-2]-[0-3]"), 1U);
  EXPECT_EQ(count("gpu[0-2]-[0-3]", "nvsw[0-3]"), 1U);  // the rails
  EXPECT_EQ(count("gpu[0-2]-[0-3]", "leaf[0-2]-[0-3]"), 1U);
  // One range on each side, unlike ranges, one box, and GPUs that are alike.
  EXPECT_EQ(count("gpu[0-5]", "nvsw[0-5]"), 0U);
  EXPECT_EQ(count("gpu[0-7]", "nvsw[0-5]"), 0U);
  EXPECT_EQ(count("gpu[0-2]-[0-3]", "nvsw[0-1]"), 0U);
  EXPECT_EQ(count("gpu[0]-[0-3]", "nvsw[0]"), 0U);
  EXPECT_EQ(count("gpu[0]-[0-3]", "nvsw[0-3]"), 0U);
  EXPECT_EQ(count("rack0/gpu[0-3]", "rack[1-2]/gpu[0-3]"), 0U);
  // Among switches each to each is what a Clos network is.
  EXPECT_EQ(count("leaf[0-2]-[0-3]", "nvsw[0-2]"), 0U);
}

TEST(Warnings, ZipIsOfferedWhereItFits) {
  const std::string nodes = R"({"id":"box[0-2]/gpu[0-3]","type":"compute"},)"
                            R"({"id":"box[0-2]/nvsw","type":"switch"},)"
                            R"({"id":"box[0-2]/nic[0-3]","type":"switch"})";
  const auto unequal =
      products(nodes, R"({"src":"box[0-2]/gpu[0-3]","dst":"box[0-2]/nvsw","bandwidth":1})");
  ASSERT_EQ(unequal.size(), 1U);
  EXPECT_THAT(unequal[0], HasSubstr("templates"));
  EXPECT_THAT(unequal[0], Not(HasSubstr("zip")));
  const auto equal =
      products(nodes, R"({"src":"box[0-2]/gpu[0-3]","dst":"box[0-2]/nic[0-3]","bandwidth":1})");
  ASSERT_EQ(equal.size(), 1U);
  EXPECT_THAT(equal[0], HasSubstr("zip"));
}

TEST(Warnings, AProductInATemplateIsNamedOnce) {
  const std::string text = R"({"format":"forestcoll-topology","version":1,
    "templates":{"t":{"nodes":[{"id":"half[0-1]/gpu[0-1]","type":"compute"},
                               {"id":"half[0-1]/sw","type":"switch"}],
                      "links":[{"src":"half[0-1]/gpu[0-1]","dst":"half[0-1]/sw","bandwidth":1}]}},
    "boxes":[{"id":"a[0-2]","template":"t"}],
    "nodes":[{"id":"sw","type":"switch"}],
    "links":[{"src":"a[0-2]/half0/gpu0","dst":"sw","bandwidth":1}]})";
  EXPECT_THAT(codes_of(findings_of(text)), ElementsAre("W12 /templates/t/links/0"));
}

TEST(Warnings, AreErrorsWhereTheReaderIsStrict) {
  TopologyOptions strict;
  strict.strict = true;
  EXPECT_TRUE(parse_topology(flat_file(kNodes, kStar), "test.json", strict));
  const std::string doubtful =
      kStar + R"(,{"src":"gpu0","dst":"sw","bandwidth":"200 GB/s","kind":"ib","colour":1})";
  const auto refused = parse_topology(flat_file(kNodes, doubtful), "test.json", strict);
  ASSERT_FALSE(refused);
  EXPECT_THAT(
      codes_of(refused.errors()),
      UnorderedElementsAre("W03 /links/1", "W04 /links/1/bandwidth", "W06 /links/1/colour"));
  for (const Diagnostic& error : refused.errors()) {
    EXPECT_EQ(error.severity, Severity::error) << to_string(error);
  }
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
