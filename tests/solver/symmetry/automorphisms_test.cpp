#include "solver/symmetry/automorphisms.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <vector>

#include "support/fabrics.hpp"

namespace forestcoll {
namespace {

using solver::find_other_automorphisms;
using solver::NodeImage;

Weights equal_weights(const Network& network) {
  return Weights(network.ranks.size(), 1);
}

// Orbits of the ranks.
std::size_t kinds_of_ranks(const Network& network, const std::vector<NodeImage>& images) {
  const auto orbits = solver::orbits_under(network, images);
  std::set<std::size_t> kinds;
  for (const NodeId v : network.ranks) kinds.insert(orbits.nodes.of[v.index()]);
  return kinds.size();
}

// Boxes with a switch each, and a switch for the GPUs of one place in all boxes.
Network rails(std::size_t boxes, std::size_t gpus) {
  test::FabricBuilder fabric(boxes * gpus, boxes + gpus);
  for (std::size_t box = 0; box < boxes; ++box) {
    for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
      fabric.link(box * gpus + gpu, boxes * gpus + box, 9);
      fabric.link(box * gpus + gpu, boxes * gpus + boxes + gpu, 1);
    }
  }
  return fabric.build();
}

// The rail of the broken link apart, the others are alike; so are the boxes without it.
TEST(Automorphisms, RailsAreAlikeBesideABrokenOne) {
  for (const std::size_t boxes : {2, 3, 5}) {
    const Network network =
        test::derated(rails(boxes, 6), NodeId(0), NodeId(boxes * 6 + boxes), Ratio(1, 2));
    const auto images = find_other_automorphisms(network, equal_weights(network), {});
    for (const NodeImage& image : images) {
      EXPECT_TRUE(solver::is_automorphism(network, image)) << boxes;
    }
    // The broken rail's GPU in the broken box, and in others; other rails' in either.
    EXPECT_EQ(kinds_of_ranks(network, images), 4U) << boxes;
  }
}

TEST(Automorphisms, WhatIsKnownIsNotLookedForAgain) {
  const Network network = rails(3, 4);
  const auto all = find_other_automorphisms(network, equal_weights(network), {});
  EXPECT_EQ(kinds_of_ranks(network, all), 1U);
  EXPECT_TRUE(find_other_automorphisms(network, equal_weights(network), all).empty());
}

TEST(Automorphisms, WeightsAreKept) {
  const Network network = rails(1, 5);
  Weights weights = equal_weights(network);
  weights[Rank(2)] = 3;
  const auto images = find_other_automorphisms(network, weights, {});
  EXPECT_EQ(kinds_of_ranks(network, images), 2U);
  for (const NodeImage& image : images) EXPECT_EQ(image[NodeId(2)], NodeId(2));
}

// A class has to be broken up: of the GPUs beside the one that moves, all at one distance look
// alike, whichever way they turn.
TEST(Automorphisms, OfATorusAllRanksAreAlike) {
  for (const auto& sides : std::vector<std::vector<std::size_t>>{{5}, {4, 4}, {3, 5}}) {
    const Network network = test::torus(sides);
    const auto images = find_other_automorphisms(network, equal_weights(network), {});
    EXPECT_EQ(kinds_of_ranks(network, images), 1U) << sides.size();
  }
}

// Two triangles and a ring of six: refinement cannot tell them apart, no automorphism joins them.
TEST(Automorphisms, WhatOnlyLooksAlikeIsNotJoined) {
  test::FabricBuilder fabric(12);
  for (std::size_t i = 0; i < 6; ++i) fabric.link(i, (i + 1) % 6, 1);
  for (const std::size_t first : {6, 9}) {
    for (std::size_t i = 0; i < 3; ++i) fabric.link(first + i, first + (i + 1) % 3, 1);
  }
  const Network network = fabric.build();
  const auto images = find_other_automorphisms(network, equal_weights(network), {});
  EXPECT_EQ(kinds_of_ranks(network, images), 2U);
}

TEST(Automorphisms, OfRandomFabricsAreWhatTheySay) {
  std::size_t found = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const Network network =
        test::random_fabric(seed, {.max_compute = 6, .max_capacity = 2, .one_way = seed % 3 == 0});
    for (const NodeImage& image : find_other_automorphisms(network, equal_weights(network), {})) {
      EXPECT_TRUE(solver::is_automorphism(network, image)) << seed;
      EXPECT_EQ(std::set<NodeId>(image.begin(), image.end()).size(), image.size()) << seed;
      ++found;
    }
  }
  EXPECT_GT(found, 20U);
}

TEST(Automorphisms, CapacitiesCount) {
  test::FabricBuilder fabric(3);
  for (const std::size_t next : {1, 2}) fabric.link(0, next, next);
  fabric.link(1, 2, 3);
  const Network network = fabric.build();
  NodeImage turned;
  for (const std::size_t v : {1, 2, 0}) turned.push_back(NodeId(v));
  EXPECT_FALSE(solver::is_automorphism(network, turned));
}

}  // namespace
}  // namespace forestcoll
