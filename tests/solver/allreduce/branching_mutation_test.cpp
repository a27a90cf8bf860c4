// Mistakes that a packer of trees that branch at switches could make, planted into right forests:
// `verify` finds each of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/congestion.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/verify.hpp"
#include "in_network_fabrics.hpp"
#include "support/topology_of.hpp"

namespace forestcoll::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// A fabric with the best forest on it.
struct Packed {
  Packed(std::size_t boxes, SwitchRole of_rail)
      : cluster(h100(boxes)), roles(cluster.roles(kEchoing, of_rail)) {
    topology = test::topology_of(cluster.network, roles);
    const auto optimum = allreduce_optimum(cluster.network, roles);
    auto packing = pack_branching(cluster.network, roles, *optimum);
    forest = *std::move(packing);
    text = json::parse(to_forest_json(forest, topology));
  }

  // The first of what is found; empty: it is right.
  [[nodiscard]] std::string finding(const json& mutant) const {
    const auto verdict = verify(mutant.dump(), "mutant", &topology, {});
    if (!verdict) return to_string(verdict.errors().front());
    return verdict->ok ? "" : to_string(verdict->findings.front());
  }

  Cluster cluster;
  SwitchRoles roles;
  Topology topology;
  BranchingForest forest;
  json text;
};

// One box; three boxes; and two with SHARP, whose trees are of several classes.
std::vector<Packed> forests() {
  std::vector<Packed> all;
  all.emplace_back(1, SwitchRole());
  all.emplace_back(3, SwitchRole());
  all.emplace_back(2, kSharp);
  return all;
}

void set_rate(json& forest, const Ratio& algbw) {
  forest["algbw"] = {{"exact", algbw.to_string()}, {"value", algbw.to_double()}};
  forest["optimum"] = forest["algbw"];
}

TEST(BranchingMutants, TheForestsAreRight) {
  for (const Packed& packed : forests()) EXPECT_EQ(packed.finding(packed.text), "");
  EXPECT_GT(Packed(2, kSharp).forest.broadcast.size(), 1U);
}

// Loads without echoes look as if more could be reached.
TEST(BranchingMutants, AForgottenEcho) {
  const Packed box(1, {});
  SwitchRoles silent = box.roles;
  for (SwitchRole& role : silent) role.echoes = false;
  const auto claimed = congestion_algbw(box.forest, box.cluster.network, silent);
  ASSERT_EQ(claimed, Ratio(450));
  json mutant = box.text;
  set_rate(mutant, *claimed);
  EXPECT_THAT(box.finding(mutant), HasSubstr("claims 450 GB/s; its trees reach 400"));
  // And so does a whole plan that was made without them.
  const auto optimum = allreduce_optimum(box.cluster.network, silent);
  const auto forest = pack_branching(box.cluster.network, silent, *optimum);
  ASSERT_TRUE(forest);
  EXPECT_NE(box.finding(json::parse(to_forest_json(*forest, box.topology))), "");
}

// What comes to a twin must be what leaves it: no edge less, none more, and only where a switch
// can.
TEST(BranchingMutantsLong, AnUnbalancedTwin) {
  for (const Packed& packed : forests()) {
    for (const char* phase : {"reduce", "broadcast"}) {
      const json& edges = packed.text[phase][0]["edges"];
      for (std::size_t e = 0; e < edges.size(); ++e) {
        json less = packed.text;
        less[phase][0]["edges"].erase(e);
        EXPECT_NE(packed.finding(less), "") << phase << e;
        json more = packed.text;
        more[phase][0]["edges"].push_back(edges[e]);
        EXPECT_NE(packed.finding(more), "") << phase << e;
        json turned = packed.text;
        std::swap(turned[phase][0]["edges"][e]["src"], turned[phase][0]["edges"][e]["dst"]);
        EXPECT_NE(packed.finding(turned), "") << phase << e;
      }
    }
  }
}

// A switch that only passes data on takes the place of one that copies: the edge from GPU to GPU
// becomes one into the switch of its rail and one out of it.
TEST(BranchingMutants, ATwinOfASwitchThatCannot) {
  const Packed packed(3, {});
  json mutant = packed.text;
  for (json& tree : mutant["broadcast"]) {
    for (json& edge : tree["edges"]) {
      const json path = edge["path"];
      if (path.size() != 5) continue;  // GPU, NIC, rail, NIC, GPU
      edge = {{"src", path[0]}, {"dst", path[2]}, {"path", {path[0], path[1], path[2]}}};
      tree["edges"].push_back(
          {{"src", path[2]}, {"dst", path[4]}, {"path", {path[2], path[3], path[4]}}});
      EXPECT_THAT(packed.finding(mutant), HasSubstr("which does not copy (\"multicast\")"));
      return;
    }
  }
  FAIL() << "no tree leaves its box";
}

// A tree, a part of one, or a whole class is missing in one phase, or at another root.
TEST(BranchingMutants, ALostShare) {
  for (const Packed& packed : forests()) {
    for (const char* phase : {"reduce", "broadcast"}) {
      for (std::size_t t = 0; t < packed.text[phase].size(); t += 5) {
        json without = packed.text;
        without[phase].erase(t);
        EXPECT_NE(packed.finding(without), "") << phase << t;
        json thicker = packed.text;
        thicker[phase][t]["multiplicity"] = thicker[phase][t]["multiplicity"].get<int>() + 1;
        EXPECT_NE(packed.finding(thicker), "") << phase << t;
        thicker["chunks"] = thicker["chunks"].get<int>() + 1;
        EXPECT_NE(packed.finding(thicker), "") << phase << t;
      }
    }
  }
}

TEST(BranchingMutants, AClassThatOnePhaseLacks) {
  const Packed packed(2, kSharp);
  for (const bool inward : {true, false}) {
    const std::size_t classes = (inward ? packed.forest.reduce : packed.forest.broadcast).size();
    for (std::size_t c = 0; c < classes; ++c) {
      BranchingForest mutant = packed.forest;
      auto& phase = inward ? mutant.reduce : mutant.broadcast;
      phase.erase(phase.begin() + static_cast<std::ptrdiff_t>(c));
      EXPECT_NE(packed.finding(json::parse(to_forest_json(mutant, packed.topology))), "");
    }
  }
  // The other class carries what is lost, so that all chunks are there: twice the load.
  BranchingForest mutant = packed.forest;
  for (auto* phase : {&mutant.reduce, &mutant.broadcast}) {
    phase->assign(2, phase->front());
  }
  EXPECT_NE(packed.finding(json::parse(to_forest_json(mutant, packed.topology))), "");
}

}  // namespace
}  // namespace forestcoll::testing
