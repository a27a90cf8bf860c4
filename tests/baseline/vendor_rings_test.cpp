// Rings that the vendor's library has for a box, recognised by its links.
#include "baseline/rings/vendor_rings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <utility>

#include "baseline/baseline_testing.hpp"

namespace forestcoll {
namespace {

using test::bundled;
using test::generated;
using test::make;
using test::TestFabric;
using ::testing::HasSubstr;
using ::testing::Not;

std::optional<baseline::VendorRings> rings_of(const TestFabric& fabric) {
  return baseline::vendor_rings(fabric.topology, fabric.network, all_ranks(fabric));
}

// With links "a-b:n", n of 50 GB/s.
TestFabric box_of(const std::vector<std::string>& links, int gpus, const std::string& kind) {
  std::string text = R"({"format": "forestcoll-topology", "version": 1, "nodes": [{"id": "g[0-)" +
                     std::to_string(gpus - 1) + R"(]", "type": "compute"}], "links": [)";
  for (const std::string& link : links) {
    const auto dash = link.find('-'), colon = link.find(':');
    text += (text.back() == '[' ? "" : ", ") + std::string(R"({"src": "g)") + link.substr(0, dash) +
            R"(", "dst": "g)" + link.substr(dash + 1, colon - dash - 1) +
            R"(", "bandwidth": 50, "count": )" + link.substr(colon + 1) + R"(, "kind": ")" + kind +
            R"("})";
  }
  return TestFabric(test::parse(text + "]}"));
}

// Every ring visits every GPU once, and no link carries more rings than its width allows.
void expect_sound(const TestFabric& fabric) {
  const auto found = rings_of(fabric);
  ASSERT_TRUE(found);
  const auto& [library, box, rings] = *found;
  EXPECT_EQ(library, "RCCL");
  std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t> load;
  for (const auto& order : rings.orders) {
    EXPECT_EQ(std::set<std::int32_t>(order.begin(), order.end()).size(),
              fabric.network.ranks.size());
    ASSERT_EQ(order.size(), fabric.network.ranks.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      ++load[{order[i], order[(i + 1) % order.size()]}];
    }
  }
  for (const auto& [ends, count] : load) {
    const ArcId arc =
        fabric.network.graph.find(fabric.network.ranks[static_cast<std::size_t>(ends.first)],
                                  fabric.network.ranks[static_cast<std::size_t>(ends.second)]);
    ASSERT_TRUE(arc.valid()) << ends.first << " " << ends.second;
    EXPECT_LE(rings.speed * Ratio(count),
              Ratio(fabric.network.capacity[arc]) * fabric.network.unit);
  }
}

TEST(VendorRings, OfMi250AreTheDefault) {
  const auto rate = [](const TestFabric& fabric, Collective collective = Collective::allgather) {
    const auto result = make("nccl-ring", fabric, collective);
    EXPECT_THAT(result.note, HasSubstr("RCCL's rings for a box of eight MI250 modules: 6 of 50"));
    return result.algbw;
  };
  expect_sound(bundled("mi250-x1"));
  EXPECT_EQ(rate(bundled("mi250-x1")), Ratio(320));
  EXPECT_EQ(rate(bundled("mi250-x2")), Ratio(32, 31) * Ratio(256));              // 264.26
  EXPECT_EQ(rate(test::with_boxes("mi250-x2", 4)), Ratio(64, 63) * Ratio(256));  // 260.06
  EXPECT_EQ(rate(bundled("mi250-x1"), Collective::allreduce), Ratio(160));
  EXPECT_THAT(make("hierarchical", bundled("mi250-x2")).note, HasSubstr("RCCL's rings"));
  EXPECT_GT(rate(generated("mi250", {{"boxes", "3"}})), Ratio(0));
}

