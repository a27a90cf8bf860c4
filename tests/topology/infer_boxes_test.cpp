// Boxes that a file does not declare: found where the fabric shows them, and nowhere else.
#include "topology/check/infer_boxes.hpp"

#include "support/valid.hpp"
#include "topology/boxes_testing.hpp"
#include "topology/topology_testing.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::Pair;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// A file's boxes, its findings and its note.
struct Read {
  Boxes boxes;
  std::vector<std::string> findings;
  std::string note, message;
};

Read read(const std::string& nodes, const std::string& links) {
  const auto parsed = test::valid(parse_topology(flat_file(nodes, links), "test.json", {}));
  EXPECT_LE(parsed.notes.size(), 1U);
  Read result{.boxes = boxes_of(parsed.topology),
              .findings = codes_of(parsed.warnings),
              .note = parsed.notes.empty() ? "" : parsed.notes.front(),
              .message = ""};
  for (const Diagnostic& finding : parsed.warnings) {
    if (finding.code == Code::W09) result.message = finding.message;
  }
  return result;
}

std::string gpus(const std::string& ids, const std::string& more = "") {
  return R"({"id":")" + ids + R"(","type":"compute")" + more + "}";
}

std::string switches(const std::string& ids) {
  return R"({"id":")" + ids + R"(","type":"switch"})";
}

std::string link(const std::string& src, const std::string& dst, int bandwidth,
                 const std::string& kind = "", const std::string& more = "") {
  std::string text =
      R"({"src":")" + src + R"(","dst":")" + dst + R"(","bandwidth":)" + std::to_string(bandwidth);
  if (!kind.empty()) text += R"(,"kind":")" + kind + '"';
  return text + more + "}";
}

std::string list(const std::vector<std::string>& entries) {
  std::string text;
  for (const std::string& entry : entries) text += (text.empty() ? "" : ",") + entry;
  return text;
}

// Two boxes of two GPUs on an NVSwitch, and a switch between them.
std::string two_boxes(const std::string& gpu, const std::string& nvsw, const std::string& inside,
                      const std::string& between) {
  std::vector<std::string> links;
  for (const std::string b : {"0", "1"}) {
    const auto in_box = [&](std::string id) { return id.replace(id.find('#'), 1, b); };
    links.push_back(link(in_box(gpu), in_box(nvsw), 300, inside));
    links.push_back(link(in_box(gpu), "ib", 25, between));
  }
  return list(links);
}

const std::string kSlashNodes =
    list({gpus("box[0-1]/gpu[0-1]"), switches("box[0-1]/nvsw"), switches("ib")});
const Boxes kSlashBoxes = {{"box0", {"box0/gpu0", "box0/gpu1", "box0/nvsw"}},
                           {"box1", {"box1/gpu0", "box1/gpu1", "box1/nvsw"}}};

std::string slash_links(const std::string& inside, const std::string& between) {
  return two_boxes("box#/gpu[0-1]", "box#/nvsw", inside, between);
}

TEST(InferBoxes, KindsAndPrefixesThatAgree) {
  const Read both = read(kSlashNodes, slash_links("nvlink", "ib"));
  EXPECT_EQ(both.boxes, kSlashBoxes);
  EXPECT_THAT(both.findings, IsEmpty());
  EXPECT_EQ(both.note,
            "test.json: boxes inferred: 2 (box0, box1), from links of kind \"nvlink\" and the ids; "
            "\"box\" on a node overrides");
}

TEST(InferBoxes, OneOfTheKindsIsEnough) {
  for (const auto& [inside, between] :
       {std::pair("nvlink", ""), std::pair("", "ib"), std::pair("NVLink4", "RoCEv2"),
        std::pair("xGMI", "100GbE"), std::pair("c2c", "ndr"), std::pair("fast", "infiniband")}) {
    const Read one = read(kSlashNodes, slash_links(inside, between));
    EXPECT_EQ(one.boxes, kSlashBoxes) << inside << between;
    EXPECT_THAT(one.findings, IsEmpty()) << inside << between;
  }
}

TEST(InferBoxes, PrefixesWithoutKindsWhereTheLinksBearThemOut) {
  const Read read_so = read(kSlashNodes, slash_links("", ""));
  EXPECT_EQ(read_so.boxes, kSlashBoxes);
  EXPECT_THAT(read_so.findings, IsEmpty());
  EXPECT_THAT(read_so.note, HasSubstr("from the ids;"));
}

