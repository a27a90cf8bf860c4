// Drops of links, cables and devices.
#include "topology/failures_testing.hpp"

namespace forestcoll::testing {
namespace {

TEST(Degrade, DropsALinkBothWaysOrOneWay) {
  auto both = degrade_well({.drop = {"box0/gpu1~box0/nic"}});
  EXPECT_EQ(bandwidth(both.topology, "box0/gpu1", "box0/nic"), Ratio(0));
  EXPECT_EQ(bandwidth(both.topology, "box0/nic", "box0/gpu1"), Ratio(0));
  EXPECT_EQ(bandwidth(both.topology, "box0/gpu0", "box0/nic"), Ratio(20));
  EXPECT_THAT(both.changes, ElementsAre("dropped box0/gpu1~box0/nic (1 link)"));

  for (const auto& [item, from, to] :
       {std::tuple("box0/gpu1->box0/nic", "box0/gpu1", "box0/nic"),
        std::tuple("box0/nic->box0/gpu1", "box0/nic", "box0/gpu1")}) {
    const auto one = degrade_well({.drop = {item}});
    EXPECT_EQ(bandwidth(one.topology, from, to), Ratio(0)) << item;
    EXPECT_EQ(bandwidth(one.topology, to, from), Ratio(20)) << item;
    // One way after the other is both.
    const auto twice = degrade_well({.drop = {item, "box0/gpu1~box0/nic"}});
    EXPECT_EQ(bandwidth(twice.topology, to, from), Ratio(0)) << item;
  }
  // The order of a link's ends in the file does not matter.
  const auto turned = degrade_well({.drop = {"box0/nic~box0/gpu1"}});
  EXPECT_EQ(bandwidth(turned.topology, "box0/gpu1", "box0/nic"), Ratio(0));
}

// A NIC that GPUs share is a node for either direction.
TEST(Degrade, ANicOfTwoNodesGoesAsOne) {
  const Topology fabric = parse_valid(flat_file(
      R"({"id":"gpu[0-3]","type":"compute"},{"id":"nic_out[0-1]","type":"switch"},
         {"id":"nic_in[0-1]","type":"switch"},{"id":"nvsw","type":"switch"})",
      R"({"src":"gpu[0-3]","dst":"nvsw","bandwidth":9},
         {"src":"gpu[0-3]","dst":"nic_out[0-1]","bandwidth":5,"duplex":"simplex","kind":"pcie"},
         {"src":"nic_in[0-1]","dst":"gpu[0-3]","bandwidth":5,"duplex":"simplex","kind":"pcie"},
         {"src":"nic_out[0-1]","dst":"nvsw","bandwidth":7,"duplex":"simplex"},
         {"src":"nvsw","dst":"nic_in[0-1]","bandwidth":7,"duplex":"simplex"})"));
  const auto left = degrade(fabric, {.drop = {"nic1"}});
  ASSERT_TRUE(left) << to_string(left.errors().front());
  EXPECT_EQ(bandwidth(left->topology, "gpu0", "nic_out1"), Ratio(0));
  EXPECT_EQ(bandwidth(left->topology, "nic_in1", "gpu0"), Ratio(0));
  EXPECT_EQ(bandwidth(left->topology, "gpu0", "nic_out0"), Ratio(5));
  EXPECT_THAT(left->changes, ElementsAre("dropped nic1 (2 nodes)"));
  EXPECT_THAT(degrade(fabric, {.drop = {"nic_in1"}})->changes,
              ElementsAre("dropped nic_in1 (one direction of nic1)"));
  const auto cable = degrade(fabric, {.drop = {"nic[0-1]~nvsw"}});
  EXPECT_THAT(cable->changes, ElementsAre("dropped nic[0-1]~nvsw (4 links)"));
  const auto slow = degrade(fabric, {.derate = {"nic0~nvsw=1/2"}});
  EXPECT_EQ(bandwidth(slow->topology, "nvsw", "nic_in0"), Ratio(7, 2));
  EXPECT_EQ(bandwidth(slow->topology, "nic_out0", "nvsw"), Ratio(7, 2));
  EXPECT_THAT(degrade(fabric, {.drop = {"nic2"}}).errors().front().remedy, HasSubstr("nic"));
}

// A PCIe switch is two nodes, too. Where its NIC is gone, nothing of one direction is left over.
TEST(Degrade, ADeviceOfTwoNodesHasItsSidesTogether) {
  const Topology fabric = parse_valid(flat_file(
      R"({"id":"gpu[0-1]","type":"compute"},{"id":"pcie_out0","type":"switch"},
         {"id":"pcie_in0","type":"switch"},{"id":"nic0","type":"switch"},
         {"id":"ib","type":"switch"},{"id":"nvsw","type":"switch"})",
      R"({"src":"gpu[0-1]","dst":"nvsw","bandwidth":9},
         {"src":"gpu[0-1]","dst":"pcie_out0","bandwidth":5,"duplex":"simplex","kind":"pcie"},
         {"src":"pcie_out0","dst":"nic0","bandwidth":10,"duplex":"simplex","kind":"pcie"},
         {"src":"nic0","dst":"pcie_in0","bandwidth":10,"duplex":"simplex","kind":"pcie"},
         {"src":"pcie_in0","dst":"gpu[0-1]","bandwidth":5,"duplex":"simplex","kind":"pcie"},
         {"src":"nic0","dst":"ib","bandwidth":8,"kind":"ib"},
         {"src":"gpu[0-1]","dst":"ib","bandwidth":4,"kind":"ib"})"));
  const auto warnings = [&](const Failures& failures) {
    std::string all;
    for (const Diagnostic& each : test::valid(degrade(fabric, failures)).warnings) {
      all += to_string(each) + "\n";
    }
    return all;
  };
  EXPECT_EQ(warnings({.drop = {"nic0"}}), "");
  EXPECT_EQ(warnings({.drop = {"nic0~ib"}}), "");
  const std::string one_way = warnings({.drop = {"pcie_out0->nic0"}});
  EXPECT_THAT(one_way, HasSubstr("switch \"pcie0\" takes in 20 GB/s and lets out 10 GB/s"));
  EXPECT_THAT(one_way, HasSubstr("switch \"nic0\" takes in 8 GB/s and lets out 18 GB/s"));
  EXPECT_THAT(one_way, Not(HasSubstr("pcie_in0")));
}

// Two GPUs with 12 cables of 25 to a switch and one of 50 to another, whose ids look like counts.
Topology bundles() {
  return parse_valid(flat_file(
      R"({"id":"g[0-1]","type":"compute"},{"id":"sw","type":"switch"},{"id":"sw*2","type":"switch"})",
      R"({"src":"g[0-1]","dst":"sw","bandwidth":25,"count":12,"kind":"nvlink"},
         {"src":"g[0-1]","dst":"sw*2","bandwidth":50,"kind":"ib*2"})"));
}

TEST(Degrade, DropsCables) {
  struct Case {
    std::vector<std::string> drop;
    int there, back;  // GB/s that are left between g0 and sw
    std::string said;
  };
  for (const Case& example : std::vector<Case>{
           {{"g0~sw*1"}, 275, 275, "dropped 1 cable of g0~sw (1 link)"},
           {{"sw~g0*5"}, 175, 175, "dropped 5 cables of sw~g0 (1 link)"},
           {{"g0->sw*1"}, 275, 300, "dropped 1 cable of g0->sw (1 link)"},
           {{"sw->g0*3"}, 300, 225, "dropped 3 cables of sw->g0 (1 link)"},
           {{"g[0-1]~sw*12"}, 0, 0, "dropped 12 cables each of g[0-1]~sw (2 links)"},
           {{"kind=nvlink*2"}, 250, 250, "dropped 2 cables each of kind=nvlink (2 links)"},
           {{"g0~sw*1", "g0~sw*2"}, 225, 225, "dropped 1 cable of g0~sw (1 link)"},
           {{"g0->sw*12", "g0~sw"}, 0, 0, "dropped 12 cables of g0->sw (1 link)"},
           {{"g0->sw*12", "sw->g0*1"}, 0, 275, "dropped 12 cables of g0->sw (1 link)"},
           {{"g0~sw*[2]"}, 300, 300, "dropped g0~sw*[2] (1 link)"},
           {{"kind=ib*2"}, 300, 300, "dropped kind=ib*2 (2 links)"}}) {
    const auto left = degrade(bundles(), {.drop = example.drop});
    ASSERT_TRUE(left) << example.said << to_string(left.errors().front());
    EXPECT_EQ(bandwidth(left->topology, "g0", "sw"), Ratio(example.there)) << example.said;
    EXPECT_EQ(bandwidth(left->topology, "sw", "g0"), Ratio(example.back)) << example.said;
    EXPECT_EQ(left->changes.front(), example.said);
    for (const TopologyLink& link : left->topology.links) {
      if (!link.enabled || link.kind != "nvlink") continue;
      EXPECT_EQ(link.bandwidth, Ratio(25 * link.count)) << example.said;
    }
  }
}

TEST(Degrade, CablesThatAreGoneAreNotDroppedAgain) {
  for (const std::string second : {"g0~sw*6", "g0->sw*6", "kind=nvlink*6"}) {
    const auto left = degrade(bundles(), {.drop = {"g0~sw*7", second}});
    ASSERT_FALSE(left) << second;
    EXPECT_THAT(left.errors().front().message, HasSubstr("has 5 cables left"));
  }
  EXPECT_TRUE(degrade(bundles(), {.drop = {"g0->sw*7", "sw->g0*6"}}));
}

TEST(Degrade, ADerateKeepsTheCables) {
  const auto left = degrade(bundles(), {.drop = {"g0~sw*2"}, .derate = {"g0~sw=1/2"}});
  ASSERT_TRUE(left);
  EXPECT_EQ(left->topology.links[LinkId(0)].count, 10);
  EXPECT_EQ(bandwidth(left->topology, "g0", "sw"), Ratio(125));
}

TEST(Degrade, SaysWhatIsWrongWithCables) {
  Topology fine = bundles();
  fine.links[LinkId(0)].bandwidth = Ratio(1, 4000000000000000037);
  for (const auto& [topology, item, code, says] :
       {std::tuple(bundles(), "g0~sw*0", Code::D02, "drops nothing"),
        std::tuple(bundles(), "g0~sw*13", Code::D03, "\"g0\" and \"sw\" has 12 cables left"),
        std::tuple(bundles(), "g0~sw*[2]*2", Code::D03, "has 1 cable left"),
        std::tuple(bundles(), "g0~sw*-1", Code::D01, "no node and no box is called \"sw*-1\""),
        std::tuple(bundles(), "g0~sw*99999999999999999999", Code::D01, "no node and no box"),
        std::tuple(bundles(), "g0~sx*2", Code::D01, "no node and no box is called \"sx\""),
        std::tuple(fine, "g0~sw*1", Code::E14, "too fine for exact arithmetic")}) {
    const auto left = degrade(topology, {.drop = {item}});
    ASSERT_FALSE(left) << item;
    EXPECT_EQ(left.errors().front().code, code) << item;
    EXPECT_EQ(left.errors().front().where, "`drop`") << item;
    EXPECT_THAT(to_string(left.errors().front()), HasSubstr(says));
  }
}

}  // namespace
}  // namespace forestcoll::testing
