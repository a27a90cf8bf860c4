// Symmetric forests: what is written is what is meant, and what is wrong is found.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "forestcoll/emit.hpp"
#include "forestcoll/synthesize.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/verify.hpp"
#include "support/topology_of.hpp"

namespace forestcoll {
namespace {

using nlohmann::json;

CollectiveForest solve(const Topology& topology, Collective collective) {
  SynthesizeOptions options;
  options.collective = collective;
  if (is_rooted(collective)) options.root = Rank(1);
  return synthesize(*to_digraph(topology), options)->forest;
}

Verdict judge(const std::string& text, const Topology* topology) {
  return *verify(text, "forest.json", topology, {});
}

void expect_the_same_said(const std::vector<std::string>& fabrics) {
  for (const std::string& name : fabrics) {
    const Topology topology = test::bundled_topology(name);
    for (const auto collective : {Collective::allgather, Collective::reduce_scatter,
                                  Collective::allreduce, Collective::broadcast}) {
      const CollectiveForest forest = solve(topology, collective);
      const Verdict whole = judge(to_forest_json(forest, topology), &topology);
      const Verdict symmetric = judge(to_symmetric_forest_json(forest, topology), &topology);
      ASSERT_TRUE(whole.ok) << name;
      ASSERT_TRUE(symmetric.ok) << name << ' ' << to_string(collective) << ": "
                                << (symmetric.findings.empty()
                                        ? ""
                                        : to_string(symmetric.findings.front()));
      EXPECT_EQ(symmetric.algbw, whole.algbw) << name;
      EXPECT_EQ(symmetric.chunks, whole.chunks);
      ASSERT_EQ(symmetric.loads.size(), whole.loads.size());
      for (std::size_t i = 0; i < whole.loads.size(); ++i) {
        EXPECT_EQ(symmetric.loads[i].load, whole.loads[i].load) << whole.loads[i].src;
      }
      EXPECT_TRUE(judge(to_symmetric_forest_json(forest, topology), nullptr).ok) << name;
    }
  }
}

TEST(SymmetricForest, SaysWhatTheWholeForestSays) {
  expect_the_same_said({"dgx-a100-x2", "torus-4x4"});
}

TEST(SymmetricForestLong, SaysWhatTheWholeForestSays) {
  expect_the_same_said({"dgx-h100-x4-rail", "mi250-x2", "fat-tree-4", "hypercube-16",
                        "dgx-a100-x2-degraded", "mixed-a100-h100"});
}

TEST(SymmetricForestLong, IsShortWhereTheFabricIsSymmetric) {
  const Topology topology = test::bundled_topology("torus-8x8x8");
  const CollectiveForest forest = solve(topology, Collective::allgather);
  const std::string text = to_symmetric_forest_json(forest, topology);
  EXPECT_LT(text.size() * 100, to_forest_json(forest, topology).size());
  EXPECT_TRUE(judge(text, &topology).ok);
}

/// A right file, something done to it, and what the checker must say.
struct Mutant {
  const char* what;
  std::function<void(json&)> change;
  const char* message;  ///< part of the first finding's
};

TEST(SymmetricForest, FindsWhatIsWrong) {
  const Topology topology = test::bundled_topology("dgx-h100-x4-rail");
  const json right =
      json::parse(to_symmetric_forest_json(solve(topology, Collective::allgather), topology));
  ASSERT_EQ(right["symmetry"]["trees"].size(), 2U);
  const auto generator = [](json& file, int i) -> json& { return file["symmetry"]["trees"][i]; };
  const std::vector<Mutant> mutants = {
      {"images are not taken", [](json& f) { f["trees"][0]["images"] = false; }, "multiplicity"},
      {"a generator is missing", [](json& f) { f["symmetry"]["trees"].erase(1); }, "multiplicity"},
      {"the order is twice as much",
       [&](json& f) { generator(f, 1)["order"] = 2 * generator(f, 1)["order"].get<int>(); },
       "multiplicity"},
      {"an order that no cycle fits", [&](json& f) { generator(f, 1)["order"] = 3; },
       "does not come round"},
      {"an order of nought", [&](json& f) { generator(f, 1)["order"] = 0; }, "positive integer"},
      {"an order beyond bounds",
       [&](json& f) {
         generator(f, 0)["order"] = std::int64_t{1} << 59;
         generator(f, 1)["order"] = std::int64_t{1} << 59;
       },
       "positive integer"},
      {"a cycle is missing", [&](json& f) { generator(f, 0)["cycles"].erase(0); },
       "no link of the same bandwidth"},
      {"two nodes of a cycle change places",
       [&](json& f) {
         std::swap(generator(f, 0)["cycles"][0][1], generator(f, 0)["cycles"][0][2]);
       },
       "no link of the same bandwidth"},
      {"a node twice",
       [&](json& f) { generator(f, 0)["cycles"][0][1] = generator(f, 0)["cycles"][0][0]; },
       "stands twice"},
      {"an unknown node", [&](json& f) { generator(f, 0)["cycles"][0][1] = "nobody"; },
       "which is none"},
      {"a rank goes to a switch",
       [&](json& f) {
         std::swap(generator(f, 0)["cycles"][0][1], generator(f, 0)["cycles"].back()[1]);
       },
       "which is none"},
      {"the first version", [](json& f) { f["version"] = 1; }, "version 2"},
      {"a version to come", [](json& f) { f["version"] = 4; }, "expected 1, 2 or 3"},
      {"symmetry is a list", [](json& f) { f["symmetry"] = json::array(); }, "expected an object"},
      {"a generator is a list", [](json& f) { f["symmetry"]["trees"][0] = json::array(); },
       "expected an object"},
      {"cycles are a number", [&](json& f) { generator(f, 0)["cycles"] = 1; }, "expected an array"},
      {"an order in words", [&](json& f) { generator(f, 0)["order"] = "8"; },
       "expected an integer"},
      {"a node is a number", [&](json& f) { generator(f, 0)["cycles"][0][0] = 1; },
       "expected a node's id"},
      {"images in words", [](json& f) { f["trees"][0]["images"] = "yes"; },
       "expected true or false"},
      {"a tree is not whole", [](json& f) { f["trees"][0]["edges"].erase(3); }, "not connected"},
  };
  ASSERT_TRUE(judge(right.dump(), &topology).ok);
  for (const Mutant& mutant : mutants) {
    json file = right;
    mutant.change(file);
    const Verdict verdict = judge(file.dump(), &topology);
    ASSERT_FALSE(verdict.ok) << mutant.what;
    EXPECT_TRUE(std::any_of(verdict.findings.begin(), verdict.findings.end(),
                            [&](const Diagnostic& finding) {
                              return finding.message.find(mutant.message) != std::string::npos;
                            }))
        << mutant.what << ": " << to_string(verdict.findings.front());
  }
}

TEST(SymmetricForest, RefusesTooManyGenerators) {
  const Topology topology = test::bundled_topology("torus-4x4");
  json file =
      json::parse(to_symmetric_forest_json(solve(topology, Collective::allgather), topology));
  for (int i = 0; i < 65; ++i) {
    file["symmetry"]["trees"].push_back({{"order", 1}, {"cycles", json::array()}});
  }
  const auto verdict = verify(file.dump(), "forest.json", &topology, {});
  ASSERT_FALSE(verdict);
  EXPECT_NE(verdict.errors().front().message.find("too many generators"), std::string::npos);
}

}  // namespace
}  // namespace forestcoll
