// Generated fabrics whose optimum is known in closed form.
//
// Where every node is a compute node and no cut is narrower than that around the node with the
// least bandwidth B, the optimum is N·B/(N − 1): a set that keeps out at least one node owns at
// most N − 1 shares, and at least B leaves it. That holds for full meshes, rings, hypercubes, tori
// and all connected circulants (Mader 1971: a connected vertex-transitive graph of degree d is
// d-edge- connected), for meshes, and, one way, for Kautz (d-connected) and de Bruijn digraphs (d −
// 1).
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "forestcoll/generate.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::testing {
namespace {

struct Known {
  std::string name;
  std::map<std::string, std::string> values;
  Ratio optimum;  ///< GB/s, allgather
};

Ratio optimum_of(const Known& known) {
  const auto document = generate(known.name, known.values);
  EXPECT_TRUE(document) << known.name;
  const auto parsed = parse_topology(to_topology_json(*document), known.name);
  EXPECT_TRUE(parsed) << known.name;
  const auto network = to_digraph(parsed->topology);
  EXPECT_TRUE(network) << known.name;
  const Rate rate = optimal_rate(*network, uniform_weights(*network));
  return Ratio(static_cast<std::int64_t>(network->ranks.size())) * network->unit / rate.inverse;
}

void expect_optima(const std::vector<Known>& all) {
  for (const Known& known : all) {
    std::string values;
    for (const auto& [name, value] : known.values) values += " --" + name + " " + value;
    EXPECT_EQ(optimum_of(known).to_string(), known.optimum.to_string()) << known.name << values;
  }
}

// N nodes, the least bandwidth into any of them B.
Ratio around_a_node(std::int64_t n, const Ratio& b) {
  return Ratio(n) * b / Ratio(n - 1);
}

// A box (or a leaf, or a pod) of g GPUs that E enters.
Ratio around_a_box(std::int64_t n, std::int64_t g, const Ratio& e) {
  return Ratio(n) * e / Ratio(n - g);
}

TEST(ClosedForm, OneBox) {
  expect_optima({{"dgx-1v", {}, around_a_node(8, 6 * 25)},
                 {"dgx-2", {}, around_a_node(16, 6 * 25)},
                 {"dgx-a100", {}, around_a_node(8, 12 * 25)},
                 {"dgx-h100", {}, around_a_node(8, 18 * 25)},
                 {"dgx-b200", {}, around_a_node(8, 18 * 50)},
                 {"gb200-nvl72", {}, around_a_node(72, 18 * 50)},
                 {"mi300x", {}, around_a_node(8, 7 * 64)},
                 // Around a module of two dies, which six links of 50 enter.
                 {"mi250", {}, around_a_box(16, 2, 6 * 50)}});
}

TEST(ClosedForm, MachinesOf2025) {
  expect_optima({{"dgx-b300", {}, around_a_node(8, 18 * 50)},
                 {"gb300-nvl72", {}, around_a_node(72, 18 * 50)},
                 {"hgx-h800", {}, around_a_node(8, 8 * 25)},
                 {"hgx-h20", {}, around_a_node(8, 18 * 25)},
                 {"gh200-quad", {}, around_a_node(4, 18 * 25)},
                 {"l40s", {}, around_a_node(8, 32)},
                 {"rtx-pro-dual", {}, around_a_node(8, 64)},
                 {"rtx-pro-workstation", {}, around_a_node(8, 64)},
                 {"rtx-pro-server", {}, around_a_node(8, 64)},
                 {"mi325x", {}, around_a_node(8, 7 * 64)},
                 {"mi355x", {}, around_a_node(8, Ratio(7 * 768, 10))},
                 // Around a module, which five links enter.
                 {"frontier", {}, around_a_box(8, 2, 5 * 50)},
                 {"trn2", {}, around_a_node(16, 4 * 128)},
                 {"trn2-ultraserver", {}, around_a_node(64, 4 * 128 + 2 * 64)},
                 {"gaudi-3", {}, around_a_node(8, 7 * 75)},
                 {"tpu-v6e", {}, around_a_node(256, 4 * 100)},
                 {"tpu-v7", {}, around_a_node(64, 6 * 100)},
                 {"ascend-910c", {}, around_a_node(8, 392)},
                 // Two sockets, each with one NIC of 25.
                 {"l40s", {{"boxes", "2"}, {"fabric", "single"}}, around_a_node(16, 32)},
                 {"l40s", {{"boxes", "4"}, {"fabric", "single"}}, around_a_node(32, 32)}});
}

TEST(ClosedForm, Clusters) {
  std::vector<Known> known;
  struct Box {
    std::string name;
    std::int64_t gpus, inside;  ///< GB/s into a GPU
    Ratio nic, per_gpu;         ///< GB/s into the box, and beside `inside` into a GPU
  };
  const std::vector<Box> boxes = {
      {"dgx-1v", 8, 150, 50, Ratio(25, 2)}, {"dgx-2", 16, 150, 100, Ratio(25, 2)},
      {"dgx-a100", 8, 300, 200, 25},        {"dgx-h100", 8, 450, 400, 50},
      {"dgx-b200", 8, 900, 400, 50},        {"mi300x", 8, 448, 400, 50}};
  for (const Box& box : boxes) {
    for (const std::int64_t count : {2, 3, 4, 8, 16}) {
      const std::int64_t n = count * box.gpus;
      const Ratio optimum = std::min(around_a_node(n, Ratio(box.inside) + box.per_gpu),
                                     around_a_box(n, box.gpus, box.nic));
      for (const std::string fabric : {"single", "odd-even", "rail", "rail-spine", "fat-tree"}) {
        known.push_back(
            {box.name, {{"boxes", std::to_string(count)}, {"fabric", fabric}}, optimum});
      }
    }
  }
  expect_optima(known);
}

TEST(ClosedForm, PublishedAnswers) {
  expect_optima({{"dgx-a100", {{"boxes", "2"}, {"fabric", "odd-even"}}, Ratio(1040, 3)},
                 {"dgx-a100", {{"boxes", "8"}, {"fabric", "odd-even"}}, Ratio(1600, 7)},
                 {"mi250", {{"boxes", "2"}, {"fabric", "single"}}, Ratio(5312, 15)},
                 {"mi250", {{"boxes", "4"}, {"fabric", "single"}}, Ratio(1024, 3)},
                 {"mixed", {}, Ratio(800, 3)}});
}

// A leaf of L boxes has L·E/f of uplinks, the last one too, which may have fewer boxes.
TEST(ClosedForm, Oversubscription) {
  std::vector<Known> known;
  for (const std::int64_t factor : {1, 2, 4, 8}) {
    const std::string f = std::to_string(factor);
    const Ratio box = around_a_box(64, 8, 400);
    known.push_back(
        {"dgx-h100",
         {{"boxes", "8"}, {"fabric", "fat-tree"}, {"boxes-per-leaf", "4"}, {"oversubscription", f}},
         std::min(box, around_a_box(64, 32, Ratio(4 * 400, factor)))});
    // The boxes of a unit leave it through the uplinks of all its rails together.
    known.push_back({"dgx-h100",
                     {{"boxes", "8"},
                      {"fabric", "rail-spine"},
                      {"boxes-per-leaf", "2"},
                      {"oversubscription", f}},
                     std::min(box, around_a_box(64, 16, Ratio(2 * 400, factor)))});
    for (const std::string fabric : {"fat-tree", "rail-spine"}) {
      known.push_back(
          {"dgx-a100",
           {{"boxes", "5"}, {"fabric", fabric}, {"boxes-per-leaf", "4"}, {"oversubscription", f}},
           std::min(around_a_box(40, 8, 200), around_a_box(40, 8, Ratio(200, factor)))});
    }
    known.push_back({"fat-tree",
                     {{"ports", "4"}, {"oversubscription", f}},
                     std::min(around_a_node(16, 25), around_a_box(16, 2, Ratio(50, factor)))});
    known.push_back({"fat-tree",
                     {{"ports", "6"}, {"oversubscription", f}},
                     std::min(around_a_node(54, 25), around_a_box(54, 3, Ratio(75, factor)))});
  }
  expect_optima(known);
}

TEST(ClosedForm, Lattices) {
  expect_optima(
      {{"tpu-v4", {}, around_a_node(64, 6 * 50)},
       {"tpu-v5e", {}, around_a_node(256, 4 * 50)},
       {"tpu-v5p", {}, around_a_node(64, 6 * 100)},
       {"torus", {{"dims", "4x4"}}, around_a_node(16, 4)},
       {"torus", {{"dims", "3x7"}}, around_a_node(21, 4)},
       {"torus", {{"dims", "2x6x1x3"}}, around_a_node(36, 5)},
       {"torus", {{"dims", "12x12"}, {"bandwidth", "1/3"}}, around_a_node(144, Ratio(4, 3))},
       {"mesh", {{"dims", "4x4"}}, around_a_node(16, 2)},
       {"mesh", {{"dims", "9"}}, around_a_node(9, 1)},
       {"mesh", {{"dims", "2x9"}}, around_a_node(18, 2)},
       {"mesh", {{"dims", "3x4x5"}}, around_a_node(60, 3)},
       {"ring", {{"nodes", "2"}}, around_a_node(2, 1)},
       {"ring", {{"nodes", "9"}, {"bandwidth", "25"}}, around_a_node(9, 50)},
       {"hypercube", {{"dimensions", "1"}}, around_a_node(2, 1)},
       {"hypercube", {{"dimensions", "4"}}, around_a_node(16, 4)},
       {"hypercube", {{"dimensions", "7"}}, around_a_node(128, 7)},
       {"full-mesh", {{"nodes", "8"}, {"bandwidth", "64"}}, 8 * 64},
       {"full-mesh", {{"nodes", "2"}}, 2},
       {"circulant", {{"nodes", "8"}, {"offsets", "1,4"}}, around_a_node(8, 3)},
       {"circulant", {{"nodes", "24"}, {"offsets", "2,3"}}, around_a_node(24, 4)},
       {"circulant", {{"nodes", "100"}, {"offsets", "1,2,10"}}, around_a_node(100, 6)}});
}

TEST(ClosedForm, Networks) {
  expect_optima(
      {{"fat-tree", {{"ports", "8"}}, around_a_node(128, 25)},
       {"dragonfly", {}, around_a_node(72, 25)},
       {"dragonfly", {{"hosts", "1"}, {"routers", "3"}, {"global", "1"}}, around_a_node(12, 25)},
       {"bcube", {{"ports", "4"}, {"levels", "2"}}, around_a_node(16, 2 * 25)},
       {"bcube", {{"ports", "2"}, {"levels", "4"}}, around_a_node(16, 4 * 25)},
       {"bcube", {{"ports", "5"}, {"levels", "1"}}, around_a_node(5, 25)},
       {"bcube", {{"ports", "3"}, {"levels", "3"}}, around_a_node(27, 3 * 25)},
       // With as many links to other switches as GPUs, a GPU's own link is the neck.
       {"jellyfish", {}, around_a_node(32, 25)},
       {"jellyfish", {{"switches", "40"}, {"degree", "6"}, {"seed", "9"}}, around_a_node(80, 25)},
       {"kautz", {{"degree", "2"}, {"diameter", "3"}}, around_a_node(12, 2)},
       {"kautz", {{"degree", "4"}, {"diameter", "2"}}, around_a_node(20, 4)},
       {"de-bruijn", {{"degree", "2"}, {"diameter", "4"}}, around_a_node(16, 1)},
       {"de-bruijn", {{"degree", "4"}, {"diameter", "2"}}, around_a_node(16, 3)}});
}

}  // namespace
}  // namespace forestcoll::testing
