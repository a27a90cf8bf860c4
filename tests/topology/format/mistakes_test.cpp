// What people write at first: names of other tools, links of both directions, a mesh of one range.
#include <map>
#include <string>
#include <utility>

#include "topology/topology_testing.hpp"

namespace forestcoll {
namespace {

using testing::codes_of;
using ::testing::ElementsAre;
using testing::findings_of;
using testing::flat_file;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using testing::parse_valid;

const std::string kFourGpus = R"({"id":"gpu[0-3]","type":"compute"})";
const std::string kOneSwitch = R"({"id":"sw","type":"switch"})";
const std::string kGpusAndSwitch = kFourGpus + "," + kOneSwitch;
const std::string kGpusToSwitch = R"({"src":"gpu[0-3]","dst":"sw","bandwidth":25})";

TEST(Mistakes, OneErrorForAllKeysByAnotherName) {
  const auto findings = findings_of(flat_file(
      kGpusAndSwitch,
      R"({"source":"gpu[0-1]","target":"sw","bw":25},)"
      R"({"source":"gpu[2-3]","target":"sw","bw":25},{"from":"gpu0","to":"gpu1","bw":5})"));
  ASSERT_THAT(codes_of(findings), ElementsAre("E02 /links/0"));
  EXPECT_EQ(findings[0].message,
            "unknown keys \"source\", \"target\", \"bw\", \"from\" and \"to\", in this and 2 more "
            "of the links");
  EXPECT_EQ(findings[0].remedy,
            "Did you mean \"src\", \"dst\", \"bandwidth\", \"src\" and \"dst\"?");
}

TEST(Mistakes, EndsByLettersAreMeantAsKeys) {
  for (const auto& [from, to] : {std::pair("a", "b"), std::pair("u", "v")}) {
    const auto findings =
        findings_of(flat_file(kGpusAndSwitch, std::string(R"({")") + from + R"(":"gpu[0-3]",")" +
                                                  to + R"(":"sw","bandwidth":25})"));
    ASSERT_THAT(codes_of(findings), ElementsAre("E02 /links/0"));
    EXPECT_EQ(findings[0].remedy, "Did you mean \"src\" and \"dst\"?");
  }
}

TEST(Mistakes, AUnitStandsWithTheNumberAndNotInTheKey) {
  for (const std::string key :
       {"bandwidth_gbps", "bandwidthGbps", "bw_gbps", "BW_GBs", "speed-gb", "throughput_mbps"}) {
    const auto findings = findings_of(
        flat_file(kGpusAndSwitch, R"({"src":"gpu[0-3]","dst":"sw",")" + key + R"(":200})"));
    ASSERT_THAT(codes_of(findings), ElementsAre("E02 /links/0/" + key)) << key;
    EXPECT_EQ(findings[0].remedy,
              "Did you mean \"bandwidth\"? The unit stands with the number: "
              "\"bandwidth\": \"200 Gb/s\" for bits, \"25 GB/s\" for bytes.");
  }
  const auto late = findings_of(
      flat_file(kGpusAndSwitch, R"({"src":"gpu[0-3]","dst":"sw","bandwidth":25,"latency_us":2})"));
  ASSERT_THAT(codes_of(late), ElementsAre("W06 /links/0/latency_us"));
  EXPECT_THAT(late[0].remedy, HasSubstr("with the number: \"latency\": \"700 ns\"."));
}

TEST(Mistakes, ANumberThatNoNodeHasIsBesideTheRange) {
  const auto remedy = [](const std::string& gpus, const std::string& src) {
    const auto findings =
        findings_of(flat_file(R"({"id":")" + gpus + R"(","type":"compute"},)" + kOneSwitch,
                              R"({"src":")" + gpus + R"(","dst":"sw","bandwidth":25},{"src":")" +
                                  src + R"(","dst":"sw","bandwidth":25})"));
    EXPECT_THAT(codes_of(findings), ElementsAre("E04 /links/1/src")) << src;
    return findings.at(0).remedy;
  };
  EXPECT_EQ(remedy("gpu[0-3]", "gpu[0-4]"), "Of this name there are \"gpu[0-3]\".");
  EXPECT_EQ(remedy("gpu[0-1,3,8-11]", "gpu2"), "Of this name there are \"gpu[0-1,3,8-11]\".");
  EXPECT_EQ(remedy("n[0-1]/gpu[0-3]", "n1/gpu4"), "Of this name there are \"n1/gpu[0-3]\".");
  // Padded ids make no range.
  EXPECT_EQ(remedy("gpu[00-03]", "gpu04"), "Did you mean \"gpu00\"?");
}

TEST(Mistakes, ARangeIsWrittenInBrackets) {
  for (const std::string range : {"gpu0-3", "gpu*", "gpu{0..3}"}) {
    const auto findings = findings_of(
        flat_file(kGpusAndSwitch,
                  R"({"src":")" + range + R"(","dst":"sw","bandwidth":25},)" + kGpusToSwitch));
    ASSERT_THAT(codes_of(findings), ElementsAre("E04 /links/0/src")) << range;
    EXPECT_EQ(findings[0].remedy, "Write several nodes as a range, such as \"gpu[0-7]\".");
  }
  const auto other = findings_of(
      flat_file(kGpusAndSwitch, R"({"src":"gpu-0","dst":"sw","bandwidth":25},)" + kGpusToSwitch));
  EXPECT_EQ(other.at(0).remedy, "Did you mean \"gpu0\"?");
}

TEST(Mistakes, WhatStandsAtAMisnamedKeyIsRead) {
  EXPECT_THAT(
      codes_of(findings_of(flat_file(R"({"name":"gpu[0-3]","type":"compute"},)" + kOneSwitch,
                                     R"({"source":"gpu[0-4]","dst":"sw","capacity":-1})"))),
      ElementsAre("E02 /nodes/0/name", "E05 /links/0/capacity", "E02 /links/0",
                  "E04 /links/0/src"));
}

TEST(Mistakes, AKeyBesideTheOneItIsLikeIsIgnored) {
  const auto findings = findings_of(
      flat_file(kGpusAndSwitch, R"({"src":"gpu[0-3]","source":"x","dst":"sw","bandwidth":25})"));
  ASSERT_THAT(codes_of(findings), ElementsAre("W06 /links/0/source"));
  EXPECT_THAT(findings[0].remedy, HasSubstr("Remove it"));
  const auto late = findings_of(
      flat_file(kGpusAndSwitch, R"({"src":"gpu[0-3]","delay":2,"dst":"sw","bandwidth":25})"));
  ASSERT_THAT(codes_of(late), ElementsAre("W06 /links/0/delay"));
  EXPECT_EQ(late[0].remedy, "Did you mean \"latency\"?");
  // Two slips off a word of three letters is another word.
  EXPECT_THAT(
      codes_of(findings_of(flat_file(kGpusAndSwitch, R"({"src":"gpu0","cost":3,"bandwidth":1})"))),
      ElementsAre("E02 /links/0", "W06 /links/0/cost"));
}

TEST(Mistakes, AGpuIsAComputeNodeAndANicASwitch) {
  const Topology topology =
      parse_valid(flat_file(R"({"id":"gpu[0-1]","type":"gpu"},{"id":"nic","type":"nic"})",
                            R"({"src":"gpu[0-1]","dst":"nic","bandwidth":25})"));
  EXPECT_EQ(topology.ranks.size(), 2U);
  EXPECT_EQ(topology.nodes[NodeId(2)].type, NodeType::switch_node);
}

TEST(Mistakes, OtherTypesNameTheRightWord) {
  const auto remedy = [](const std::string& word) {
    const auto findings = findings_of(
        flat_file(kFourGpus + R"(,{"id":"sw","type":")" + word + R"("})", kGpusToSwitch));
    EXPECT_THAT(codes_of(findings), ElementsAre("E02 /nodes/1/type")) << word;
    return findings[0].remedy;
  };
  EXPECT_EQ(remedy("GPU"), "Write \"compute\".");
  EXPECT_EQ(remedy("tpu"), "Write \"compute\".");
  EXPECT_EQ(remedy("NVSwitch"), "Write \"switch\".");
  EXPECT_EQ(remedy("cpu"), "Write \"switch\".");
  EXPECT_EQ(remedy("swich"), "Did you mean \"switch\"?");
  EXPECT_THAT(remedy("host"), HasSubstr("its \"box\""));
  EXPECT_THAT(remedy("banana"), HasSubstr("\"compute\" for what has a rank"));
}

TEST(Mistakes, ALinkThatIsListedFromBothEndsIsDoubled) {
  const std::string back = R"(,{"src":"sw","dst":"gpu[0-3]","bandwidth":25)";
  const auto findings = findings_of(flat_file(kGpusAndSwitch, kGpusToSwitch + back + "}"));
  ASSERT_THAT(codes_of(findings), ElementsAre("W03 /links/1"));
  EXPECT_EQ(findings[0].message,
            "\"sw\" to \"gpu0\" is linked a second time, from the other end (and 3 more of this "
            "entry)");
  EXPECT_THAT(findings[0].remedy, HasSubstr("A link goes both ways already"));
  const auto again = findings_of(flat_file(kGpusAndSwitch, kGpusToSwitch + "," + kGpusToSwitch));
  ASSERT_THAT(codes_of(again), ElementsAre("W03 /links/1"));
  EXPECT_THAT(again[0].remedy, HasSubstr("\"count\" for parallel links"));
}

// Bandwidth by ordered pair of nodes.
std::map<std::pair<std::string, std::string>, Ratio> bandwidth_of_pairs(const Topology& topology) {
  std::map<std::pair<std::string, std::string>, Ratio> found;
  const auto add = [&](const std::string& src, const std::string& dst, const Ratio& bandwidth) {
    Ratio& sum = found.try_emplace({src, dst}, 0).first->second;
    sum = sum + bandwidth;
  };
  for (std::size_t i = 0; i < topology.links.size(); ++i) {
    const TopologyLink& link = topology.links[LinkId(i)];
    const std::string src = topology.nodes[link.src].id, dst = topology.nodes[link.dst].id;
    add(src, dst, link.bandwidth);
    if (link.full_duplex) add(dst, src, link.bandwidth);
  }
  return found;
}

TEST(Mistakes, ARangeWithItselfIsAFullMesh) {
  for (const std::string duplex : {"full", "simplex"}) {
    for (const std::string dst : {"gpu[0-3]", "gpu[0-1,2,3]"}) {
      const std::string text =
          flat_file(kFourGpus, R"({"src":"gpu[0-3]","dst":")" + dst +
                                   R"(","bandwidth":25,"duplex":")" + duplex + "\"}");
      EXPECT_THAT(codes_of(findings_of(text)), IsEmpty());
      const Topology topology = parse_valid(text);
      EXPECT_EQ(topology.links.size(), duplex == "full" ? 6U : 12U);
      const auto found = bandwidth_of_pairs(topology);
      EXPECT_EQ(found.size(), 12U);
      for (const auto& [ends, bandwidth] : found) EXPECT_EQ(bandwidth, Ratio(25));
    }
  }
}

