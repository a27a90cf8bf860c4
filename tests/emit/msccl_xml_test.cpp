// MSCCL XML: two golden files, the lexical rules on everything, and what the header says.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pugixml.hpp>
#include <regex>
#include <sstream>
#include <string>

#include "emit/fabric.hpp"
#include "emit/topology_hash.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/version.hpp"
#include "schedule/forests.hpp"
#include "support/files.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string emit_xml(const CollectiveForest& forest, const Topology& topology,
                     const XmlOptions& options = {}, const std::string& target = "azure") {
  const auto schedule = lower(forest, {.target = target, .max_threadblocks = 108});
  EXPECT_TRUE(schedule) << to_string(schedule.errors().front());
  return to_msccl_xml(*schedule, forest, topology, options);
}

// The rules of the runtimes' scanner, line by line.
void expect_lexical(const std::string& text) {
  const std::regex comment("<!-- [^=\\s]+ (?:(?!--)[ -~])*-->");
  const std::regex element("( *)</?(algo|gpu|tb|step)((?: [A-Za-z_]+=\"[^\"<>&']*\")*)(/?)>");
  const std::regex attribute(" ([A-Za-z_]+)=\"([^\"]*)\"");
  const std::regex integer("-1|0|[1-9][0-9]*");
  std::istringstream lines(text);
  bool in_algo = false;
  for (std::string line; std::getline(lines, line);) {
    if (!in_algo && line.starts_with("<!--")) {
      EXPECT_TRUE(std::regex_match(line, comment)) << line;
      continue;
    }
    std::smatch parts;
    ASSERT_TRUE(std::regex_match(line, parts, element)) << line;
    EXPECT_TRUE(in_algo || parts[2] == "algo") << "the first element is <algo>";
    in_algo = true;
    const std::string all = parts[3];
    int count = 0;
    for (std::sregex_iterator it(all.begin(), all.end(), attribute), end; it != end; ++it) {
      ++count;
      EXPECT_LT((*it)[2].length(), 255) << line;
      if (std::string("name proto coll type srcbuf dstbuf").find((*it)[1]) == std::string::npos) {
        const std::string value = (*it)[2];
        EXPECT_TRUE(std::regex_match(value, integer)) << line;
      }
    }
    EXPECT_LE(count, 16) << line;
  }
  EXPECT_TRUE(in_algo);
  EXPECT_EQ(text.find('\t'), std::string::npos);
  EXPECT_EQ(text.find('\r'), std::string::npos);
  EXPECT_EQ(text.find("<?"), std::string::npos);
}

TEST(MscclXml, GoldenAllgather) {
  const auto forest = shaped(Collective::allgather, 2, 1, star);
  EXPECT_EQ(emit_xml(forest, switched(2)),
            test::read_file(test::source_path("tests/golden/allgather-2.xml")));
}

TEST(MscclXml, GoldenAllreduce) {
  const auto forest = shaped(Collective::allreduce, 3, 2, path);
  EXPECT_EQ(emit_xml(forest, switched(3)),
            test::read_file(test::source_path("tests/golden/allreduce-3.xml")));
}

// Rank 0 owns two chunks, rank 1 none, rank 2 one.
CollectiveForest of_unequal_shares(Collective collective) {
  const Forest forest = make_forest(3, {star(3, 0, 2), path(3, 2)});
  CollectiveForest result = collective_of(collective, 1, forest, forest);
  for (const std::int64_t share : {2, 0, 1}) result.weight.push_back(share);
  return result;
}

TEST(MscclXml, GoldenAllgatherOfUnequalShares) {
  const std::string xml = emit_xml(of_unequal_shares(Collective::allgather), switched(3));
  EXPECT_EQ(xml, test::read_file(test::source_path("tests/golden/allgather-unequal-3.xml")));
  expect_lexical(xml);
}

TEST(MscclXml, SaysWhoseCallsUnequalSharesServe) {
  const std::string xml = emit_xml(of_unequal_shares(Collective::reduce_scatter), switched(3));
  EXPECT_THAT(xml, HasSubstr("any number of elements that the call counts per rank"));
  EXPECT_THAT(xml, HasSubstr("Every rank receives as many chunks as its o_chunks says"));
  EXPECT_THAT(emit_xml(of_unequal_shares(Collective::allreduce), switched(3)),
              Not(HasSubstr("Every rank")));
}

TEST(MscclXml, LexicalRules) {
  std::mt19937 random(11);
  for (const Collective collective : all_collectives()) {
    for (const auto& name : {std::string("star"), std::string("=a--b--->\n\t<x> \"&'é"),
                             std::string(300, 'n'), std::string(300, '-'), std::string()}) {
      const auto roots = roots_of(collective, 4, 1);
      const Forest reduce = make_forest(4, random_trees(4, 5, roots, random), 4);
      const Forest broadcast = make_forest(4, random_trees(4, 5, roots, random), 4);
      const auto forest = collective_of(collective, 5, reduce, broadcast, 1);
      const std::string text = emit_xml(forest, switched(4, name));
      expect_lexical(text);
      pugi::xml_document document;
      EXPECT_TRUE(document.load_string(text.c_str()));
      EXPECT_LE(std::string(document.child("algo").attribute("name").value()).size(), 63u);
    }
  }
}

