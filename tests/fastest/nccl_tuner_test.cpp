// Which of NCCL's own algorithms is the fastest by size, and the files that say so.
#include "forestcoll/nccl_tuner.hpp"

#include <gmock/gmock.h>

#include <limits>
#include <sstream>
#include <string>
#include <vector>

#include "fastest/fabrics.hpp"
#include "forestcoll/verify.hpp"

namespace forestcoll {
namespace {

using ::testing::HasSubstr;

NcclTuning tuned(const Fabric& fabric, Collective collective, std::vector<std::int64_t> sizes) {
  NcclTunerOptions options;
  options.compile.synthesis.collective = collective;
  if (is_rooted(collective)) options.compile.synthesis.root = Rank(std::size_t{0});
  options.sizes = std::move(sizes);
  auto tuning = tune_nccl(fabric, options);
  EXPECT_TRUE(tuning) << to_string(tuning.errors().front());
  return *std::move(tuning);
}

// Eight GPUs of an H100 on a switch that copies and combines.
Fabric hopper() {
  return test::fabric_of(R"({"format": "forestcoll-topology", "version": 1, "name": "H100",
    "metadata": {"gpu": "H100"},
    "nodes": [{"id": "gpu[0-7]", "type": "compute"},
              {"id": "sw", "type": "switch", "multicast": true, "reduce": true}],
    "links": [{"src": "gpu[0-7]", "dst": "sw", "bandwidth": 450, "kind": "nvlink"}]})");
}

void expect_all_sizes(const std::vector<NcclRule>& rules) {
  ASSERT_FALSE(rules.empty());
  std::int64_t next = 0;
  for (const NcclRule& rule : rules) {
    EXPECT_EQ(rule.first, next);
    EXPECT_LT(rule.first, rule.last);
    if (rule.last == std::numeric_limits<std::int64_t>::max()) break;
    next = rule.last + 1;
  }
  EXPECT_EQ(rules.back().last, std::numeric_limits<std::int64_t>::max());
}

TEST(NcclTuner, RulesCoverAllSizesAndAreNoSlowerThanNcclsOwn) {
  const Fabric fabric = test::boxes_of_two(2);
  for (const Collective collective : nccl_tuner_collectives()) {
    const NcclTuning tuning = tuned(fabric, collective, {1024, 1 << 16, 1 << 22});
    EXPECT_EQ(tuning.collective, collective);
    expect_all_sizes(tuning.rules);
    if (!tuning.otherwise.empty()) expect_all_sizes(tuning.otherwise);
    ASSERT_EQ(tuning.sizes.size(), 3U);
    for (const NcclTunedSize& size : tuning.sizes) {
      EXPECT_LE(size.best.seconds, size.own.seconds) << to_string(collective);
      EXPECT_GT(size.best.seconds, 0);
      // src/graph/tuning.cc: trees are for an allreduce alone.
      if (collective != Collective::allreduce) {
        EXPECT_EQ(size.best.algorithm, "ring");
        EXPECT_EQ(size.own.algorithm, "ring");
      }
    }
  }
}

// A large broadcast between boxes is in Simple, which hangs as MSCCL XML alone.
TEST(NcclTuner, RootedCollectivesBetweenBoxesHaveSimple) {
  const NcclTuning tuning = tuned(test::boxes_of_two(2), Collective::broadcast, {1024, 1 << 26});
  EXPECT_EQ(tuning.sizes.front().best.protocol, "ll");
  EXPECT_EQ(tuning.sizes.back().best.protocol, "simple");
}

// By NCCL's model NVLS takes 25 us, and 85 % of the rate.
TEST(NcclTuner, NvlsIsForLargeSizesOnHopper) {
  const NcclTuning tuning = tuned(hopper(), Collective::allreduce, {1024, 1 << 28});
  EXPECT_NE(tuning.sizes.front().best.algorithm, "nvls");
  const NcclTunedSize& large = tuning.sizes.back();
  EXPECT_EQ(large.best.algorithm, "nvls");
  EXPECT_EQ(large.own.algorithm, "nvls");
  EXPECT_NEAR(large.best.seconds, 25e-6 + (1 << 28) / (400e9 * 0.85), 1e-9);
  expect_all_sizes(tuning.otherwise);
  for (const NcclRule& rule : tuning.otherwise) EXPECT_NE(rule.choice.algorithm, "nvls");
}

// NCCL has PAT for one GPU per node.
TEST(NcclTuner, PatIsForOneGpuPerNode) {
  const Fabric fabric = test::fabric_of(R"({"format": "forestcoll-topology", "version": 1,
    "name": "hosts", "nodes": [{"id": "gpu[0-31]", "type": "compute"},
                               {"id": "ib", "type": "switch"}],
    "links": [{"src": "gpu[0-31]", "dst": "ib", "bandwidth": 25, "kind": "ib"}]})");
  EXPECT_EQ(nccl_communicator(fabric.topology).nodes, 32);
  const NcclTuning gather = tuned(fabric, Collective::allgather, {1024});
  EXPECT_EQ(gather.sizes.front().best.algorithm, "pat");
  EXPECT_EQ(gather.sizes.front().best.protocol, "simple");
}

