// Published formulas, what the study of wirings lists, fronts and searches.
#include "forestcoll/design.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "forestcoll/generate.hpp"
#include "solver/design/candidates.hpp"
#include "solver/design/design_testing.hpp"
#include "topology/wiring/expression.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

using test::figures_of;
using test::wired_as;

// Where a published formula and what is computed differ, the formula is of another schedule.
TEST(ClosedForm, IsWhatIsComputed) {
  for (const char* expression : {"complete(7)",
                                 "bipartite(4)",
                                 "hamming(2,3)",
                                 "hypercube(4)",
                                 "ring(9)",
                                 "biring(4,6)",
                                 "uniring(2,6)",
                                 "torus(4,4)",
                                 "torus(6,4)",
                                 "kautz(2,3)",
                                 "kautz(3,2)",
                                 "diamond",
                                 "diamond(2)",
                                 "dicirculant(6,1,2,3,4)",
                                 "distance-regular(14)",
                                 "distance-regular(32)",
                                 "circulant(16,3,4)",
                                 "L2(complete(4))",
                                 "L2(circulant(16,3,4))",
                                 "diamond*2",
                                 "complete(3)*2",
                                 "ring(5)^2",
                                 "diamond^2",
                                 "ring(4) x ring(5)"}) {
    const FormulaCheck check = check_formula(expression);
    EXPECT_EQ(check.published.steps.value_or(check.steps), check.steps) << expression;
    ASSERT_TRUE(check.published.bfb) << expression;
    EXPECT_EQ(check.published.bfb, check.bfb) << expression;
  }
  EXPECT_FALSE(closed_form("genkautz(2,7)").bfb);
  EXPECT_FALSE(closed_form("L(genkautz(2,7))").bfb);  // not regular
}

// A formula is wrong where it says less than a cut or the diameter allows.
TEST(CheckFormula, SaysWhichIsRight) {
  const auto of = [](const char* expression) { return check_formula(expression); };
  EXPECT_EQ(of("hypercube(4)").of_steps, FormulaVerdict::equal);
  EXPECT_EQ(of("hypercube(4)").of_time, FormulaVerdict::equal);
  EXPECT_EQ(of("L(diamond)").of_time, FormulaVerdict::bound);
  EXPECT_EQ(of("ring(8)*2").of_steps, FormulaVerdict::bound);
  EXPECT_EQ(of("ring(2) x diamond").of_time, FormulaVerdict::other);
  EXPECT_EQ(of("uniring(3,2) x uniring(1,8)").of_time, FormulaVerdict::impossible);
  EXPECT_EQ(of("L(complete(4))").construction, "L(g)");
  // Tabulated: not of BFB, and not impossible.
  EXPECT_EQ(of("debruijn(2,4)").of_steps, FormulaVerdict::bound);
  EXPECT_EQ(of("debruijn(2,4)").of_time, FormulaVerdict::other);
  EXPECT_EQ(of("debruijn(2,4)").allgather, of("debruijn(2,4)").published.bfb);
}

// Every construction of every size that has a formula, to the size that a test has time for.
TEST(CheckFormula, OfEveryConstructionUpToTwentyNodes) {
  for (const std::size_t ports : {1, 2, 3, 4, 8}) {
    const auto names = formula_candidates({.most_nodes = 20, .ports = ports});
    ASSERT_TRUE(names);
    std::set<std::size_t> sizes;
    for (const std::string& name : *names) {
      const FormulaCheck check = check_formula(name);
      sizes.insert(check.nodes);
      EXPECT_EQ(check.ports, ports) << name;
      EXPECT_GE(check.bfb, check.allgather) << name;
      // No base graph has a formula that is wrong; expansions may.
      if (topology::parse_expression(name)->kind != topology::WiringExpression::Kind::base)
        continue;
      if (check.construction == "debruijn") continue;  // tabulated of another schedule
      EXPECT_TRUE(check.of_time == FormulaVerdict::equal || check.of_time == FormulaVerdict::none)
          << name << ": " << to_string(check.of_time);
      EXPECT_TRUE(check.of_steps == FormulaVerdict::equal ||
                  check.of_steps == FormulaVerdict::none ||
                  (check.construction == "genkautz" && check.of_steps == FormulaVerdict::bound))
          << name << ": " << to_string(check.of_steps);
    }
    EXPECT_EQ(sizes.size(), 20 - ports) << ports;
  }
  // Neither is on the front of its size.
  EXPECT_THAT(*formula_candidates({.most_nodes = 16, .ports = 2}),
              IsSupersetOf({"L(uniring(2,7))", "uniring(1,3) x uniring(1,5)"}));
  EXPECT_EQ(formula_candidates({.most_nodes = 3, .ports = 4}).errors().front().code, Code::K01);
}

// The theorem's schedule of a line digraph is not breadth-first: that one can be faster.
TEST(ClosedForm, OfALineDigraphIsABound) {
  EXPECT_EQ(closed_form("L(diamond)").bfb, Ratio(1));
  EXPECT_EQ(figures_of(wired_as("L(diamond)")).bfb, Ratio(15, 16));
}

