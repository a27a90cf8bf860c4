// What NCCL's algorithms are known to reach on well-known fabrics, to the digit.
#include <gtest/gtest.h>

#include "baseline/baseline_testing.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll {
namespace {

using test::bundled;
using test::make;
using test::with_boxes;

// All ranks reach N / (N − 1) times what the rings carry together.
Ratio rings(std::int64_t ranks, const Ratio& together) {
  return Ratio(ranks, ranks - 1) * together;
}

TEST(NcclRing, OnDgxA100) {
  EXPECT_EQ(make("nccl-ring", bundled("dgx-a100-x1")).algbw, rings(8, 300));  // 342.86
  for (const int boxes : {2, 4, 8}) {
    const auto result = make("nccl-ring", with_boxes("dgx-a100-x2", boxes));
    EXPECT_EQ(result.algbw, rings(8 * boxes, 200)) << boxes;  // 213.33, 206.45, 203.17
    EXPECT_EQ(result.rings, 8);
    ASSERT_TRUE(result.forest);
    EXPECT_EQ(result.forest->k, 8);
    EXPECT_EQ(result.forest->broadcast->max_height(), 8 * boxes - 1);
  }
}

TEST(NcclRing, OnDgx1) {
  const auto whole = bundled("dgx-1-v100");
  const auto result = make("nccl-ring", whole);
  EXPECT_EQ(result.algbw, rings(8, 150));  // 171.43
  EXPECT_EQ(result.rings, 6);
  EXPECT_EQ(make("nccl-ring", test::only_ranks(whole, "0-5")).algbw, Ratio(60));
}

TEST(NcclRing, LosesOnAHypercubeWhatItsBudgetLoses) {
  EXPECT_EQ(make("nccl-ring", bundled("hypercube-16")).algbw, rings(16, 3));  // 3.20
}

TEST(NcclRing, OnTori) {
  EXPECT_EQ(make("nccl-ring", bundled("torus-4x4")).algbw, rings(16, 4));  // 4.267
  EXPECT_EQ(
      make("nccl-ring", test::generated("torus", {{"dims", "8x8"}, {"bandwidth", "1"}})).algbw,
      rings(64, 2));  // 2.03
  // An exact decomposition has four.
  EXPECT_EQ(
      make("nccl-ring", test::generated("torus", {{"dims", "5x5"}, {"bandwidth", "1"}})).algbw,
      rings(25, 2));
}

// Six rings of 50 GB/s, three orders both ways: as many and as fast as RCCL has on this machine.
TEST(NcclRing, OnMi250WithTheGraphFile) {
  const auto graphs = read_nccl_graph(
      test::read_file(test::source_path("tests/baseline/mi250-rings.xml")), "rings.xml");
  ASSERT_TRUE(graphs);
  const BaselineOptions options{.graph = &graphs->front()};
  const auto rate = [&](const test::TestFabric& fabric) {
    const auto result = make("nccl-ring", fabric, Collective::allgather, options);
    EXPECT_TRUE(result.forest);
    return result.algbw;
  };
  EXPECT_EQ(rate(bundled("mi250-x1")), Ratio(320));
  EXPECT_EQ(rate(bundled("mi250-x2")), rings(32, 256));        // 264.26
  EXPECT_EQ(rate(with_boxes("mi250-x2", 4)), rings(64, 256));  // 260.06
}

TEST(Allreduce, OfRingsIsHalfTheirAllgather) {
  const auto fabric = bundled("dgx-a100-x2");
  EXPECT_EQ(make("nccl-ring", fabric, Collective::allreduce).algbw, Ratio(320, 3));  // 106.7
  EXPECT_EQ(make("nccl-ring", fabric, Collective::reduce_scatter).algbw, rings(16, 200));
}

TEST(Allreduce, DoubleTreeOnTwoBoxes) {
  const auto result = make("double-tree", bundled("dgx-a100-x2"), Collective::allreduce);
  EXPECT_EQ(result.algbw, Ratio(1200, 7));  // 171.4
  ASSERT_TRUE(result.forest);
  EXPECT_EQ(result.forest->broadcast->tree_count(), 16U);
  EXPECT_EQ(result.forest->broadcast->max_height(), 8);
  EXPECT_TRUE(result.forest->weight.empty());
}

// A box inside a tree hands half of the data to two others and gets the other half, of the other
// tree: the whole buffer once in each direction and phase, over 200 GB/s.
TEST(Allreduce, DoubleTreeOnMoreBoxes) {
  for (const int boxes : {4, 5, 7, 8}) {
    const auto result =
        make("double-tree", with_boxes("dgx-a100-x2", boxes), Collective::allreduce);
    EXPECT_EQ(result.algbw, Ratio(100)) << boxes;
    ASSERT_TRUE(result.forest);
    EXPECT_EQ(result.forest->broadcast->tree_count(), 16U);
    const int depth = boxes < 5 ? 2 : 3;
    EXPECT_EQ(result.forest->broadcast->max_height(), depth + 7) << boxes;
  }
}

// Every GPU has a NIC and is first of its box in one pair of trees: however these go on inside,
// each link of a GPU carries as much, and what differs is how high they are.
TEST(Allreduce, DoubleTreesAreLowerWhereBoxesAreNoChains) {
  for (const int boxes : {4, 5, 8}) {
    const auto fabric = with_boxes("dgx-a100-x2", boxes);
    const int depth = boxes < 5 ? 2 : 3;
    for (const auto& [name, inside] :
         {std::pair("double-tree-direct", 1), std::pair("double-tree-binomial", 3)}) {
      const auto result = make(name, fabric, Collective::allreduce);
      EXPECT_EQ(result.algbw, Ratio(100)) << name << boxes;
      ASSERT_TRUE(result.forest);
      EXPECT_EQ(result.forest->broadcast->tree_count(), 16U);
      EXPECT_EQ(result.forest->broadcast->max_height(), depth + inside) << name << boxes;
    }
  }
}

TEST(Allreduce, NvlsSendsOneShareMoreThanTheBuffer) {
  std::string text = test::bundled_text("dgx-a100-x1");
  EXPECT_EQ(test::code_of(
                test::try_make("nvls", test::TestFabric(test::parse(text)), Collective::allreduce)),
            Code::B03);
  const auto at = text.find("\"switch\"");
  text.insert(at + 8, ", \"multicast\": true, \"reduce\": true");
  const auto result = make("nvls", test::TestFabric(test::parse(text)), Collective::allreduce);
  EXPECT_EQ(result.algbw, Ratio(2400, 9));  // 300 / (1 + 1/8)
  EXPECT_FALSE(result.forest);
  ASSERT_TRUE(result.branching);
  EXPECT_EQ(result.branching->chunks, 8);
  // Without an echo, a GPU's own share stays with it.
  text.insert(text.find("\"multicast\""), "\"echo\": false, ");
  EXPECT_EQ(make("nvls", test::TestFabric(test::parse(text)), Collective::allreduce).algbw,
            Ratio(300));
}

// Between boxes each of a rail's two trees carries half a share up and down: by way of a NIC once
// with two boxes, at most three halves with three, twice from four on.
TEST(Allreduce, NvlsExchangesSumsBetweenBoxes) {
  for (const auto& [boxes, algbw] : std::vector<std::pair<std::string, Ratio>>{
           {"2", 400}, {"3", {800, 3}}, {"4", 200}, {"7", 200}}) {
    const auto fabric = test::generated("dgx-h100", {{"boxes", boxes}});
    const auto result = make("nvls", fabric, Collective::allreduce);
    EXPECT_EQ(result.algbw, algbw) << boxes;
    ASSERT_TRUE(result.branching);
    EXPECT_EQ(result.branching->chunks, 16) << boxes;
    BranchingForest forest = *result.branching;
    forest.optimum = forest.algbw;
    const std::string text = to_forest_json(forest, fabric.topology);
    const auto verdict = verify(text, "nvls", &fabric.topology, {});
    ASSERT_TRUE(verdict && verdict->ok);
    EXPECT_EQ(verdict->algbw, algbw);
  }
  const auto a100 = test::generated("dgx-a100", {{"boxes", "2"}});
  EXPECT_EQ(test::code_of(test::try_make("nvls", a100, Collective::allreduce)), Code::B03);
}

// Two switches of different widths share the data in proportion.
TEST(Allreduce, NvlsTakesAllSwitchesThatServeABox) {
  const auto fabric = test::TestFabric(test::parse(
      R"({"format": "forestcoll-topology", "version": 1, "nodes": [
        {"id": "g[0-3]", "type": "compute"},
        {"id": "a", "type": "switch", "multicast": true, "reduce": true},
        {"id": "b", "type": "switch", "multicast": true, "reduce": true}],
      "links": [{"src": "g[0-3]", "dst": "a", "bandwidth": 10},
                {"src": "g[0-3]", "dst": "b", "bandwidth": 20}]})"));
  const auto result = make("nvls", fabric, Collective::allreduce);
  EXPECT_EQ(result.algbw, Ratio(24));  // 30 / (1 + 1/4)
  EXPECT_EQ(result.branching->chunks, 12);
}

}  // namespace
}  // namespace forestcoll