// However the dies are numbered.
TEST(VendorRings, DoNotDependOnTheNumbersOfTheRanks) {
  const auto whole = bundled("mi250-x1");
  std::vector<int> order(16);
  for (int i = 0; i < 16; ++i) order[static_cast<std::size_t>(i)] = i;
  std::mt19937 random(7);
  for (int trial = 0; trial < 8; ++trial) {
    for (std::size_t i = 15; i > 0; --i) std::swap(order[i], order[random() % (i + 1)]);
    std::string ranks;
    for (const int rank : order) ranks += (ranks.empty() ? "" : ",") + std::to_string(rank);
    const auto renumbered = test::only_ranks(whole, ranks);
    expect_sound(renumbered);
    EXPECT_EQ(make("nccl-ring", renumbered).algbw, Ratio(320));
  }
}

TEST(VendorRings, OfFourModules) {
  const auto box = box_of({"0-1:4", "2-3:4", "4-5:4", "6-7:4", "0-6:2", "2-4:2", "0-2:1", "1-3:1",
                           "1-5:1", "3-7:1", "4-6:1", "5-7:1"},
                          8, "xgmi");
  expect_sound(box);
  EXPECT_EQ(make("nccl-ring", box).algbw, Ratio(8, 7) * Ratio(200));
}

// NCCL's search finds six rings; RCCL has seven links' worth.
TEST(VendorRings, OfMi300x) {
  const auto box = generated("mi300x", {});
  expect_sound(box);
  EXPECT_EQ(make("nccl-ring", box).algbw, Ratio(512));
}

// Another structure, other widths, a link less or slower: NCCL's search.
TEST(VendorRings, AreForTheirBoxesAlone) {
  const auto whole = bundled("mi250-x1");
  const auto left = [&](const Failures& failures) {
    return TestFabric(std::move(degrade(whole.topology, failures)->topology));
  };
  EXPECT_FALSE(rings_of(left({.drop = {"die0~die4*1"}})));
  EXPECT_FALSE(rings_of(left({.drop = {"die0~die8"}})));
  EXPECT_FALSE(rings_of(left({.derate = {"die0->die1=1/2"}})));
  EXPECT_FALSE(rings_of(left({.ranks = "0-7"})));
  EXPECT_FALSE(rings_of(bundled("hypercube-16")));
  EXPECT_FALSE(rings_of(bundled("torus-4x4")));
  EXPECT_FALSE(rings_of(bundled("dgx-1-v100")));
  EXPECT_TRUE(rings_of(left({.derate = {"kind=xgmi=1/2"}})));
  // Each with each is no MI300X for that alone.
  EXPECT_FALSE(rings_of(generated("full-mesh", {{"nodes", "8"}})));
  // As many links of each width, joined otherwise: two of them have changed ends.
  std::vector<std::string> crossed = {"0-1:4", "2-3:4", "4-5:4", "6-7:4", "0-6:2", "2-4:2",
                                      "0-3:1", "1-2:1", "1-5:1", "3-7:1", "4-6:1", "5-7:1"};
  EXPECT_FALSE(rings_of(box_of(crossed, 8, "xgmi")));
}

TEST(VendorRings, GiveWayToAGraphFileAndToASearchThatIsAskedFor) {
  const auto fabric = bundled("mi250-x1");
  const auto search = make("nccl-ring", fabric, Collective::allgather, {.nccl_constants = true});
  EXPECT_THAT(search.note, HasSubstr("NCCL search"));
  EXPECT_THAT(search.note, Not(HasSubstr("RCCL")));
  const auto graphs = read_nccl_graph(
      R"(<graphs version="1"><graph id="0" pattern="4" speedintra="50" speedinter="50" nchannels="1">
<channel><gpu dev="0"/><gpu dev="1"/><gpu dev="5"/><gpu dev="4"/><gpu dev="6"/><gpu dev="7"/>
<gpu dev="3"/><gpu dev="2"/><gpu dev="10"/><gpu dev="11"/><gpu dev="15"/><gpu dev="14"/>
<gpu dev="12"/><gpu dev="13"/><gpu dev="9"/><gpu dev="8"/></channel></graph></graphs>)",
      "one.xml");
  ASSERT_TRUE(graphs);
  const auto given = make("nccl-ring", fabric, Collective::allgather, {.graph = &graphs->front()});
  EXPECT_EQ(given.rings, 1);
  EXPECT_THAT(given.note, HasSubstr("the graph file: 1 of 50"));
}

}  // namespace
}  // namespace forestcoll
