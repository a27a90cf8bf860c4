// The fastest schedule for a size: what is written, refused and told of it.
#include "forestcoll/fastest.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <string>

#include "fastest/fabrics.hpp"
#include "simulate/least_latency.hpp"

namespace forestcoll {
namespace {

using test::options_for;
using ::testing::HasSubstr;
using ::testing::Not;

// A step to send, the message over two links, a step to receive: nothing is below that, and one
// shot between two is no more.
TEST(LeastLatency, IsWhatOneMessageTakes) {
  const Fabric fabric = test::star_of(2);
  const auto a100 = *find_simulation_parameters("a100");
  const double least =
      least_latency(fabric.topology, Collective::allreduce, std::nullopt, a100, a100.ll);
  EXPECT_NEAR(least, (2 * 0.2 + 2 * 0.7) * 1e-6, 1e-12);
  const auto choices = fastest_choices(fabric, options_for(Collective::allreduce, {8}));
  ASSERT_TRUE(choices);
  EXPECT_NEAR(choices->front().seconds, least, 0.02e-6);
  EXPECT_EQ(choices->front().least.by, LeastTime::By::latency);
}

// Along a row of GPUs, the ones between relay.
TEST(LeastLatency, RelaysAndRoots) {
  const Fabric row = test::fabric_of(R"({"format": "forestcoll-topology", "version": 1,
    "nodes": [{"id": "gpu[0-3]", "type": "compute"}],
    "links": [{"src": "gpu0", "dst": "gpu1", "bandwidth": 10, "latency": "1us"},
              {"src": "gpu1", "dst": "gpu2", "bandwidth": 10, "latency": "1us"},
              {"src": "gpu2", "dst": "gpu3", "bandwidth": 10, "latency": "1us"}]})");
  SimulationParameters parameters;
  parameters.simple = {.step_us = 2, .message_us = 3, .network_message_us = 5};
  const auto from = [&](std::size_t root) {
    return least_latency(row.topology, Collective::broadcast, Rank(root), parameters,
                         parameters.simple);
  };
  EXPECT_NEAR(from(0), (2 + 3 * (1 + 3 + 2)) * 1e-6, 1e-12);
  EXPECT_NEAR(from(1), (2 + 2 * (1 + 3 + 2)) * 1e-6, 1e-12);
  // Nothing leaves the box.
  parameters.simple.network_message_us = 0;
  EXPECT_NEAR(from(0), (2 + 3 * (1 + 3 + 2)) * 1e-6, 1e-12);
}

TEST(FastestLong, AllPairsWinAtOneKilobyteAndTreesWithManyMegabytes) {
  const Fabric fabric = test::bundled_fabric("dgx-a100-x1");
  const auto choices =
      fastest_choices(fabric, options_for(Collective::allreduce, {1024, 32 << 20}));
  ASSERT_TRUE(choices && choices->size() == 2);
  EXPECT_EQ((*choices)[0].algorithm, "all-pairs-once");
  EXPECT_EQ((*choices)[0].protocol, "LL");
  EXPECT_THAT((*choices)[1].algorithm, Not(HasSubstr("all-pairs")));
  EXPECT_EQ((*choices)[1].least.by, LeastTime::By::links);
  for (const FastestChoice& choice : *choices) {
    EXPECT_GE(choice.seconds, choice.least.seconds);
    EXPECT_THAT(in_words(choice), HasSubstr("times the lower bound"));
  }
}

// An exchange has no trees, and its rate is what the checker finds.
TEST(FastestLong, WritesWhatWonAndHasItVerified) {
  const Fabric fabric = test::bundled_fabric("dgx-a100-x1");
  const auto made = fastest_schedule(fabric, options_for(Collective::allreduce, {1024}));
  ASSERT_TRUE(made);
  const Compilation& compiled = made->compilation;
  EXPECT_TRUE(compiled.verdict.ok);
  EXPECT_EQ(compiled.chosen.synthesis.forest.algbw, *compiled.verdict.algbw);
  EXPECT_THAT(compiled.text, HasSubstr("<!-- all-pairs-once, "));
  EXPECT_THAT(compiled.text, HasSubstr("proto=\"LL\""));
  // What is timed is what is written.
  const auto simulator = prepare_simulation(compiled.text, "it", fabric.topology);
  ASSERT_TRUE(simulator);
  const auto run = simulator->run({1024}, *find_simulation_parameters("a100"));
  ASSERT_TRUE(run);
  EXPECT_DOUBLE_EQ(run->times.front().seconds, made->choice.seconds);
}

TEST(Fastest, KeepsToTheTreesTheProtocolAndTheInstancesThatAreAskedFor) {
  const Fabric fabric = test::bundled_fabric("dgx-a100-x1");
  FastestOptions options = options_for(Collective::allgather, some_sizes());
  options.compile.tree_count = TreeCount::as_given;
  options.compile.synthesis.trees_per_root = {TreesPerRoot::Mode::fixed, 2};
  options.compile.xml.protocol = "LL";
  options.instances = 2;
  const auto choices = fastest_choices(fabric, options);
  ASSERT_TRUE(choices);
  for (const FastestChoice& choice : *choices) {
    EXPECT_EQ(choice.name, "forestcoll, k 2, height 1");
    EXPECT_EQ(choice.protocol, "LL");
    EXPECT_EQ(choice.instances, 2);
    EXPECT_EQ(choice.considered.size(), 1U);
  }
}

// A chain of 72 GPUs fills sooner with more chunks.
TEST(FastestLong, OfOneRootIsNoSlowerThanOfAnyNumberOfTrees) {
  const Fabric fabric = test::star_of(72);
  FastestOptions options = options_for(Collective::broadcast, {std::int64_t{1} << 30});
  options.compile.synthesis.root = Rank(0);
  const auto best = fastest_choices(fabric, options);
  ASSERT_TRUE(best);
  for (const std::int64_t k : {4, 16}) {
    options.compile.synthesis.trees_per_root = {TreesPerRoot::Mode::fixed, k};
    const auto other = fastest_choices(fabric, options);
    ASSERT_TRUE(other) << k;
    EXPECT_LE(best->front().seconds, other->front().seconds) << k;
  }
}

TEST(Fastest, RefusesASizeThatNoRuntimeWouldSelectAnythingFor) {
  const Fabric fabric = test::star_of(3);
  const auto none = fastest_choices(fabric, options_for(Collective::allgather, {1000}));
  ASSERT_FALSE(none);
  EXPECT_EQ(none.errors().front().code, Code::S03);
  FastestOptions any = options_for(Collective::allgather, {1000});
  any.counts = ServedCounts::any;
  EXPECT_TRUE(fastest_choices(fabric, any));
}

// The same choices whatever the order in which threads come to them.
TEST(FastestLong, IsTheSameAgain) {
  const Fabric fabric = test::star_of(4);
  const FastestOptions options{.compile = {}, .sizes = {4096, 1 << 20, 8 << 20}};
  const auto first = tune(fabric, options), second = tune(fabric, options);
  ASSERT_TRUE(first && second);
  ASSERT_EQ(first->files.size(), second->files.size());
  for (std::size_t i = 0; i < first->files.size(); ++i) {
    EXPECT_EQ(first->files[i].text, second->files[i].text);
    EXPECT_TRUE(first->files[i].verdict.ok);
  }
}

// A row of GPUs: small passes fill it sooner. All files are for the same buffers.
TEST(FastestLong, SmallBuffersFillHighTreesSooner) {
  const Fabric fabric = test::fabric_of(R"({"format": "forestcoll-topology", "version": 1,
    "nodes": [{"id": "gpu[0-7]", "type": "compute"}],
    "links": [{"src": "gpu0", "dst": "gpu1", "bandwidth": 50}, {"src": "gpu1", "dst": "gpu2", "bandwidth": 50},
              {"src": "gpu2", "dst": "gpu3", "bandwidth": 50}, {"src": "gpu3", "dst": "gpu4", "bandwidth": 50},
              {"src": "gpu4", "dst": "gpu5", "bandwidth": 50}, {"src": "gpu5", "dst": "gpu6", "bandwidth": 50},
              {"src": "gpu6", "dst": "gpu7", "bandwidth": 50}]})");
  FastestOptions options = options_for(Collective::allgather, {256 << 20});
  options.compile.xml.protocol = "Simple";
  const auto free = fastest_choices(fabric, options);
  options.buffer_bytes = 0;
  const auto fixed = fastest_choices(fabric, options);
  ASSERT_TRUE(free && fixed);
  EXPECT_GT(free->front().buffer_bytes, 0);
  EXPECT_EQ(fixed->front().buffer_bytes, 0);
  EXPECT_LT(free->front().seconds, fixed->front().seconds);
  EXPECT_THAT(in_words(free->front()), HasSubstr("with NCCL_BUFFSIZE="));
  // What is written says so, and is simulated so.
  options.buffer_bytes.reset();
  const auto made = fastest_schedule(fabric, options);
  ASSERT_TRUE(made);
  EXPECT_THAT(made->compilation.text, HasSubstr(" buffsize=\""));
  const auto simulator = prepare_simulation(made->compilation.text, "it", fabric.topology);
  ASSERT_TRUE(simulator);
  const auto run = simulator->run(options.sizes, *find_simulation_parameters("a100"));
  ASSERT_TRUE(run);
  EXPECT_DOUBLE_EQ(run->times.front().seconds, made->choice.seconds);
}