TEST(Mistakes, AMeshOfATemplateIsWithinEachBox) {
  const std::string text = R"({"format":"forestcoll-topology","version":1,
    "templates":{"t":{"nodes":[{"id":"gpu[0-2]","type":"compute"}],
                      "links":[{"src":"gpu[0-2]","dst":"gpu[0-2]","bandwidth":25}]}},
    "boxes":[{"id":"b[0-1]","template":"t"}],
    "links":[{"src":"b0/gpu0","dst":"b1/gpu0","bandwidth":5}]})";
  EXPECT_THAT(codes_of(findings_of(text)), IsEmpty());
  EXPECT_EQ(parse_valid(text).links.size(), 7U);
}

TEST(Mistakes, RangesThatOverlapInPartAreNoMesh) {
  const auto findings =
      findings_of(flat_file(kFourGpus, R"({"src":"gpu[0-2]","dst":"gpu[1-3]","bandwidth":25})"));
  ASSERT_THAT(codes_of(findings), ElementsAre("E06 /links/0"));
  EXPECT_THAT(findings[0].remedy, HasSubstr("the same range at both ends"));
  EXPECT_THAT(
      codes_of(findings_of(flat_file(
          kFourGpus, R"({"src":"gpu[0-3]","dst":"gpu[0-3]","pair":"zip","bandwidth":25})"))),
      ElementsAre("E06 /links/0"));
}

