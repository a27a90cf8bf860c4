// Wirings' figures against definitions, and what the study of wirings lists.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "forestcoll/design_direct.hpp"
#include "forestcoll/design_formulas.hpp"
#include "forestcoll/design_search.hpp"
#include "forestcoll/wiring.hpp"
#include "forestcoll/wiring_figures.hpp"
#include "solver/design/bfb.hpp"
#include "solver/design/bisection.hpp"
#include "solver/design/candidates.hpp"
#include "topology/wiring/expression.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

Wiring wired_as(const std::string& expression) {
  const auto wiring = make_wiring(expression);
  if (!wiring) {
    ADD_FAILURE() << to_string(wiring.errors().front());
    return {};
  }
  return *wiring;
}

WiringFigures figures_of(const Wiring& wiring) {
  const auto figures = wiring_figures(wiring);
  if (!figures) {
    ADD_FAILURE() << to_string(figures.errors().front());
    return {};
  }
  return *figures;
}

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
TEST(WiringFigures, BreadthFirstBroadcastIsExact) {
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
  EXPECT_EQ(wiring_figures(wired_as("ring(5000)")).errors().front().code, "K01");
  const Wiring apart{.name = "apart", .nodes = 2, .ports = 1, .links = {{NodeId(0), NodeId(1)}}};
  EXPECT_EQ(wiring_figures(apart).errors().front().code, "K01");
}

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
  EXPECT_EQ(formula_candidates({.most_nodes = 3, .ports = 4}).errors().front().code, "K01");
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
    EXPECT_EQ(names.errors().front().code, "K01");
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
TEST(WiringSearch, NoMoveMakesItWorse) {
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
  EXPECT_EQ(search_wiring(wired_as("complete(2)")).errors().front().code, "K01");
}

}  // namespace
}  // namespace forestcoll::testing