// A product of optimal factors is not optimal where a long one has few of the ports: 14 nodes have
// 2 links to the last 2.
TEST(ClosedForm, OfAProductIsWrongForUnevenFactors) {
  const auto figures = figures_of(wired_as("uniring(3,2) x uniring(1,8)"));
  EXPECT_EQ(closed_form("uniring(3,2) x uniring(1,8)").bfb, Ratio(15, 16));
  EXPECT_EQ(figures.allgather, Ratio(7, 4));
  EXPECT_GE(*figures.bfb, Ratio(7, 4));
}

TEST(DirectCandidates, HaveTheirSizeAndAreEachOnce) {
  for (const auto& [nodes, ports] : {std::pair(16, 4), {12, 3}, {8, 2}, {27, 6}, {6, 1}}) {
    const auto names = direct_candidates(
        {.nodes = static_cast<std::size_t>(nodes), .ports = static_cast<std::size_t>(ports)});
    ASSERT_TRUE(names);
    std::set<std::string> met;
    for (const std::string& name : *names) {
      const Wiring wiring = wired_as(name);
      EXPECT_EQ(wiring.nodes, static_cast<std::size_t>(nodes)) << name;
      EXPECT_EQ(wiring.ports, static_cast<std::size_t>(ports)) << name;
      EXPECT_TRUE(met.insert(name).second) << name;
    }
  }
  const auto sixteen = direct_candidates({.nodes = 16, .ports = 4});
  for (const char* expected :
       {"hypercube(4)", "circulant(16,3,4)", "debruijn(4,2)", "random(16,4,1)",
        "dicirculant(16,1,2,4,8)", "L(biring(4,4))", "diamond*2"}) {
    EXPECT_THAT(*sixteen, Contains(expected));
  }
  const auto two_way = direct_candidates({.nodes = 16, .ports = 4, .two_way = true});
  for (const std::string& name : *two_way) EXPECT_TRUE(is_two_way(wired_as(name))) << name;
  EXPECT_LT(two_way->size(), sixteen->size());
}

// By definition: of the size that is expanded, those that no other beats by steps, BFB's time and
// mean distance, and no others.
TEST(DirectCandidates, ExpandWhatNothingBeats) {
  const auto small = direct_candidates({.nodes = 6, .ports = 4, .randoms = 0});
  const auto large = direct_candidates({.nodes = 24, .ports = 4, .randoms = 0});
  ASSERT_TRUE(small && large);
  std::vector<WiringFigures> figures;
  for (const std::string& name : *small) figures.push_back(figures_of(wired_as(name)));
  const auto beats = [](const WiringFigures& a, const WiringFigures& b) {
    const auto of = [](const WiringFigures& f) {
      return std::tuple(f.steps, f.bfb, f.mean_distance);
    };
    return a.steps <= b.steps && a.bfb <= b.bfb && a.mean_distance <= b.mean_distance &&
           of(a) != of(b);
  };
  std::set<std::string> best;
  for (std::size_t i = 0; i < small->size(); ++i) {
    const auto by = [&](const WiringFigures& other) { return beats(other, figures[i]); };
    if (std::ranges::none_of(figures, by)) best.insert((*small)[i]);
  }
  EXPECT_LT(best.size(), small->size());
  std::set<std::vector<std::pair<NodeId, NodeId>>> listed;
  for (const std::string& name : *large) {
    listed.insert(solver::links_of(wired_as(name)));
    const auto parsed = topology::parse_expression(name);
    if (parsed->kind == topology::WiringExpression::Kind::line && parsed->times == 1) {
      EXPECT_THAT(best, Contains(to_string(parsed->operands[0])));
    }
  }
  for (const std::string& name : best) {
    EXPECT_THAT(listed, Contains(solver::links_of(wired_as("L(" + name + ")")))) << name;
  }
  // Not among the six fastest of 18 nodes, but nearer than they.
  EXPECT_THAT(*direct_candidates({.nodes = 72, .ports = 4}), Contains("L(genkautz-joined(4,18))"));
}

TEST(DirectCandidates, ImpossibleSizesAreRefusedInWords) {
  const std::pair<DirectRequest, const char*> refusals[] = {
      {{.nodes = 1, .ports = 1}, "from 2 to"},
      {{.nodes = 5000, .ports = 4}, "from 2 to"},
      {{.nodes = 8, .ports = 0}, "from 1 to"},
      {{.nodes = 64, .ports = 17}, "from 1 to"},
      {{.nodes = 4, .ports = 4}, "fewer than their 4 ports"},
      {{.nodes = 5, .ports = 3, .two_way = true}, "15 is odd"},
      {{.nodes = 4, .ports = 1, .two_way = true}, "join pairs"}};
  for (const auto& [request, words] : refusals) {
    const auto names = direct_candidates(request);
    ASSERT_FALSE(names) << words;
    EXPECT_EQ(names.errors().front().code, Code::K01);
    EXPECT_THAT(names.errors().front().message, HasSubstr(words));
    EXPECT_FALSE(names.errors().front().remedy.empty());
  }
}