TEST(MscclXml, HeaderAttributes) {
  const auto forest = shaped(Collective::allreduce, 4, 2, binary);
  XmlOptions options;
  options.protocol = "LL";
  options.min_bytes = 4096;
  options.max_bytes = 65536;
  pugi::xml_document document;
  ASSERT_TRUE(document.load_string(emit_xml(forest, switched(4), options).c_str()));
  const auto algo = document.child("algo");
  EXPECT_STREQ(algo.attribute("name").value(), "star-allreduce-k2");
  EXPECT_STREQ(algo.attribute("proto").value(), "LL");
  EXPECT_STREQ(algo.attribute("coll").value(), "allreduce");
  EXPECT_EQ(algo.attribute("nchunksperloop").as_int(), 8);
  EXPECT_EQ(algo.attribute("ngpus").as_int(), 4);
  EXPECT_EQ(algo.attribute("inplace").as_int(-1), 1);
  EXPECT_EQ(algo.attribute("outofplace").as_int(-1), 0);
  EXPECT_EQ(algo.attribute("minBytes").as_llong(), 4096);
  EXPECT_EQ(algo.attribute("maxBytes").as_llong(), 65536);
  int largest = -1;
  for (const auto& gpu : algo.children("gpu")) {
    for (const auto& tb : gpu.children("tb")) {
      largest = std::max(largest, tb.attribute("chan").as_int());
    }
  }
  EXPECT_EQ(algo.attribute("nchannels").as_int(), largest + 1);
}

TEST(MscclXml, WhatTargetsCallThings) {
  const auto forest = shaped(Collective::reduce_scatter, 3, 1, star);
  const auto text_for = [&](const std::string& target) {
    return emit_xml(forest, switched(3), {}, target);
  };
  EXPECT_THAT(text_for("azure"), HasSubstr("coll=\"reducescatter\""));
  EXPECT_THAT(text_for("azure"), HasSubstr("maxBytes=\"1099511627776\""));
  EXPECT_THAT(text_for("rccl-5.7"), HasSubstr("coll=\"reducescatter\""));
  EXPECT_THAT(text_for("msccl"), HasSubstr("coll=\"reduce_scatter\""));
  EXPECT_THAT(text_for("msccl"), HasSubstr("maxBytes=\"1073741824\""));
}

TEST(MscclXml, CommentsSayWhereItComesFrom) {
  const Topology topology = switched(3);
  const std::string text = emit_xml(shaped(Collective::allgather, 3, 4, star), topology);
  EXPECT_THAT(text, HasSubstr("forestcoll " + std::string(kVersion)));
  EXPECT_THAT(text, HasSubstr("allgather on star"));
  EXPECT_THAT(text, HasSubstr("k = 4"));
  EXPECT_THAT(text, HasSubstr("algbw 100/3 GB/s"));
  EXPECT_THAT(text, HasSubstr("optimum 50 GB/s"));
  EXPECT_THAT(text, Not(HasSubstr("root is")));
  EXPECT_THAT(text, Not(HasSubstr("instances")));
  LowerOptions twice;
  twice.instances = 2;
  const auto forest = shaped(Collective::allgather, 3, 4, star);
  const auto schedule = lower(forest, twice);
  ASSERT_TRUE(schedule);
  EXPECT_THAT(to_msccl_xml(*schedule, forest, topology, {}),
              HasSubstr("k = 4 trees per root in 2 instances"));
  const std::string rooted = emit_xml(shaped(Collective::broadcast, 3, 4, star, 2), topology);
  EXPECT_THAT(rooted, HasSubstr("The root is rank 2. No runtime checks this"));
}

TEST(TopologyHash, ChangesWithContentOnly) {
  const Topology base = switched(3);
  const std::uint64_t hash = emit::topology_hash(base);
  EXPECT_EQ(hash, 0x82117fe3b1130f6dull) << "stable across machines and versions";
  Topology renamed = base;
  renamed.name = "other";
  renamed.description = "words";
  EXPECT_EQ(emit::topology_hash(renamed), hash);
  const auto changed = [&](auto change) {
    Topology other = base;
    change(other);
    return emit::topology_hash(other) != hash;
  };
  EXPECT_TRUE(changed([](Topology& t) { t.nodes[NodeId(0)].id = "gpuX"; }));
  EXPECT_TRUE(changed([](Topology& t) { t.nodes[NodeId(0)].box = "box"; }));
  EXPECT_TRUE(changed([](Topology& t) { t.nodes[NodeId(3)].multicast = true; }));
  EXPECT_TRUE(changed([](Topology& t) { t.nodes[NodeId(3)].echo = false; }));
  EXPECT_TRUE(changed([](Topology& t) { t.nodes[NodeId(3)].type = NodeType::compute; }));
  EXPECT_TRUE(changed([](Topology& t) { t.nodes[NodeId(1)].enabled = false; }));
  EXPECT_TRUE(changed([](Topology& t) { t.nodes[NodeId(1)].weight = 2; }));
  EXPECT_TRUE(changed([](Topology& t) { t.links[LinkId(1)].bandwidth = Ratio(51, 2); }));
  EXPECT_TRUE(changed([](Topology& t) { t.links[LinkId(1)].latency = 1; }));
  EXPECT_TRUE(changed([](Topology& t) { t.links[LinkId(1)].full_duplex = false; }));
  EXPECT_TRUE(changed([](Topology& t) { t.links[LinkId(1)].enabled = false; }));
  EXPECT_TRUE(changed([](Topology& t) { std::swap(t.ranks[0], t.ranks[1]); }));
}

}  // namespace
}  // namespace forestcoll::testing