TEST(InferBoxes, KindsWithoutPrefixes) {
  const std::string nodes = list({gpus("gpu[0-3]"), switches("nvsw[0-1]"), switches("ib")});
  const std::string links =
      list({link("gpu[0-1]", "nvsw0", 300, "nvlink"), link("gpu[2-3]", "nvsw1", 300, "nvlink"),
            link("gpu[0-3]", "ib", 25, "ib")});
  const Read kinds = read(nodes, links);
  EXPECT_EQ(kinds.boxes,
            (Boxes{{"box0", {"gpu0", "gpu1", "nvsw0"}}, {"box1", {"gpu2", "gpu3", "nvsw1"}}}));
  EXPECT_THAT(kinds.findings, IsEmpty());
  EXPECT_THAT(kinds.note, HasSubstr("2 (box0, box1), from links of kind \"nvlink\";"));
}

TEST(InferBoxes, MeshesOfXgmiAndNicsBesideThem) {
  const Read mesh =
      read(list({gpus("n[0-1]g[0-2]"), switches("n[0-1]nic"), switches("leaf")}),
           list({link("n0g0", "n0g[1-2]", 50, "xgmi"), link("n0g1", "n0g2", 50, "xgmi"),
                 link("n1g0", "n1g[1-2]", 50, "xgmi"), link("n1g1", "n1g2", 50, "xgmi"),
                 link("n0g[0-2]", "n0nic", 25, "pcie"), link("n1g[0-2]", "n1nic", 25, "pcie"),
                 link("n[0-1]nic", "leaf", 50, "roce")}));
  EXPECT_EQ(mesh.boxes, (Boxes{{"n0", {"n0g0", "n0g1", "n0g2", "n0nic"}},
                               {"n1", {"n1g0", "n1g1", "n1g2", "n1nic"}}}));
  EXPECT_THAT(mesh.findings, IsEmpty());
}

// NVLink in pairs, and PCIe that joins the pairs: one box as long as PCIe is known as such.
TEST(InferBoxes, EveryKindInsideJoins) {
  const std::string nodes = list({gpus("gpu[0-3]"), switches("pcie")});
  const auto links = [](const std::string& kind) {
    return list({link("gpu0", "gpu1", 56, "nvlink"), link("gpu2", "gpu3", 56, "nvlink"),
                 link("gpu[0-3]", "pcie", 24, kind)});
  };
  const Read known = read(nodes, links("pcie"));
  EXPECT_THAT(known.boxes, IsEmpty());
  EXPECT_THAT(known.findings, IsEmpty());
  EXPECT_EQ(known.note, "");
  const Read unknown = read(nodes, links("riser"));
  EXPECT_THAT(unknown.boxes, SizeIs(2));
  EXPECT_THAT(unknown.findings, ElementsAre("W09 /nodes/0"));
  EXPECT_THAT(unknown.message, HasSubstr("what joins the 2 domains of kind \"nvlink\""));
}

// No two GPUs of a leaf-spine fabric are in one box, whatever the ids have in common.
TEST(InferBoxes, LinksThatLeaveMakeEveryGpuABox) {
  for (const std::string kind : {"ib", "RoCE", "ethernet", "slingshot"}) {
    const Read leaves =
        read(list({gpus("gpu[0-3]"), switches("leaf[0-1]"), switches("spine")}),
             list({link("gpu[0-1]", "leaf0", 50, kind), link("gpu[2-3]", "leaf1", 50, kind),
                   link("leaf[0-1]", "spine", 50, kind)}));
    EXPECT_EQ(
        leaves.boxes,
        (Boxes{{"box0", {"gpu0"}}, {"box1", {"gpu1"}}, {"box2", {"gpu2"}}, {"box3", {"gpu3"}}}))
        << kind;
    EXPECT_THAT(leaves.findings, IsEmpty()) << kind;
  }
}

// Only what leaves is labelled: it may be a PCIe switch in each box, or a leaf for some boxes.
TEST(InferBoxes, OnlyTheKindsThatLeaveAreADoubt) {
  const Read cut = read(list({gpus("gpu[0-3]"), switches("sw[0-1]"), switches("core")}),
                        list({link("gpu[0-1]", "sw0", 50), link("gpu[2-3]", "sw1", 50),
                              link("sw[0-1]", "core", 50, "ib")}));
  EXPECT_EQ(cut.boxes,
            (Boxes{{"box0", {"gpu0", "gpu1", "sw0"}}, {"box1", {"gpu2", "gpu3", "sw1"}}}));
  EXPECT_THAT(cut.findings, ElementsAre("W09 /nodes/0"));
}

