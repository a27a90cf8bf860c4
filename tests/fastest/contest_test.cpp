// Contests: what wins is what simulating everything would have chosen, at less cost.
#include "fastest/contest.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "choose/schedule_program.hpp"
#include "fastest/fabrics.hpp"
#include "forestcoll/emit.hpp"
#include "forestcoll/fastest.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/schedule.hpp"
#include "solver/portfolio/best_forest.hpp"

namespace forestcoll {
namespace {

using fastest::Candidate;
using fastest::Contender;
using fastest::Contest;
using fastest::Winner;
using test::options_for;

const std::vector<std::int64_t>& some_sizes() {
  static const std::vector<std::int64_t> sizes = {1024, 65536, 1 << 20, 16 << 20};
  return sizes;
}

// All that there are, once all are made.
std::vector<std::size_t> all_of(Contest& contest) {
  (void)contest.all_programs();
  std::vector<std::size_t> all;
  for (std::size_t c = 0; c < contest.contenders().size(); ++c) {
    if (contest.is_there(c)) all.push_back(c);
  }
  return all;
}

class Contests : public ::testing::TestWithParam<std::tuple<const char*, Collective>> {};

// No bound is above the time that is simulated, so nothing is left out that could have won.
TEST_P(Contests, BoundsAreBounds) {
  const auto [name, collective] = GetParam();
  const Fabric fabric = test::bundled_fabric(name);
  auto contest = Contest::hold(fabric, options_for(collective, some_sizes()));
  ASSERT_TRUE(contest) << to_string(contest.errors().front());
  for (const std::size_t c : all_of(*contest)) {
    for (const std::int64_t size : some_sizes()) {
      const auto seconds = contest->seconds(c, size);
      const bool has_room = size <= contest->max_bytes(c);
      ASSERT_TRUE(seconds || !has_room);
      if (!has_room) continue;
      const double least = contest->least_seconds(c, size);
      EXPECT_LE(least, *seconds) << contest->candidate(c).in_words() << size;
      EXPECT_LE(contest->quick_bound(c, size), *seconds)
          << contest->candidate(c).in_words() << size;
      EXPECT_LE(contest->least_of_links(contest->contenders()[c].candidate, size), *seconds)
          << contest->candidate(c).in_words() << size;
      EXPECT_GT(least, 0);
    }
  }
  EXPECT_GT(contest->least_of_links(0, some_sizes().front()), 0);
}

// A V100 holds 80 threadblocks. A runtime's own kernels are what they are, but no file has more.
TEST(ContestFilesLong, HaveNoMoreThreadblocksThanTheGpuHolds) {
  constexpr std::int64_t kSize = std::int64_t{84} << 20;  // chunks of rings divide it
  const Fabric fabric = test::bundled_fabric("dgx-1-v100");
  auto contest = Contest::hold(fabric, options_for(Collective::allreduce, {kSize}));
  ASSERT_TRUE(contest) << to_string(contest.errors().front());
  std::size_t larger = 0;
  for (const std::size_t c : all_of(*contest)) {
    if (contest->fits(c)) continue;
    ++larger;
    EXPECT_GT(contest->program(c).threadblocks, 80);
    EXPECT_TRUE(has_runtime_own(contest->candidate(c))) << contest->candidate(c).in_words();
    const auto only = [c](std::size_t other) { return other == c; };
    EXPECT_FALSE(contest->winner(kSize, only, Contest::Of::files));
    EXPECT_TRUE(contest->winner(kSize, only, Contest::Of::all));
  }
  EXPECT_GT(larger, 0U);
}

// What takes no more than a limit wins as without one, and what takes more does not.
TEST(ContestLong, NothingAboveALimitWins) {
  const Fabric fabric = test::bundled_fabric("mi250-x1");
  auto contest = Contest::hold(fabric, options_for(Collective::allreduce, {1 << 20}));
  ASSERT_TRUE(contest);
  for (const std::int64_t size : {1 << 14, 1 << 20, 64 << 20}) {
    const auto all = [](std::size_t) { return true; };
    const auto winner = contest->winner(size, all);
    ASSERT_TRUE(winner);
    const double seconds = winner->seconds;
    const auto at_most = [&](double most) {
      return contest->winner(size, all, Contest::Of::files, {.most = most});
    };
    for (const double times : {2.0, Contest::kWorthwhile, 1.0001, 1.0}) {
      const auto same = at_most(times * seconds);
      ASSERT_TRUE(same) << size << " " << times;
      EXPECT_EQ(same->contender, winner->contender) << size << " " << times;
      EXPECT_EQ(same->seconds, seconds);
    }
    EXPECT_FALSE(at_most(0.99 * seconds)) << size;
    EXPECT_FALSE(at_most(0.1 * seconds)) << size;
  }
}

// How many threadblocks a connection gets is tried in several ways once trees have won.
TEST(ContestVariantsLong, NoneOfTheWinnerIsFaster) {
  constexpr std::int64_t kSize = std::int64_t{1} << 30;
  const Fabric fabric = test::bundled_fabric("mi250-x1");
  auto options = options_for(Collective::allreduce, {kSize});
  options.few_variants = true;
  auto contest = Contest::hold(fabric, options);
  ASSERT_TRUE(contest);
  const auto winner = contest->winners().front();
  ASSERT_TRUE(winner);
  const Candidate& won = contest->candidate(winner->contender);
  ASSERT_TRUE(won.forest().reduce);
  std::set<double> times;
  for (const std::int32_t waiting : {0, 1, 2, 4}) {
    LowerOptions lowering = contest->compile().lowering;
    lowering.instances = contest->program(winner->contender).instances;
    lowering.waiting = waiting;
    const auto schedule = lower(won.forest(), lowering);
    ASSERT_TRUE(schedule);
    const Contender& contender = contest->contenders()[winner->contender];
    const auto text =
        to_msccl_xml(*schedule, won.forest(), fabric.topology,
                     {.protocol = contender.protocol, .buffer_bytes = contender.buffer_bytes});
    const auto simulator = prepare_simulation(text, "it", fabric.topology);
    ASSERT_TRUE(simulator);
    const auto simulation = simulator->run({kSize}, contest->parameters());
    ASSERT_TRUE(simulation);
    times.insert(simulation->times.front().seconds);
    EXPECT_LE(winner->seconds, Contest::kWorthwhile * simulation->times.front().seconds) << waiting;
  }
  EXPECT_GT(times.size(), 1U);
  EXPECT_NEAR(winner->seconds, *times.begin(), (Contest::kWorthwhile - 1) * *times.begin());
}

TEST_P(Contests, TheWinnerIsTheFastestOfAll) {
  const auto [name, collective] = GetParam();
  const Fabric fabric = test::bundled_fabric(name);
  auto contest = Contest::hold(fabric, options_for(collective, some_sizes()));
  ASSERT_TRUE(contest);
  const auto winners = contest->winners();
  for (std::size_t i = 0; i < some_sizes().size(); ++i) {
    ASSERT_TRUE(winners[i]);
    const std::size_t won = winners[i]->contender;
    EXPECT_EQ(winners[i]->seconds, *contest->seconds(won, some_sizes()[i]));
    EXPECT_EQ(winners[i]->considered.front().algorithm, contest->candidate(won).algorithm);
    EXPECT_FALSE(winners[i]->considered.front().is_bound);
    for (const std::size_t c : all_of(*contest)) {
      if (!contest->serves(c, some_sizes()[i]) || !contest->fits(c)) continue;
      EXPECT_LE(winners[i]->seconds, Contest::kWorthwhile * *contest->seconds(c, some_sizes()[i]))
          << some_sizes()[i] << contest->candidate(c).in_words();
    }
    EXPECT_TRUE(std::ranges::is_sorted(winners[i]->considered, {}, &ConsideredTime::seconds));
  }
}

INSTANTIATE_TEST_SUITE_P(FabricsLong, Contests,
                         ::testing::Values(std::tuple("dgx-a100-x1", Collective::allreduce),
                                           std::tuple("dgx-a100-x1", Collective::allgather),
                                           std::tuple("hypercube-16", Collective::reduce_scatter),
                                           std::tuple("dgx-1-v100", Collective::broadcast)),
                         [](const auto& each) {
                           std::string name = std::get<0>(each.param);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name + "_" + std::string(to_string(std::get<1>(each.param)));
                         });

// A limit is for those that are slower: they are simulated again where their time is asked for.
TEST(Contest, StopsLookingAtWhatIsSlower) {
  const Fabric fabric = test::star_of(4);
  auto contest = Contest::hold(fabric, options_for(Collective::allreduce, {1 << 20}));
  ASSERT_TRUE(contest);
  EXPECT_TRUE(std::isinf(*contest->seconds(0, 1 << 20, 1e-9)));
  const double taken = *contest->seconds(0, 1 << 20);
  EXPECT_GT(taken, 1e-9);
  EXPECT_EQ(*contest->seconds(0, 1 << 20, 1e-9), taken);  // known by now
}

const CollectiveForest& forest_of(const Contest& contest, std::size_t candidate) {
  return contest.candidates()[candidate].forest();
}

// Large messages get trees that are no higher, for less work on those for small ones.
TEST(ContestLong, TreesOfEveryNumberAreTheSameForAllSizes) {
  const Fabric fabric = test::bundled_fabric("dgx-1-v100");
  auto small = Contest::hold(fabric, options_for(Collective::allreduce, {1 << 20}));
  auto large = Contest::hold(fabric, options_for(Collective::allreduce, {std::int64_t{1} << 30}));
  ASSERT_TRUE(small && large);
  std::size_t numbers = 0;
  for (std::size_t c = 0; c < large->candidates().size(); ++c) {
    if (large->candidates()[c].algorithm != "forestcoll" || forest_of(*large, c).k > 16) break;
    ASSERT_LT(c, small->candidates().size());
    EXPECT_EQ(solver::height_of(forest_of(*large, c)), solver::height_of(forest_of(*small, c)));
    EXPECT_EQ(forest_of(*large, c).algbw, forest_of(*small, c).algbw);
    ++numbers;
  }
  EXPECT_GE(numbers, 5U);
}

// Where ours have unequal shares, so have others: the same trees as of equal shares, as wide as the
// shares make them.
TEST(ContestLong, SharesInPowersOfTwoAreOfTheTreesOfEqualOnes) {
  const Fabric fabric = test::boxes_of_two(9);
  auto contest = Contest::hold(fabric, options_for(Collective::allreduce, {std::int64_t{1} << 30}));
  ASSERT_TRUE(contest);
  std::optional<std::int32_t> height;
  std::size_t unequal = 0;
  for (std::size_t c = 0; c < contest->candidates().size(); ++c) {
    if (contest->candidates()[c].algorithm != "forestcoll") continue;
    const CollectiveForest& forest = forest_of(*contest, c);
    if (forest.weight.empty()) {
      if (!height) height = solver::height_of(forest);
      continue;
    }
    ++unequal;
    EXPECT_EQ(chunks_of(forest) & (chunks_of(forest) - 1), 0);
    EXPECT_EQ(forest.broadcast->base_trees().size(), 18U);
  }
  EXPECT_TRUE(height);
  EXPECT_GE(unequal, 2U);
}

// Few variants are some of all, in the same order, and take what they take among all.
TEST(ContestLong, FewVariantsAreSomeOfAll) {
  const Fabric fabric = test::bundled_fabric("dgx-a100-x2");
  FastestOptions options = options_for(Collective::allreduce, {1 << 30});
  auto all = Contest::hold(fabric, options);
  options.few_variants = true;
  auto few = Contest::hold(fabric, options);
  ASSERT_TRUE(all && few);
  EXPECT_THAT(few->algorithms(), ::testing::UnorderedElementsAre(
                                     "forestcoll", "nccl-ring", "double-tree", "double-tree-direct",
                                     "double-tree-binomial", "hierarchical", "two-level",
                                     "rail-pat", "two-level-pat"));
  const auto programs = all->all_programs();
  EXPECT_LT(3 * few->all_programs().size(), programs.size());
  for (const fastest::Program* program : few->all_programs()) {
    const bool is_there = std::ranges::any_of(programs, [&](const fastest::Program* each) {
      return each->fingerprint == program->fingerprint;
    });
    EXPECT_TRUE(is_there) << few->candidates()[program->candidate].in_words();
    const std::string& name = few->candidates()[program->candidate].algorithm;
    const bool is_runtimes = name == "nccl-ring" || name == "double-tree";
    EXPECT_LE(program->instances, is_runtimes ? 8 : 2) << name;
  }
  EXPECT_GE(Contest::kWorthwhile * few->winners().front()->seconds,
            all->winners().front()->seconds);
}

// Messages of one GPU to all others are many where these are, so Bruck's few are tried in one box.
TEST(Contest, FewVariantsOfOneBoxHaveFewMessages) {
  for (const bool is_one_box : {false, true}) {
    const Fabric fabric = is_one_box ? test::star_of(12) : test::boxes_of_two(6);
    FastestOptions options = options_for(Collective::allreduce, {1 << 24});
    options.few_variants = true;
    const auto few = Contest::hold(fabric, options);
    ASSERT_TRUE(few);
    const bool has_bruck = std::ranges::any_of(
        few->candidates(), [](const Candidate& each) { return each.algorithm == "bruck"; });
    EXPECT_EQ(has_bruck, is_one_box);
  }
}

// Choosing the trees has lowered them, and what wins is that.
TEST(Contest, TreesAreLoweredOnce) {
  const Fabric fabric = test::bundled_fabric("mi250-x1");
  FastestOptions options = options_for(Collective::allgather, {1 << 30});
  options.algorithms = {"forestcoll"};
  options.instances = 1;
  auto contest = Contest::hold(fabric, options);
  ASSERT_TRUE(contest);
  const fastest::Candidate& first = contest->candidates().front();
  ASSERT_TRUE(first.chosen.schedule);
  const auto again = fastest::lower_candidate(first, fabric, contest->compile().lowering);
  ASSERT_TRUE(again);
  EXPECT_EQ(fastest::fingerprint_of(choose::program_of(*first.chosen.schedule)),
            fastest::fingerprint_of(choose::program_of(*again)));
}

// All ranks of a star do the same: of their steps a quarter is simulated, in every pass.
TEST(Contest, KnowsWhatSimulationsCost) {
  const Fabric fabric = test::star_of(4);
  auto contest = Contest::hold(fabric, options_for(Collective::allgather, {1 << 20}));
  ASSERT_TRUE(contest);
  for (const std::size_t c : all_of(*contest)) {
    const fastest::Program& program = contest->program(c);
    EXPECT_GT(program.simulated_steps, 0);
    EXPECT_LE(program.simulated_steps, 4 * program.threadblocks * program.steps);
    EXPECT_GE(contest->simulation_cost(c, 1 << 24), contest->simulation_cost(c, 1 << 20));
  }
  EXPECT_LE(contest->program(0).simulated_steps,
            contest->program(0).threadblocks * contest->program(0).steps);
}

// Whose trees put so much on a link that it loses by that alone is never lowered.
TEST(ContestLong, MakesNoProgramsThatLinksMakeTooSlow) {
  constexpr std::int64_t kSize = std::int64_t{1} << 30;
  const Fabric fabric = test::bundled_fabric("dgx-a100-x2");
  auto contest = Contest::hold(fabric, options_for(Collective::allreduce, {kSize}));
  ASSERT_TRUE(contest);
  const auto winner = contest->winners().front();
  ASSERT_TRUE(winner);
  const auto is_made = [&](std::string_view algorithm) {
    for (std::size_t c = 0; c < contest->candidates().size(); ++c) {
      if (contest->candidates()[c].algorithm == algorithm && contest->is_made(c)) return true;
    }
    return false;
  };
  EXPECT_TRUE(is_made("forestcoll") && is_made("double-tree"));
  EXPECT_FALSE(is_made("multitree") || is_made("bfb"));
  // They are named all the same, with what links need.
  EXPECT_TRUE(std::ranges::any_of(winner->considered, [](const ConsideredTime& each) {
    return each.algorithm == "bfb" && each.is_bound;
  }));
}

// What was made before, for another size, changes nothing: not what wins, and not what is said of
// the others. Chunks of some numbers of trees do not divide the sizes.
TEST(ContestLong, IsTheSameWhateverWasMadeBefore) {
  for (const char* name : {"dgx-1-v100", "dgx-a100-x1"}) {
    const Fabric fabric = test::bundled_fabric(name);
    const FastestOptions options = options_for(Collective::allreduce, {1 << 12, 3 << 20, 1 << 30});
    auto before = Contest::hold(fabric, options), after = Contest::hold(fabric, options);
    ASSERT_TRUE(before && after);
    (void)before->all_programs();
    const auto all = before->winners(), some = after->winners();
    for (std::size_t i = 0; i < all.size(); ++i) {
      ASSERT_TRUE(all[i] && some[i]);
      auto alone = Contest::hold(fabric, options);
      const auto first = alone->winner(options.sizes[i], [](std::size_t) { return true; });
      EXPECT_EQ(first->contender, all[i]->contender);
      EXPECT_EQ(first->seconds, all[i]->seconds);
      EXPECT_EQ(all[i]->contender, some[i]->contender);
      EXPECT_EQ(all[i]->seconds, some[i]->seconds);
      const auto told = [](const Winner& winner) {
        std::vector<std::tuple<std::string, double, bool>> rows;
        for (const ConsideredTime& each : winner.considered) {
          rows.emplace_back(each.algorithm, each.seconds, each.is_bound);
        }
        return rows;
      };
      EXPECT_EQ(told(*all[i]), told(*some[i])) << name << ' ' << options.sizes[i];
    }
  }
}

// What the links make best does not divide the size: then what is far behind serves it.
TEST(ContestLong, LooksAsFarAsItTakes) {
  constexpr std::int64_t kSize = std::int64_t{1} << 30;
  const Fabric fabric = test::bundled_fabric("dgx-1-v100");
  auto contest = Contest::hold(fabric, options_for(Collective::allreduce, {kSize}));
  ASSERT_TRUE(contest);
  std::set<std::string> taken;
  const auto winner = contest->winner(kSize, [&](std::size_t c) {
    const std::string& name = contest->candidate(c).algorithm;
    const bool takes =
        name == "multitree" || (name == "nccl-ring" && contest->candidate(c).forest().k == 6);
    if (takes) taken.insert(name);
    return takes;
  });
  EXPECT_EQ(taken.size(), 2U);
  ASSERT_TRUE(winner);
  EXPECT_EQ(contest->candidate(winner->contender).algorithm, "multitree");
}

// The links of a full mesh, of which the parts of a limit are those of a ring.
TEST(Contest, OursAreMadeOnAllLinksOfLimitsToo) {
  const auto mesh = [](const char* diagonals) {
    return test::fabric_of(fmt::format(
        R"({{"format": "forestcoll-topology", "version": 1, "name": "mesh",
        "nodes": [{{"id": "g[0-3]", "type": "compute"}}],
        "links": [{{"src": "g0", "dst": "g1", "bandwidth": 50, "latency": "0.7us"}},
                  {{"src": "g1", "dst": "g2", "bandwidth": 50, "latency": "0.7us"}},
                  {{"src": "g2", "dst": "g3", "bandwidth": 50, "latency": "0.7us"}},
                  {{"src": "g3", "dst": "g0", "bandwidth": 50, "latency": "0.7us"}},
                  {{"src": "g0", "dst": "g2", "bandwidth": 50, "latency": "0.7us"{0}}},
                  {{"src": "g1", "dst": "g3", "bandwidth": 50, "latency": "0.7us"{0}}}],
        "limits": [{{"links": ["g0~g2", "g1~g3"], "bandwidth": 200}}]}})",
        diagonals));
  };
  Fabric all = mesh(""), parts = mesh(R"(, "enabled": false)");
  Fabric fabric = all;
  fabric.whole = all.network;
  all.network.limits.clear();
  parts.network.limits.clear();
  fabric.network = parts.network;
  const FastestOptions options = options_for(Collective::allgather, {1 << 28});
  const auto best = [&](const Fabric& on) {
    auto contest = Contest::hold(on, options);
    return contest ? contest->winners().front()->seconds : 0;
  };
  const double free = best(all);
  EXPECT_LT(free, 0.8 * best(parts));
  EXPECT_NEAR(best(fabric), free, 1e-9 * free);
}

// On a switch a direct exchange is what our trees are: it has their times, which are its own.
TEST(Contest, EqualsTakeTheSameTime) {
  constexpr std::int64_t kSize = 1 << 20;
  const Fabric fabric = test::star_of(4);
  auto contest = Contest::hold(fabric, options_for(Collective::allgather, {kSize}));
  ASSERT_TRUE(contest);
  std::size_t equals = 0;
  std::map<fastest::Fingerprint, std::string> first;  // algorithm
  for (const std::size_t c : all_of(*contest)) {
    const auto& each = contest->contenders()[c];
    if (each.protocol != "Simple" || each.buffer_bytes != 0) continue;
    const std::string& name = contest->candidate(c).algorithm;
    const auto [same, is_new] = first.emplace(contest->program(c).fingerprint, name);
    if (is_new) continue;
    equals += same->second != name ? 1U : 0U;
    const auto alone = contest->program(c).simulator.run({kSize}, contest->parameters());
    ASSERT_TRUE(alone);
    EXPECT_EQ(*contest->seconds(c, kSize), alone->times.front().seconds);
  }
  EXPECT_GT(equals, 0U);
}

}  // namespace
}  // namespace forestcoll
