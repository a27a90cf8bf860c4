// Plans of MSCCL++ as candidates: in several shapes, each what its text says.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string>

#include "fastest/contest.hpp"
#include "fastest/fabrics.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll {
namespace {

using fastest::Contest;
using fastest::Program;

constexpr std::int64_t kBytes = std::int64_t{256} << 20;

FastestOptions plan_options(Collective collective) {
  FastestOptions options;
  options.compile.synthesis.collective = collective;
  options.compile.format = Format::mscclpp;
  options.compile.lowering.target = "mscclpp-0.10";
  options.sizes = {kBytes};
  return options;
}

struct PlansOf {
  const char* name;
  Fabric (*fabric)();
};
void PrintTo(const PlansOf& of, std::ostream* out) {
  *out << of.name;
}

class Plans : public ::testing::TestWithParam<PlansOf> {};

// Nothing verifies them before they are selected, so what is said of them has to be what the
// checker finds, and their times those of what is written.
TEST_P(Plans, AreWhatTheirTextsSay) {
  const Fabric fabric = GetParam().fabric();
  auto contest = Contest::hold(fabric, plan_options(Collective::allreduce));
  ASSERT_TRUE(contest) << to_string(contest.errors().front());
  const auto parameters = find_simulation_parameters(fabric.gpu.name);
  ASSERT_TRUE(parameters);
  (void)contest->all_programs();
  for (std::size_t c = 0; c < contest->contenders().size(); ++c) {
    if (!contest->is_there(c)) continue;
    const Program& program = contest->program(c);
    const auto plan = program.lower();
    ASSERT_TRUE(plan);
    const std::string text = to_mscclpp_json(*plan, "plan");
    const auto verdict = verify(text, "plan", &fabric.topology, {});
    ASSERT_TRUE(verdict && verdict->ok) << text.substr(0, 200);
    EXPECT_EQ(program.chunks, verdict->chunks);
    EXPECT_EQ(program.threadblocks, verdict->threadblocks);
    EXPECT_EQ(program.channels, verdict->channels);
    EXPECT_EQ(program.steps, verdict->steps);
    const auto simulator = prepare_simulation(text, "plan", fabric.topology);
    ASSERT_TRUE(simulator) << to_string(simulator.errors().front());
    const auto simulation = simulator->run({kBytes}, *parameters);
    ASSERT_TRUE(simulation);
    EXPECT_EQ(contest->seconds(c, kBytes), simulation->times.front().seconds);
  }
}

Fabric uneven_ring() {
  return test::fabric_of(R"({"format": "forestcoll-topology", "version": 1, "name": "uneven ring",
    "nodes": [{"id": "n[0-3]", "type": "compute"}],
    "links": [{"src": "n[0,2]", "dst": "n[1,3]", "pair": "zip", "bandwidth": 50},
              {"src": "n[1,3]", "dst": "n[2,0]", "pair": "zip", "bandwidth": 25}]})");
}

// One switch; boxes, between which are ports; links alone.
INSTANTIATE_TEST_SUITE_P(FabricsLong, Plans,
                         ::testing::Values(PlansOf{"star", [] { return test::star_of(3); }},
                                           PlansOf{"boxes", [] { return test::boxes_of_two(2); }},
                                           PlansOf{"ring", uneven_ring}));
INSTANTIATE_TEST_SUITE_P(
    FabricsLongest, Plans,
    ::testing::Values(PlansOf{"box", [] { return test::bundled_fabric("dgx-a100-x1"); }},
                      PlansOf{"torus", [] { return test::bundled_fabric("torus-4x4"); }}));

// A GPU's links carry more than one threadblock for each peer moves.
TEST(PlanShapesLong, HaveManyThreadblocksWhereThatIsFaster) {
  const Fabric fabric = test::bundled_fabric("dgx-a100-x1");
  auto contest = Contest::hold(fabric, plan_options(Collective::allreduce));
  ASSERT_TRUE(contest) << to_string(contest.errors().front());
  const auto winner = contest->winners().front();
  ASSERT_TRUE(winner);
  EXPECT_GT(contest->program(winner->contender).threadblocks, kEnoughThreadblocks);
  std::set<std::int32_t> numbers;
  double of_fewest = 0;
  for (std::size_t c = 0; c < contest->contenders().size(); ++c) {
    if (!contest->is_there(c) || contest->contenders()[c].candidate != 0) continue;
    numbers.insert(contest->program(c).threadblocks);
    of_fewest = std::max(of_fewest, *contest->seconds(c, kBytes));
  }
  EXPECT_TRUE(numbers.contains(kEnoughThreadblocks));
  EXPECT_LT(1.5 * winner->seconds, of_fewest);
}

}  // namespace
}  // namespace forestcoll