// A rack of NVLink is one box, whatever its trays are called; that is said.
TEST(InferBoxes, WhatNvlinkJoinsIsOneBoxAgainstThePrefixes) {
  const std::string nodes = list({gpus("tray[0-3]/gpu[0-1]"), switches("nvsw")});
  const Read rack = read(nodes, link("tray[0-3]/gpu[0-1]", "nvsw", 900, "nvlink"));
  EXPECT_THAT(rack.boxes, IsEmpty());
  EXPECT_THAT(rack.findings, ElementsAre("W09 /nodes/0"));
  EXPECT_THAT(rack.message, AllOf(HasSubstr("\"nvlink\" join \"tray1/gpu0\" with GPUs of another"),
                                  HasSubstr("no boxes are inferred")));
  EXPECT_EQ(rack.note, "");
}

TEST(InferBoxes, PrefixesAtAnyDepth) {
  const std::string nodes =
      list({gpus("rack[0-1]/box[0-1]/gpu[0-1]"), switches("rack[0-1]/box[0-1]/sw"),
            switches("rack[0-1]/leaf"), switches("spine")});
  std::vector<std::string> links = {link("rack[0-1]/leaf", "spine", 100)};
  for (const std::string rack : {"rack0/", "rack1/"}) {
    for (const std::string box : {"box0/", "box1/"}) {
      links.push_back(link(rack + box + "gpu[0-1]", rack + box + "sw", 300));
      links.push_back(link(rack + box + "gpu[0-1]", rack + "leaf", 25));
    }
  }
  const Read deep = read(nodes, list(links));
  EXPECT_THAT(deep.boxes,
              UnorderedElementsAre(Pair("rack0/box0", SizeIs(3)), Pair("rack0/box1", SizeIs(3)),
                                   Pair("rack1/box0", SizeIs(3)), Pair("rack1/box1", SizeIs(3))));
  EXPECT_THAT(deep.findings, IsEmpty());
}

// Modules in a box: the ids' upper level is what the links confirm.
TEST(InferBoxes, ModulesAreNoBoxes) {
  std::vector<std::string> links;
  for (const std::string box : {"b0/", "b1/"}) {
    links.push_back(link(box + "m0/die0", box + "m0/die1", 200, "xgmi"));
    links.push_back(link(box + "m1/die0", box + "m1/die1", 200, "xgmi"));
    links.push_back(link(box + "m0/die[0-1]", box + "m1/die[0-1]", 50, "xgmi"));
    links.push_back(link(box + "m[0-1]/die[0-1]", "ib", 16, "ib"));
  }
  const std::string nodes = list({gpus("b[0-1]/m[0-1]/die[0-1]"), switches("ib")});
  const Read modules = read(nodes, list(links));
  EXPECT_THAT(modules.boxes, UnorderedElementsAre(Pair("b0", SizeIs(4)), Pair("b1", SizeIs(4))));
  EXPECT_THAT(modules.findings, IsEmpty());
}

// A file that tells nothing of the links inside: the ids do.
TEST(InferBoxes, GpusAloneGoWithTheirPrefix) {
  const Read nics = read(list({gpus("box[0-1]/gpu[0-1]"), switches("ib")}),
                         link("box[0-1]/gpu[0-1]", "ib", 25, "ib"));
  EXPECT_EQ(nics.boxes,
            (Boxes{{"box0", {"box0/gpu0", "box0/gpu1"}}, {"box1", {"box1/gpu0", "box1/gpu1"}}}));
  EXPECT_THAT(nics.findings, IsEmpty());
  // One GPU whose NVLink the file forgot.
  const Read lost = read(kSlashNodes, list({link("box0/gpu[0-1]", "box0/nvsw", 300, "nvlink"),
                                            link("box1/gpu0", "box1/nvsw", 300, "nvlink"),
                                            link("box[0-1]/gpu[0-1]", "ib", 25, "ib"),
                                            link("box1/nvsw", "ib", 25, "ib")}));
  EXPECT_EQ(lost.boxes, kSlashBoxes);
}

TEST(InferBoxes, IslandsWithinAPrefixAreADoubt) {
  const std::string nodes = list({gpus("h[0-1]/gpu[0-3]"), switches("ib")});
  std::vector<std::string> links = {link("h[0-1]/gpu[0-3]", "ib", 25, "ib")};
  for (const std::string box : {"h0/", "h1/"}) {
    links.push_back(link(box + "gpu0", box + "gpu1", 100, "nvlink"));
    links.push_back(link(box + "gpu2", box + "gpu3", 100, "nvlink"));
  }
  const Read islands = read(nodes, list(links));
  EXPECT_THAT(islands.boxes, SizeIs(4));
  EXPECT_THAT(islands.findings, ElementsAre("W09 /nodes/0"));
  EXPECT_THAT(islands.message, HasSubstr("no links of kind \"nvlink\" join \"h0/gpu2\""));
  EXPECT_THAT(islands.note, HasSubstr("4 (box0, box1, box2 and 1 more)"));
}