TEST(Tune, AllFilesAreForTheSameBuffers) {
  const Fabric fabric = test::star_of(4);
  FastestOptions options{.compile = {}, .sizes = {1 << 20, 64 << 20, 512 << 20}};
  options.compile.xml.protocol = "Simple";
  options.buffer_bytes = 1 << 20;
  const auto tuned = tune(fabric, options);
  ASSERT_TRUE(tuned);
  EXPECT_EQ(tuned->buffer_bytes, 1 << 20);
  for (const TunedFile& file : tuned->files) {
    EXPECT_THAT(file.text, HasSubstr(" buffsize=\"1048576\""));
  }
}

// Two steps, two links of 0.7 µs, 8 bytes: latencies and threadblocks, and nothing else.
TEST(TimeCosts, SumUpToTheTime) {
  const Fabric fabric = test::star_of(2);
  const auto made = fastest_schedule(fabric, options_for(Collective::allreduce, {8}));
  ASSERT_TRUE(made && made->choice.costs);
  const TimeCosts& costs = *made->choice.costs;
  EXPECT_NEAR(costs.threadblocks, 0.4e-6, 0.01e-6);
  EXPECT_NEAR(costs.latencies, 1.4e-6, 0.01e-6);
  EXPECT_NEAR(costs.links + costs.waiting, 0, 0.01e-6);
  EXPECT_DOUBLE_EQ(costs.links + costs.waiting + costs.latencies + costs.threadblocks,
                   made->choice.seconds);
  EXPECT_THAT(made->compilation.chosen.why, HasSubstr("; time by cause: links 0 %, "));
  EXPECT_GT(made->compilation.seconds.choose, 0);
  // Where much is sent, the links.
  const auto large = fastest_schedule(fabric, options_for(Collective::allreduce, {256 << 20}));
  ASSERT_TRUE(large);
  EXPECT_GT(large->choice.costs->links, 0.8 * large->choice.seconds);
}

}  // namespace
}  // namespace forestcoll