TEST(NcclTuner, KnowsNoAlltoall) {
  NcclTunerOptions options;
  options.compile.synthesis.collective = Collective::alltoall;
  options.sizes = {1024};
  const auto tuning = tune_nccl(test::star_of(4), options);
  ASSERT_FALSE(tuning);
  EXPECT_EQ(tuning.errors().front().code, Code::B06);
}

NcclTuning two_rules() {
  constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
  return {.collective = Collective::reduce_scatter,
          .rules = {{0, 65535, {"ring", "ll", 1e-5}}, {65536, kEnd, {"ring", "ll128", 1e-4}}},
          .otherwise = {{0, kEnd, {"ring", "simple", 2e-5}}},
          .sizes = {}};
}

// As the plugins are documented: see the header of the functions.
TEST(NcclTuner, WritesTheRowsOfBothPlugins) {
  const Fabric fabric = test::boxes_of_two(2);
  const std::vector<NcclTuning> tunings = {two_rules()};
  const std::string example = to_nccl_tuner_csv(tunings, fabric.topology);
  EXPECT_THAT(example, HasSubstr("\nreducescatter,0,65535,ring,ll,0,2,4,-1,-1\n"
                                 "reducescatter,65536,9223372036854775807,ring,ll128,0,2,4,-1,-1\n"
                                 "reducescatter,0,9223372036854775807,ring,simple,0,2,4,-1,-1\n"));
  const std::string ncclx = to_ncclx_tuner_csv(tunings, fabric.topology);
  EXPECT_THAT(ncclx, HasSubstr("\nreducescatter,[0,16383],ring,ll,0,2,2\n"
                               "reducescatter,[16384,),ring,ll128,0,2,2\n"
                               "reducescatter,[0,),ring,simple,0,2,2\n"));
  for (const std::string& text : {example, ncclx}) {
    const auto verdict = verify(text, "rules", &fabric.topology, {});
    ASSERT_TRUE(verdict);
    EXPECT_TRUE(verdict->ok) << to_string(verdict->findings.front());
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) EXPECT_LT(line.size(), 200U);
  }
}

// NCCLX divides by the nodes times the ranks of a node, here 6, and rounds down: 65536 is in the
// second row.
TEST(NcclTuner, UnevenNodesAreCountedAsNcclxDoes) {
  const Fabric fabric = test::fabric_of(R"({"format": "forestcoll-topology", "version": 1,
    "name": "uneven",
    "templates": {"four": {"nodes": [{"id": "gpu[0-3]", "type": "compute"}]},
                  "three": {"nodes": [{"id": "gpu[0-2]", "type": "compute"}]}},
    "boxes": [{"id": "a", "template": "four"}, {"id": "b", "template": "three"}],
    "nodes": [{"id": "ib", "type": "switch"}],
    "links": [{"src": "a/gpu[0-3]", "dst": "ib", "bandwidth": 25, "kind": "ib"},
              {"src": "b/gpu[0-2]", "dst": "ib", "bandwidth": 25, "kind": "ib"}]})");
  const std::vector<NcclTuning> tunings = {two_rules()};
  const std::string text = to_ncclx_tuner_csv(tunings, fabric.topology);
  EXPECT_THAT(text, HasSubstr("\nreducescatter,[0,10921],ring,ll,0,2,3\n"
                              "reducescatter,[10922,),ring,ll128,0,2,3\n"));
  const auto verdict = verify(text, "rules", &fabric.topology, {});
  ASSERT_TRUE(verdict);
  EXPECT_TRUE(verdict->ok) << to_string(verdict->findings.front());
}

// A name with a line of its own would be a row.
TEST(NcclTuner, NamesStayInTheirLine) {
  Topology topology = test::star_of(4).topology;
  topology.name = "a\nallreduce,0,1,tree,ll,1,1,4\n" + std::string(300, 'x');
  const std::string text = to_nccl_tuner_csv({}, topology);
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
  EXPECT_THAT(text, HasSubstr("a?allreduce"));
}

}  // namespace
}  // namespace forestcoll