TEST(InferBoxes, ADeclaredBoxOverrides) {
  const std::string links = slash_links("nvlink", "ib");
  // All in one: nothing is inferred.
  const Read one = read(list({gpus("box[0-1]/gpu[0-1]", R"(,"box":"all")"),
                              switches("box[0-1]/nvsw"), switches("ib")}),
                        links);
  EXPECT_THAT(one.boxes, ElementsAre(Pair("all", SizeIs(4))));
  EXPECT_EQ(one.note, "");
  EXPECT_THAT(one.findings, ElementsAre("W08 /nodes/0"));  // of which NVLink joins two islands
  // One of them named: the nodes with it join it, and the others are still found.
  const Read named = read(list({gpus("box0/gpu0", R"(,"box":"left")"), gpus("box0/gpu1"),
                                gpus("box1/gpu[0-1]"), switches("box[0-1]/nvsw"), switches("ib")}),
                          links);
  EXPECT_EQ(named.boxes, (Boxes{{"left", {"box0/gpu0", "box0/gpu1", "box0/nvsw"}},
                                {"box1", {"box1/gpu0", "box1/gpu1", "box1/nvsw"}}}));
  EXPECT_THAT(named.note, HasSubstr("boxes inferred: 2 (left, box1)"));
  // Two names where the fabric shows one box.
  const Read torn =
      read(list({gpus("box0/gpu0", R"(,"box":"a")"), gpus("box0/gpu1", R"(,"box":"b")"),
                 gpus("box1/gpu[0-1]"), switches("box[0-1]/nvsw"), switches("ib")}),
           links);
  EXPECT_EQ(torn.boxes, (Boxes{{"a", {"box0/gpu0"}},
                               {"b", {"box0/gpu1"}},
                               {"box1", {"box1/gpu0", "box1/gpu1", "box1/nvsw"}}}));
  EXPECT_THAT(torn.findings, ElementsAre(StartsWith("W09")));
}

TEST(InferBoxes, NamesAreNotTaken) {
  const Read taken =
      read(list({gpus("gpu[0-3]"), switches("box0"), switches("nvsw"), switches("ib")}),
           list({link("gpu[0-1]", "box0", 300, "nvlink"), link("gpu[2-3]", "nvsw", 300, "nvlink"),
                 link("gpu[0-3]", "ib", 25, "ib")}));
  EXPECT_EQ(taken.boxes,
            (Boxes{{"box1", {"gpu0", "gpu1", "box0"}}, {"box2", {"gpu2", "gpu3", "nvsw"}}}));
}

TEST(InferBoxes, PartsThatFailedStandInTheirBox) {
  const std::string off = R"(,"enabled":false)";
  const Read failed =
      read(list({gpus("box0/gpu0"), gpus("box0/gpu1", off), gpus("box1/gpu[0-1]"),
                 switches("box[0-1]/nvsw"), switches("ib")}),
           list({link("box0/gpu[0-1]", "box0/nvsw", 300, "nvlink"),
                 link("box1/gpu0", "box1/nvsw", 300, "nvlink"),
                 link("box1/gpu1", "box1/nvsw", 300, "nvlink", off),
                 link("box[0-1]/gpu[0-1]", "ib", 25, "ib"), link("box[0-1]/nvsw", "ib", 5, "ib")}));
  EXPECT_EQ(failed.boxes, kSlashBoxes);
}

// Neither kinds nor names, but GPUs with a wide way to some and a narrow one to all.
TEST(InferBoxes, WidthsAloneAreADoubt) {
  const Read nvswitches = read(
      list({gpus("gpu[0-3]"), switches("a"), switches("b"), switches("c")}),
      list({link("gpu[0-1]", "a", 300), link("gpu[2-3]", "b", 300), link("gpu[0-3]", "c", 25)}));
  EXPECT_EQ(nvswitches.boxes,
            (Boxes{{"box0", {"gpu0", "gpu1", "a"}}, {"box1", {"gpu2", "gpu3", "b"}}}));
  EXPECT_THAT(nvswitches.findings, ElementsAre("W09 /nodes/0"));
  EXPECT_THAT(nvswitches.message, HasSubstr("nothing but the widths of links"));
  const Read cables =
      read(list({gpus("gpu[0-3]"), switches("c")}),
           list({link("gpu0", "gpu1", 50), link("gpu2", "gpu3", 50), link("gpu[0-3]", "c", 25)}));
  EXPECT_THAT(cables.boxes, SizeIs(2));
  // The names say the same: no doubt.
  const Read named = read(list({gpus("n[0-1]g[0-1]"), switches("n[0-1]sw"), switches("c")}),
                          list({link("n0g[0-1]", "n0sw", 300), link("n1g[0-1]", "n1sw", 300),
                                link("n[0-1]g[0-1]", "c", 25)}));
  EXPECT_THAT(named.boxes, UnorderedElementsAre(Pair("n0", SizeIs(3)), Pair("n1", SizeIs(3))));
  EXPECT_THAT(named.findings, IsEmpty());
}

