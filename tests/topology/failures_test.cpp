// Derates, ranks, groups and other failures by every way to name them, and every error.
#include "topology/failures_testing.hpp"

namespace forestcoll::testing {
namespace {

TEST(Degrade, NothingChangesNothing) {
  const auto result = degrade_well({});
  EXPECT_TRUE(result.changes.empty());
  EXPECT_EQ(result.topology.ranks.size(), 4u);
}

TEST(Degrade, AFactorMayBeginWithItsPoint) {
  const auto left = degrade_well({.derate = {"box0/nic~ib=.5"}});
  EXPECT_EQ(bandwidth(left.topology, "box0/nic", "ib"), Ratio(25, 2));
}

TEST(Degrade, ADroppedOneWayLinkDoesNotTurnRound) {
  for (const std::string item : {"box0/gpu0~box1/gpu0", "box0/gpu0->box1/gpu0"}) {
    const auto left = degrade_well({.drop = {item}});
    EXPECT_EQ(bandwidth(left.topology, "box0/gpu0", "box1/gpu0"), Ratio(0)) << item;
    EXPECT_EQ(bandwidth(left.topology, "box1/gpu0", "box0/gpu0"), Ratio(0)) << item;
  }
}

TEST(Degrade, DropsByRangeByBoxAndByKind) {
  const auto range = degrade_well({.drop = {"box[0-1]/gpu1~box[0-1]/nic"}});
  EXPECT_EQ(range.changes.front(), "dropped box[0-1]/gpu1~box[0-1]/nic (2 links)");
  const auto kind = degrade_well({.drop = {"kind=pcie"}, .ranks = "box0"});
  EXPECT_EQ(bandwidth(kind.topology, "box0/gpu0", "box0/nic"), Ratio(0));
  EXPECT_EQ(bandwidth(kind.topology, "box0/gpu0", "box0/sw"), Ratio(100));
  const auto box = degrade_well({.drop = {"box1"}});
  EXPECT_EQ(box.topology.ranks.size(), 2u);
  EXPECT_EQ(box.changes.front(), "dropped box1 (4 nodes)");
}

TEST(Degrade, ADroppedNodeStaysInTheTopologyAndOutOfTheRanks) {
  const auto result = degrade_well({.drop = {"box0/gpu1"}});
  EXPECT_EQ(result.topology.nodes.size(), two_boxes().nodes.size());
  EXPECT_EQ(result.topology.ranks.size(), 3u);
  EXPECT_EQ(to_digraph(result.topology)->ranks.size(), 3u);
}

TEST(Degrade, DeratesExactlyAndPerDirection) {
  const auto both = degrade_well({.derate = {"kind=ib=1/3"}});
  EXPECT_EQ(bandwidth(both.topology, "box0/nic", "ib"), Ratio(25, 3));
  EXPECT_EQ(bandwidth(both.topology, "ib", "box1/nic"), Ratio(25, 3));
  EXPECT_THAT(both.changes, ElementsAre("derated kind=ib to 1/3 (2 links)"));

  const auto out = degrade_well({.derate = {"box0/nic->ib=0.5"}});
  EXPECT_EQ(bandwidth(out.topology, "box0/nic", "ib"), Ratio(25, 2));
  EXPECT_EQ(bandwidth(out.topology, "ib", "box0/nic"), Ratio(25));
  const auto in = degrade_well({.derate = {"ib->box0/nic=0.5", "box0/nic~ib=1/5"}});
  EXPECT_EQ(bandwidth(in.topology, "ib", "box0/nic"), Ratio(5, 2));
  EXPECT_EQ(bandwidth(in.topology, "box0/nic", "ib"), Ratio(5));

  const auto simplex = degrade_well({.derate = {"box0/gpu0->box1/gpu0=1/2"}});
  EXPECT_EQ(bandwidth(simplex.topology, "box0/gpu0", "box1/gpu0"), Ratio(5, 2));
  EXPECT_EQ(bandwidth(simplex.topology, "box1/gpu0", "box0/gpu0"), Ratio(0));
}

TEST(Degrade, ChoosesRanksInTheOrderGiven) {
  const auto ids = [](const std::string& list) {
    const auto result = degrade_well({.ranks = list});
    std::vector<std::string> names;
    for (const NodeId rank : result.topology.ranks) {
      names.push_back(result.topology.nodes[rank].id);
    }
    return names;
  };
  EXPECT_THAT(ids("3,0-1"), ElementsAre("box1/gpu1", "box0/gpu0", "box0/gpu1"));
  EXPECT_THAT(ids("box1/gpu[0,1],box0/gpu1"), ElementsAre("box1/gpu0", "box1/gpu1", "box0/gpu1"));
  EXPECT_THAT(ids("box1"), ElementsAre("box1/gpu0", "box1/gpu1"));
  EXPECT_THAT(degrade_well({.ranks = "0,1,2"}).changes,
              ElementsAre("3 of 4 compute nodes take part"));
}

struct Mistake {
  Failures failures;
  Code code = {};
  std::string says;
};

// Ids may hold what separates them; what is there by the whole name is meant.
TEST(Degrade, DropsWhatASwitchCanDo) {
  Topology topology = two_boxes();
  for (TopologyNode& node : topology.nodes) {
    node.multicast = node.reduce = node.id.ends_with("/sw");
  }
  const auto roles_left = [&](std::vector<std::string> drop) {
    const auto result = degrade(topology, {.drop = std::move(drop)});
    if (!result)
      return std::string(name_of(result.errors().front().code)) + ": " +
             result.errors().front().message;
    std::string left = result->changes.front() + ":";
    for (const TopologyNode& node : result->topology.nodes) {
      if (node.multicast) left += " " + node.id + " copies";
      if (node.reduce) left += " " + node.id + " sums";
    }
    return left;
  };
  EXPECT_EQ(roles_left({"box0/sw:multicast"}),
            "dropped box0/sw:multicast (1 switch): box0/sw sums box1/sw copies box1/sw sums");
  EXPECT_EQ(roles_left({"box[0-1]/sw:reduce"}),
            "dropped box[0-1]/sw:reduce (2 switches): box0/sw copies box1/sw copies");
  EXPECT_EQ(roles_left({"box0/nic:reduce"}),
            "D02: \"box0/nic:reduce\" drops nothing: no such switch can");
  EXPECT_EQ(roles_left({"box7/sw:reduce"}).substr(0, 3), "D01");
  // A node that is called so is the node.
  topology.nodes[NodeId(2)].id = "a:reduce";
  EXPECT_EQ(roles_left({"a:reduce"}).substr(0, 16), "dropped a:reduce");
  EXPECT_EQ(topology.nodes[NodeId(2)].type, NodeType::switch_node);
}

TEST(Degrade, MakesAProcessGroupWhoseOthersRelay) {
  const auto result = degrade_well({.members = "box1/gpu1,0", .relays = Failures::Relays::all});
  const Topology& topology = result.topology;
  ASSERT_EQ(topology.ranks.size(), 2u);
  EXPECT_EQ(topology.nodes[topology.ranks[0]].id, "box1/gpu1");
  EXPECT_EQ(topology.nodes[topology.ranks[1]].id, "box0/gpu0");
  EXPECT_THAT(result.changes, ElementsAre("2 of 4 compute nodes take part, the others relay"));
  EXPECT_TRUE(has_relays(topology));
  // They are in the digraph, as nodes that data passes and that own none.
  EXPECT_EQ(bandwidth(topology, "box0/gpu1", "box0/nic"), Ratio(20));
  EXPECT_EQ(to_digraph(topology)->ranks, topology.ranks);
}

// A topology file has no weight for a relay.
TEST(Degrade, RelaysOwnNothing) {
  Topology whole = two_boxes();
  for (TopologyNode& node : whole.nodes) {
    if (node.type == NodeType::compute) node.weight = 2;
  }
  const auto left =
      test::valid(degrade(whole, {.members = "box1/gpu1,0", .relays = Failures::Relays::all}));
  for (const TopologyNode& node : left.topology.nodes) {
    EXPECT_EQ(node.weight, Ratio(node.type == NodeType::compute ? 2 : 1)) << node.id;
  }
}

TEST(Degrade, AProcessGroupIsThatOfItsRanks) {
  const auto ranks = degrade_well({.ranks = "box1/gpu1,0"});
  for (const auto relays : {Failures::Relays::declared, Failures::Relays::none}) {
    const auto alone = degrade_well({.members = "box1/gpu1,0", .relays = relays});
    EXPECT_EQ(alone.topology.ranks, ranks.topology.ranks);
    for (std::size_t i = 0; i < ranks.topology.nodes.size(); ++i) {
      EXPECT_EQ(alone.topology.nodes[NodeId(i)].enabled, ranks.topology.nodes[NodeId(i)].enabled);
    }
    EXPECT_FALSE(has_relays(alone.topology));
    EXPECT_THAT(alone.changes, ElementsAre("2 of 4 compute nodes take part"));
  }
}

// What the topology itself says of its GPUs stands, unless none are to relay.
TEST(Degrade, DeclaredRelaysStay) {
  const auto group = degrade_well({.members = "box[0-1]/gpu0", .relays = Failures::Relays::all});
  const Topology& topology = group.topology;
  const auto relays = [&](const Failures& failures) {
    const auto left = degrade(topology, failures);
    EXPECT_TRUE(left) << to_string(left.errors().front());
    return left && has_relays(left->topology);
  };
  EXPECT_TRUE(relays({}));
  EXPECT_TRUE(relays({.members = "box[0-1]/gpu0"}));
  EXPECT_FALSE(relays({.relays = Failures::Relays::none}));
  const auto without = degrade(topology, {.relays = Failures::Relays::none});
  EXPECT_THAT(without->changes, ElementsAre("2 GPUs that could relay are left out"));
}

TEST(Degrade, AProcessGroupOfAllHasNoRelays) {
  const auto result = degrade_well({.members = "box[0-1]"});
  EXPECT_FALSE(has_relays(result.topology));
  EXPECT_THAT(result.changes, ElementsAre("4 of 4 compute nodes take part"));
}

TEST(Degrade, SaysWhatIsWrongWithAProcessGroup) {
  const auto code = [](const Failures& failures) {
    const auto result = degrade(two_boxes(), failures);
    return result
               ? "none"
               : std::string(name_of(result.errors().front().code)) + result.errors().front().where;
  };
  EXPECT_EQ(code({.members = "box7"}), "D01`members`");
  EXPECT_EQ(code({.members = "0,0"}), "D04`members`");
  EXPECT_EQ(code({.drop = {"box0/gpu0"}, .members = "box0/gpu0,3"}), "D04`members`");
  EXPECT_EQ(code({.members = "0"}).substr(0, 3), "E07");
  // gpu1 of box0 reaches the other box through its NIC, or over gpu0 of either.
  const std::vector<std::string> no_nic = {"box0/nic"};
  EXPECT_EQ(code({.drop = no_nic, .members = "box0/gpu0,box0/gpu1"}), "none");
  EXPECT_THAT(degrade(two_boxes(), {.members = "0"}).errors().front().remedy,
              ::testing::Not(HasSubstr("`relays`")));
}

// Where relays may join what is apart, the remedy says so.
TEST(Degrade, OnlyRelaysMayJoinAProcessGroup) {
  const Topology line = parse_valid(R"({"format":"forestcoll-topology","version":1,
    "nodes":[{"id":"a","type":"compute"},{"id":"b","type":"compute"},{"id":"c","type":"compute"}],
    "links":[{"src":"a","dst":"b","bandwidth":1},{"src":"b","dst":"c","bandwidth":1}]})");
  const auto apart = degrade(line, {.members = "a,c"});
  ASSERT_FALSE(apart);
  EXPECT_EQ(apart.errors().front().code, Code::E08);
  EXPECT_THAT(apart.errors().front().remedy,
              HasSubstr("Only GPUs outside of the process group join them: with `relays`,"));
  EXPECT_TRUE(degrade(line, {.members = "a,c", .relays = Failures::Relays::all}));
}

TEST(Degrade, NamesIdsThatHoldSeparators) {
  const Topology topology = parse_valid(R"({"format":"forestcoll-topology","version":1,
    "nodes":[{"id":"e~f","type":"compute"},{"id":"a->b","type":"compute"},
             {"id":"c,d","type":"compute"},{"id":"g","type":"compute"},
             {"id":"sw","type":"switch"}],
    "links":[{"src":"e~f","dst":"sw","bandwidth":8},{"src":"a->b","dst":"sw","bandwidth":8},
             {"src":"c,d","dst":"sw","bandwidth":8},{"src":"g","dst":"sw","bandwidth":8},
             {"src":"e~f","dst":"a->b","bandwidth":2}]})");
  const auto left = [&](const Failures& failures) {
    const auto result = degrade(topology, failures);
    EXPECT_TRUE(result) << to_string(result.errors().front());
    return result ? result->topology : topology;
  };
  const auto ranks = [&](const Failures& failures) {
    std::vector<std::string> ids;
    for (const NodeId node : left(failures).ranks) ids.push_back(topology.nodes[node].id);
    return ids;
  };
  EXPECT_THAT(ranks({.drop = {"e~f"}}), ElementsAre("a->b", "c,d", "g"));
  EXPECT_THAT(ranks({.drop = {"a->b"}}), ElementsAre("e~f", "c,d", "g"));
  EXPECT_THAT(ranks({.ranks = "g,c,d,e~f"}), ElementsAre("g", "c,d", "e~f"));
  EXPECT_EQ(bandwidth(left({.drop = {"e~f~a->b"}}), "e~f", "a->b"), Ratio(0));
  EXPECT_EQ(bandwidth(left({.derate = {"e~f~a->b=1/2"}}), "a->b", "e~f"), Ratio(1));
  const Topology one_way = left({.drop = {"a->b->e~f"}});
  EXPECT_EQ(bandwidth(one_way, "a->b", "e~f"), Ratio(0));
  EXPECT_EQ(bandwidth(one_way, "e~f", "a->b"), Ratio(2));
}

