// Wirings' figures against definitions.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/design.hpp"
#include "forestcoll/generate.hpp"
#include "solver/design/design_testing.hpp"
#include "solver/design/figures.hpp"

namespace forestcoll::testing {
namespace {

using test::figures_of;
using test::wired_as;

const char* const kSmall[] = {
    "diamond",        "complete(4)",   "ring(6)",        "biring(4,5)",           "uniring(2,4)",
    "torus(3,3)",     "genkautz(2,7)", "debruijn(2,3)",  "bipartite(3)",          "kautz(2,2)",
    "circulant(9,2)", "random(8,3,1)", "L(complete(3))", "ring(3) x complete(2)", "genkautz(3,9)"};

// By definition, over all cuts: the time of allgather, 1/x* · ports/N.
Ratio allgather_by_cuts(const Wiring& wiring, const std::vector<Arc>& links) {
  Ratio inverse;
  for (std::uint32_t set = 1; set + 1 < 1U << wiring.nodes; ++set) {
    std::int64_t size = 0, exit = 0;
    for (std::size_t v = 0; v < wiring.nodes; ++v) size += set >> v & 1U;
    for (const Arc& link : links) {
      exit += (set >> link.tail.index() & 1U) != 0 && (set >> link.head.index() & 1U) == 0 ? 1 : 0;
    }
    if (exit == 0) return 0;  // cut off
    inverse = std::max(inverse, Ratio(size, exit));
  }
  return inverse *
         Ratio(static_cast<std::int64_t>(wiring.ports), static_cast<std::int64_t>(wiring.nodes));
}

TEST(WiringFigures, AllgatherIsThatOfTheNarrowestCut) {
  for (const char* expression : kSmall) {
    const Wiring wiring = wired_as(expression);
    EXPECT_EQ(figures_of(wiring).allgather, allgather_by_cuts(wiring, wiring.links)) << expression;
  }
}

// Five nodes have three links to three others, which have five back and four to enter each: the
// narrowest cut is not the bottleneck's, and only one of its sides has the first node.
Wiring lopsided() {
  Wiring wiring{.name = "lopsided", .nodes = 8, .ports = 5};
  const std::pair<int, int> links[] = {
      {0, 1}, {0, 1}, {0, 2}, {1, 0}, {1, 0}, {1, 2}, {1, 2}, {2, 0}, {2, 1},  // among the three
      {3, 0}, {4, 1}, {5, 2}, {0, 3}, {0, 4}, {1, 5}, {2, 6}, {2, 7}};
  for (const auto& [from, to] : links) wiring.links.push_back({NodeId(from), NodeId(to)});
  for (int from = 3; from < 8; ++from) {
    for (int to = 3; to < 8; ++to) {
      if (from != to) wiring.links.push_back({NodeId(from), NodeId(to)});
    }
  }
  std::ranges::sort(wiring.links, {}, [](const Arc& a) { return std::pair(a.tail, a.head); });
  return wiring;
}

// Every cable fails once.
TEST(WiringFigures, TheWorstFailureIsTheWorst) {
  std::vector<Wiring> wirings = {lopsided()};
  for (const char* expression : kSmall) wirings.push_back(wired_as(expression));
  for (const Wiring& wiring : wirings) {
    const std::string& expression = wiring.name;
    const bool both = is_two_way(wiring);
    Ratio worst;
    bool cut_off = false;
    for (std::size_t i = 0; i < wiring.links.size(); ++i) {
      auto left = wiring.links;
      const Arc gone = left[i];
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(i));
      if (both) left.erase(std::ranges::find(left, Arc{gone.head, gone.tail}));
      const Ratio time = allgather_by_cuts(wiring, left);
      cut_off = cut_off || time == Ratio(0);
      worst = std::max(worst, time);
    }
    const auto found = figures_of(wiring).after_failure;
    ASSERT_EQ(found.has_value(), !cut_off) << expression;
    if (!found) continue;
    EXPECT_LE(found->least, worst) << expression;
    EXPECT_GE(found->most, worst) << expression;
  }
  EXPECT_FALSE(figures_of(wired_as("uniring(1,5)")).after_failure);
  const auto torus = figures_of(wired_as("torus(4,4)"));
  EXPECT_EQ(torus.after_failure, (ProvedInterval{{5, 4}, {5, 4}}));  // 15/16 · 4/3
}

// Found by a program in another language, from the definition of BFB.
TEST(WiringFiguresLong, BreadthFirstBroadcastIsExact) {
  const std::pair<const char*, Ratio> times[] = {
      {"diamond", {7, 8}},        {"debruijn(2,2)", {3, 4}},   {"debruijn(2,3)", {1, 1}},
      {"debruijn(2,4)", {11, 8}}, {"debruijn(2,5)", {25, 16}}, {"debruijn(3,2)", {4, 3}},
      {"debruijn(3,3)", {13, 9}}, {"debruijn(4,2)", {5, 4}},   {"complete(6)", {5, 6}},
      {"uniring(3,5)", {4, 5}},   {"ring(5)", {4, 5}}};
  for (const auto& [expression, time] : times) {
    const auto figures = figures_of(wired_as(expression));
    EXPECT_EQ(figures.bfb, time) << expression;
    EXPECT_GE(*figures.bfb, figures.allgather) << expression;
  }
  EXPECT_FALSE(figures_of(wired_as("complete(18)")).bfb);  // 17 ports
}

TEST(WiringFigures, AlltoallAndBisectionOfTori) {
  const auto torus = figures_of(wired_as("torus(8,8)"));
  EXPECT_EQ(torus.steps, 8U);
  EXPECT_EQ(torus.mean_distance, Ratio(256, 63));
  EXPECT_EQ(torus.alltoall, (ProvedInterval{4, 4}));  // θ = 8/(8·64)
  EXPECT_EQ(torus.bisection, (ProvedInterval{16, 16}));
  EXPECT_EQ(torus.allreduce, (ProvedInterval{{63, 32}, {63, 32}}));
  EXPECT_EQ(figures_of(wired_as("hypercube(5)")).bisection, (ProvedInterval{16, 16}));
  // One-way rings: across the longest, one link of every ring; as many lead back.
  EXPECT_EQ(figures_of(wired_as("uniring(1,4) x uniring(1,8)")).bisection, (ProvedInterval{4, 4}));
  EXPECT_EQ(figures_of(wired_as("(uniring(1,4) x uniring(1,6))^2")).bisection,
            (ProvedInterval{96, 96}));
  // Distance-regular: Σ of distances over N.
  EXPECT_EQ(figures_of(wired_as("distance-regular(35)")).alltoall,
            (ProvedInterval{{82, 35}, {82, 35}}));
}

// Where all-to-all is too large to solve, shortest paths prove an interval around it.
TEST(WiringFigures, AlltoallOfTooManyFlowsIsAnInterval) {
  const auto large = wired_as("random(96,4,1)");
  const auto narrow = wiring_figures(large), wide = wiring_figures(large, {.alltoall_flows = 0});
  ASSERT_TRUE(narrow && wide);
  EXPECT_LT(wide->alltoall.least, narrow->alltoall.least);
  EXPECT_GT(wide->alltoall.most, narrow->alltoall.most);
  EXPECT_LE(narrow->alltoall.most / narrow->alltoall.least, Ratio(102, 100));
}

TEST(WiringFigures, HalvesAreNoNarrowerThanTheNarrowest) {
  for (const char* expression : kSmall) {
    const solver::Neighbours neighbours(wired_as(expression));
    EXPECT_GE(solver::narrow_halves(neighbours), solver::narrowest_halves(neighbours))
        << expression;
  }
  EXPECT_EQ(solver::narrowest_halves(solver::Neighbours(wired_as("ring(7)"))), 2);
  EXPECT_EQ(solver::narrow_halves(solver::Neighbours(wired_as("torus(16,4)"))), 8);
  // Exchanges alone find 160.
  const Wiring rings = wired_as("(uniring(1,4) x uniring(1,8))^2");
  EXPECT_EQ(solver::narrow_halves(solver::Neighbours(rings)), 128);
}

// Of wirings too large to try all halves: no more than some halves have, in either direction.
TEST(WiringFigures, BisectionIsAnInterval) {
  for (const char* expression : {"genkautz(2,24)", "debruijn(2,5)", "L2(diamond)", "uniring(2,30)",
                                 "L(genkautz-joined(2,15))", "genkautz(3,27)"}) {
    const ProvedInterval halves = figures_of(wired_as(expression)).bisection;
    EXPECT_GT(halves.least, Ratio(0)) << expression;
    EXPECT_LE(halves.least, halves.most) << expression;
  }
  // Two dozens with a link there and five back: both ways would say three.
  Wiring two{.name = "two", .nodes = 24, .ports = 16};
  for (int from = 0; from < 24; ++from) {
    for (int to = 0; to < 24; ++to) {
      const bool joins = (from == 0 && to == 23) || (from > 18 && to == from - 18);
      if (from != to && (from / 12 == to / 12 || joins)) {
        two.links.push_back({NodeId(from), NodeId(to)});
      }
    }
  }
  EXPECT_EQ(figures_of(two).bisection, (ProvedInterval{1, 1}));
}

TEST(WiringFigures, RefusesWhatIsNoWiring) {
  EXPECT_EQ(wiring_figures(wired_as("ring(5000)")).errors().front().code, Code::K01);
  const Wiring apart{.name = "apart", .nodes = 2, .ports = 1, .links = {{NodeId(0), NodeId(1)}}};
  EXPECT_EQ(wiring_figures(apart).errors().front().code, Code::K01);
}

}  // namespace
}  // namespace forestcoll::testing