TEST(Mistakes, ASlipOfAKnownKindIsWarnedOf) {
  const auto kinds = [](const std::string& kind) {
    return findings_of(
        flat_file(kGpusAndSwitch, R"({"src":"gpu[0-1]","dst":"sw","bandwidth":25,"kind":")" + kind +
                                      R"("},{"src":"gpu[2-3]","dst":"sw","bandwidth":25,"kind":")" +
                                      kind + "\"}"));
  };
  for (const auto& [kind, meant] :
       {std::pair("nvlnk", "nvlink"), std::pair("NVLinks", "nvlink"), std::pair("pice", "pcie"),
        std::pair("infinband-2", "infiniband"), std::pair("ehternet", "ethernet")}) {
    const auto findings = kinds(kind);
    ASSERT_THAT(codes_of(findings), ElementsAre("W06 /links/0/kind")) << kind;
    EXPECT_EQ(findings[0].remedy, std::string("Did you mean \"") + meant + "\"?");
    EXPECT_THAT(findings[0].message, HasSubstr("in this and 1 more of the links"));
  }
  for (const char* kind : {"nvlink4", "uplink", "rail", "spine", "core", "row", "ib2", "x", "cable",
                           "nvlnk pcie", "link", "host", "sdr", "optical", "switch", "rack"}) {
    EXPECT_THAT(codes_of(kinds(kind)), IsEmpty()) << kind;
  }
}