// As before: one box, and no word of it.
TEST(InferBoxes, FabricsThatShowNoneKeepNone) {
  const std::vector<std::pair<std::string, std::string>> flat = {
      // a switch
      {list({gpus("gpu[0-3]"), switches("sw")}), link("gpu[0-3]", "sw", 25)},
      {list({gpus("box0/gpu[0-3]"), switches("box0/sw")}), link("box0/gpu[0-3]", "box0/sw", 25)},
      // leaves and a spine, whose uplinks are narrow or wide
      {list({gpus("gpu[0-3]"), switches("leaf[0-1]"), switches("spine")}),
       list({link("gpu[0-1]", "leaf0", 100), link("gpu[2-3]", "leaf1", 100),
             link("leaf[0-1]", "spine", 10)})},
      {list({gpus("r[0-1]h[0-1]"), switches("r[0-1]sw"), switches("spine")}),
       list({link("r0h[0-1]", "r0sw", 100), link("r1h[0-1]", "r1sw", 100),
             link("r[0-1]sw", "spine", 400)})},
      // planes, of one width and of two
      {list({gpus("gpu[0-3]"), switches("plane[0-1]")}), link("gpu[0-3]", "plane[0-1]", 25)},
      {list({gpus("gpu[0-3]"), switches("plane[0-1]")}),
       list({link("gpu[0-3]", "plane0", 400), link("gpu[0-3]", "plane1", 25)})},
      // a torus with a wide dimension, and names of two coordinates
      {gpus("n[0-1]x[0-2]"), list({link("n0x[0-2]", "n0x[1,2,0]", 400, "", R"(,"pair":"zip")"),
                                   link("n1x[0-2]", "n1x[1,2,0]", 400, "", R"(,"pair":"zip")"),
                                   link("n0x[0-2]", "n1x[0-2]", 25, "", R"(,"pair":"zip")")})},
  };
  for (const auto& [nodes, links] : flat) {
    const Read none = read(nodes, links);
    EXPECT_THAT(none.boxes, IsEmpty()) << nodes;
    EXPECT_THAT(none.findings, IsEmpty()) << nodes;
    EXPECT_EQ(none.note, "") << nodes;
  }
}

// "row0/n1" looks like a box, and the links say that it is none.
TEST(InferBoxes, PrefixesThatLinksContradictAreADoubt) {
  const Read torus = read(gpus("row[0-1]/n[0-2]"),
                          list({link("row0/n[0-2]", "row0/n[1,2,0]", 25, "", R"(,"pair":"zip")"),
                                link("row1/n[0-2]", "row1/n[1,2,0]", 25, "", R"(,"pair":"zip")"),
                                link("row0/n[0-2]", "row1/n[0-2]", 25, "", R"(,"pair":"zip")")}));
  EXPECT_THAT(torus.boxes, IsEmpty());
  EXPECT_THAT(torus.findings, ElementsAre("W09 /nodes/0"));
  EXPECT_THAT(torus.message, HasSubstr("no boxes are inferred"));
  // Ranges that multiply: every GPU on the switch of every box.
  const Read crossed = read(list({gpus("box[0-1]/gpu[0-1]"), switches("box[0-1]/nvsw")}),
                            link("box[0-1]/gpu[0-1]", "box[0-1]/nvsw", 300));
  EXPECT_THAT(crossed.boxes, IsEmpty());
  EXPECT_THAT(crossed.findings, ElementsAre("W09 /nodes/0", "W12 /links/0"));
  const Read star =
      read(list({gpus("box[0-1]/gpu[0-1]"), switches("sw")}), link("box[0-1]/gpu[0-1]", "sw", 25));
  EXPECT_THAT(star.boxes, IsEmpty());
  EXPECT_THAT(star.findings, ElementsAre("W09 /nodes/0"));
}

}  // namespace
}  // namespace forestcoll::testing