TEST(Degrade, SaysWhatIsWrong) {
  const std::vector<Mistake> mistakes = {
      {{.drop = {"box0/nik"}}, Code::D01, "no node and no box is called \"box0/nik\""},
      {{.drop = {"box0/nik"}}, Code::D01, "Did you mean \"box0/nic\"?"},
      {{.drop = {"box0/gpu0-1"}}, Code::D01, "Write a range of ids as \"box0/gpu[0-1]\"."},
      {{.drop = {"box0/gpu0-9"}}, Code::D01, "Did you mean \"box0/gpu0\"?"},
      {{.drop = {"zzzzzzzz"}}, Code::D01, "Name a node by its id"},
      {{.drop = {"box0/nik~ib"}}, Code::D01, "box0/nik"},
      {{.drop = {"ib~box0/nik"}}, Code::D01, "box0/nik"},
      {{.drop = {"box0/gpu0~ib"}}, Code::D01, "no link in use leads from \"box0/gpu0\" to \"ib\""},
      {{.drop = {"box1/gpu0->box0/gpu0"}}, Code::D01, "no link in use leads"},
      {{.drop = {"kind=nvlonk"}}, Code::D01, "The kinds are ib, nvlink, pcie."},
      {{.drop = {"box[0-"}}, Code::D02, "a [ without its ]"},
      {{.drop = {""}}, Code::D02, ""},
      {{.drop = {"gpu[0-999999999]"}}, Code::D02, "stands for 1000000000 ids"},
      {{.derate = {"box0/nic~ib"}}, Code::D02, "is no link with a factor"},
      {{.derate = {"box0/nic=1/2"}}, Code::D02, "is no link with a factor"},
      {{.derate = {"box0/nic~ib=2"}}, Code::D03, "at most 1, found \"2\""},
      {{.derate = {"box0/nic~ib=0"}}, Code::D03, "above 0"},
      {{.derate = {"box0/nic~ib=-1/2"}}, Code::D03, "above 0"},
      {{.derate = {"box0/nic~ib=half"}}, Code::D03, "found \"half\""},
      {{.derate = {"kind=ib=1/4000000000000000001", "kind=ib=1/7"}}, Code::E14, "too fine"},
      {{.ranks = "0,4"}, Code::D01, "Ranks are 0 to 3."},
      {{.ranks = "2-1"}, Code::D01, "no rank or range of ranks 2-1"},
      {{.ranks = "0,box0/gpu0"}, Code::D04, "\"box0/gpu0\" is listed twice"},
      {{.ranks = "0,ib"}, Code::D04, "\"ib\" names no compute node in use"},
      {{.ranks = "0,"}, Code::D02, ""},
      {{.drop = {"box0/gpu0"}, .ranks = "0,1"}, Code::D04, "\"box0/gpu0\" is dropped"},
      {{.ranks = "0"}, Code::E07, "found only \"box0/gpu0\""},
      {{.drop = {"box0/gpu1~box0/[sw]"}}, Code::D02, ""},
      {{.drop = {"box1/gpu1~box1/sw", "box1/gpu1~box1/nic"}},
       Code::E08,
       "\"box1/gpu1\" has no link"},
      {{.drop = {"kind=ib"}}, Code::E09, "there are 2 components"},
  };
  for (const Mistake& mistake : mistakes) {
    const auto result = degrade(two_boxes(), mistake.failures);
    ASSERT_FALSE(result) << mistake.says;
    const Diagnostic& error = result.errors().front();
    EXPECT_EQ(error.code, mistake.code) << to_string(error);
    EXPECT_THAT(to_string(error), HasSubstr(mistake.says));
    EXPECT_FALSE(error.where.empty());
    EXPECT_FALSE(error.remedy.empty()) << to_string(error);
    EXPECT_EQ(error.kind, mistake.code == Code::E14 ? ErrorKind::limit : ErrorKind::input);
  }
}

TEST(Degrade, WhatIsDisabledInTheFileIsNotInUse) {
  Topology topology = two_boxes();
  for (TopologyLink& link : topology.links) link.enabled &= link.kind != "ib";
  topology.links.push_back(topology.links[LinkId(std::size_t{0})]);
  const auto result = degrade(topology, {.drop = {"kind=ib"}});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.errors().front().code, Code::D01);
}

}  // namespace
}  // namespace forestcoll::testing