TEST(Mistakes, RangesOfOneLengthAreLinkedOneToOneByZipAlone) {
  const std::string nodes = kFourGpus +
                            R"(,{"id":"nic[0-3]","type":"switch"},)"
                            R"({"id":"h[0-3]","type":"compute"},)" +
                            kOneSwitch;
  const auto products = [&](const std::string& first, const std::string& more = "") {
    Diagnostics found = findings_of(flat_file(
        nodes, first + R"(,{"src":"h[0-3]","dst":"sw","bandwidth":9},)" + kGpusToSwitch + more));
    std::erase_if(found, [](const Diagnostic& each) { return each.code != Code::W12; });
    return found;
  };
  const std::string nics = R"({"src":"gpu[0-3]","dst":"nic[0-3]","bandwidth":9)";
  const std::string onward = R"(,{"src":"nic[0-3]","dst":"sw","bandwidth":9})";
  const auto product = products(nics + "}", onward);
  ASSERT_THAT(codes_of(product), ElementsAre("W12 /links/0"));
  EXPECT_THAT(product[0].message, HasSubstr("16 links"));
  EXPECT_THAT(product[0].remedy, HasSubstr("\"pair\": \"zip\" links one to one"));
  EXPECT_THAT(codes_of(products(R"({"src":"gpu[0-3]","dst":"h[0-3]","bandwidth":9})")),
              ElementsAre("W12 /links/0"));
  // Switches that lead nowhere else are those of a box; each to its own; on purpose.
  EXPECT_THAT(products(nics + "}"), IsEmpty());
  EXPECT_THAT(products(nics + R"(,"pair":"zip"})", onward), IsEmpty());
  EXPECT_THAT(products(nics + R"(,"pair":"product"})", onward), IsEmpty());
}

TEST(Mistakes, AGpuWithoutTheNvlinkOfItsEqualsIsWarnedOf) {
  const std::string nodes = R"({"id":"gpu[0-3]","type":"compute","box":"b"},)"
                            R"({"id":"ib","type":"switch"},)" +
                            kOneSwitch;
  const std::string net = R"({"src":"gpu[0-3]","dst":"ib","bandwidth":9,"kind":"ib"},)";
  const auto findings = [&](const std::string& nvlinks) {
    return findings_of(flat_file(nodes, net + nvlinks));
  };
  const auto to_switch =
      findings(R"({"src":"gpu[0-2]","dst":"sw","bandwidth":99,"kind":"nvlink"})");
  ASSERT_THAT(codes_of(to_switch), ElementsAre("W05 /nodes/0"));
  EXPECT_EQ(to_switch[0].message,
            "\"gpu3\" has no link to \"sw\", which the 3 other GPUs of its box have");
  const std::string mesh = R"({"src":"gpu0","dst":"gpu[1-3]","bandwidth":9,"kind":"xgmi"},)"
                           R"({"src":"gpu1","dst":"gpu[2-3]","bandwidth":9,"kind":"xgmi"})";
  const std::string switched = R"({"src":"gpu[0-3]","dst":"sw","bandwidth":9,"kind":"xgmi"},)";
  const auto apart = findings(switched + mesh);
  ASSERT_THAT(codes_of(apart), ElementsAre("W05 /nodes/0"));
  EXPECT_EQ(apart[0].message,
            "\"gpu2\" has no link to \"gpu3\", which all other pairs of the 4 GPUs have");
  // What failed is in the file; a ring has no more.
  EXPECT_THAT(codes_of(findings(switched + mesh +
                                R"(,{"src":"gpu2","dst":"gpu3","bandwidth":9,"kind":"xgmi",)"
                                R"("enabled":false})")),
              IsEmpty());
  EXPECT_THAT(codes_of(findings(switched + R"({"src":"gpu[0-3]","dst":"gpu[1-3,0]","pair":"zip",)"
                                           R"("bandwidth":9,"kind":"nvlink"})")),
              IsEmpty());
}

// A mesh of too many is counted, not made: half of the pairs, without overflow.
TEST(Mistakes, AMeshBeyondTheLimitsIsRefused) {
  const auto findings =
      findings_of(flat_file(R"({"id":"gpu[0-9999]","type":"compute"})",
                            R"({"src":"gpu[0-9999]","dst":"gpu[0-9999]","bandwidth":25})"));
  ASSERT_THAT(codes_of(findings), ElementsAre("E15 /links/0"));
  EXPECT_THAT(findings[0].message, HasSubstr("49995000 links"));
}

}  // namespace
}  // namespace forestcoll