TEST(ParetoFront, HoldsWhatNothingBeats) {
  const auto of = [](std::size_t steps, Ratio allgather, std::optional<Ratio> bfb, Ratio alltoall) {
    WiringFigures figures;
    figures.steps = steps;
    figures.allgather = allgather;
    figures.bfb = bfb;
    figures.alltoall = {alltoall, alltoall};
    return figures;
  };
  const std::vector<WiringFigures> all = {of(3, 1, 2, 5), of(4, 1, 1, 4), of(4, 1, 1, 4),
                                          of(5, 1, {}, 3), of(5, 2, 1, 3)};
  using Front = std::vector<bool>;
  EXPECT_EQ(pareto_front(all, DirectAim::allgather), (Front{true, false, false, false, false}));
  EXPECT_EQ(pareto_front(all, DirectAim::bfb), (Front{true, true, true, false, false}));
  EXPECT_EQ(pareto_front(all, DirectAim::alltoall), (Front{true, true, true, true, true}));
  EXPECT_EQ(pareto_front(all, DirectAim::all), (Front{true, true, true, true, false}));
}

// All-to-all is at most what is said, and may be less: the second could be as good as the first.
TEST(ParetoFront, MayHoldWhatNothingBeatsForSure) {
  const auto of = [](std::size_t steps, Ratio least, Ratio most) {
    WiringFigures figures;
    figures.steps = steps;
    figures.allgather = 1;
    figures.alltoall = {least, most};
    return figures;
  };
  const std::vector<WiringFigures> all = {of(3, 5, 6), of(4, 4, 7), of(4, 7, 7), of(3, 6, 8)};
  using Front = std::vector<bool>;
  EXPECT_EQ(pareto_front(all, DirectAim::all), (Front{true, false, false, false}));
  EXPECT_EQ(perhaps_on_front(all, DirectAim::all), (Front{true, true, false, true}));
  EXPECT_EQ(perhaps_on_front(all, DirectAim::allgather), (Front{true, false, false, true}));
}

TEST(WiringSearch, IsReproducibleAndNeverWorse) {
  for (const char* expression :
       {"torus(4,6)", "genkautz(2,11)", "uniring(2,9)", "uniring(3,2) x uniring(1,8)"}) {
    const Wiring start = wired_as(expression);
    const auto first = search_wiring(start, {.moves = 150, .seed = 5});
    const auto again = search_wiring(start, {.moves = 150, .seed = 5});
    ASSERT_TRUE(first && again);
    EXPECT_EQ(first->wiring.links, again->wiring.links) << expression;
    EXPECT_EQ(first->tried, 150U);
    EXPECT_GT(first->accepted, 0U) << expression;
    EXPECT_EQ(is_two_way(first->wiring), is_two_way(start));
    const auto degrees = [](const Wiring& wiring) {
      std::vector<int> ends(2 * wiring.nodes, 0);
      for (const Arc& link : wiring.links) {
        ++ends[link.tail.index()];
        ++ends[wiring.nodes + link.head.index()];
      }
      return ends;
    };
    EXPECT_EQ(degrees(first->wiring), degrees(start)) << expression;
    const auto before = figures_of(start), after = figures_of(first->wiring);
    EXPECT_LE(std::pair(after.allgather, after.steps), std::pair(before.allgather, before.steps));
    EXPECT_LE(after.mean_distance, before.mean_distance) << expression;
  }
}

// Not even for a while: after every move it is as good as before.
TEST(WiringSearchLong, NoMoveMakesItWorse) {
  const Wiring start = wired_as("uniring(3,2) x uniring(1,8)");
  auto before = figures_of(start);
  ASSERT_GT(before.allgather, Ratio(15, 16));
  for (std::size_t moves = 1; moves <= 25; ++moves) {
    const auto found = search_wiring(start, {.moves = moves, .seed = 3});
    ASSERT_TRUE(found);
    const auto after = figures_of(found->wiring);
    EXPECT_LE(std::tuple(after.allgather, after.steps, after.mean_distance),
              std::tuple(before.allgather, before.steps, before.mean_distance))
        << moves;
    before = after;
  }
}

TEST(WiringSearch, FindsANearerTorus) {
  const Wiring start = wired_as("torus(4,6)");
  const auto found = search_wiring(start, {.moves = 150, .seed = 5});
  ASSERT_TRUE(found);
  EXPECT_LT(figures_of(found->wiring).mean_distance, figures_of(start).mean_distance);
  EXPECT_NE(search_wiring(start, {.moves = 150, .seed = 6})->wiring.links, found->wiring.links);
}

TEST(WiringSearch, StopsAndRefuses) {
  std::stop_source stopped;
  stopped.request_stop();
  const Wiring start = wired_as("torus(4,4)");
  const auto result = search_wiring(start, {.stop = stopped.get_token()});
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->stopped);
  EXPECT_EQ(result->wiring.links, start.links);
  EXPECT_EQ(search_wiring(wired_as("complete(2)")).errors().front().code, Code::K01);
}

}  // namespace
}  // namespace forestcoll::testing
