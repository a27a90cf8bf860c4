// `forestcoll synth --deploy`: everything that it takes to run a schedule on GPUs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/batch.hpp"
#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

Result synth(const std::string& fabric, const std::vector<std::string>& more) {
  return run(joined({"synth", fabric}, with_trees(more)));
}

// Two boxes whose ranks take turns.
std::string interleaved() {
  return R"({"format": "forestcoll-topology", "version": 1, "name": "turns",
 "nodes": [{"id": "a0", "type": "compute", "box": "a"}, {"id": "a1", "type": "compute", "box": "a"},
           {"id": "b0", "type": "compute", "box": "b"}, {"id": "b1", "type": "compute", "box": "b"},
           {"id": "sw", "type": "switch"}],
 "links": [{"src": "a[0-1]", "dst": "sw", "bandwidth": 25}, {"src": "b[0-1]", "dst": "sw", "bandwidth": 25}],
 "rank_order": ["a1", "b0", "a0", "b1"]})";
}

// A shell that reads env.sh and says what a variable is then; programs in PATH are stand-ins.
Result bash(const std::string& script) {
  return run({"-c", script}, {.program = "/bin/bash"});
}

TEST(SynthDeployLong, WritesAScheduleThatVerifiesAndItsEnvironment) {
  const Scratch scratch;
  const std::string directory = scratch / "out";
  const auto made = synth(topology("dgx-a100-x2"), {"--deploy", directory});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.err, HasSubstr("next: put the hosts' names into " + directory + "/hosts"));
  EXPECT_THAT(keys(files_below(directory)),
              ElementsAre("README.txt", "algorithms/allreduce-16gpus-16chunks.xml", "env.sh",
                          "hosts", "run.sh"));
  run_well({"verify", directory + "/algorithms/allreduce-16gpus-16chunks.xml"});
  const auto files = files_below(directory);
  EXPECT_THAT(files.at("hosts"), HasSubstr("box0 slots=8\nbox1 slots=8\n"));
  EXPECT_THAT(files.at("README.txt"), HasSubstr("   8  box1  0  box1/gpu0\n"));
  const auto value = bash(". " + directory + "/env.sh && echo $MSCCL_ALGO_DIR");
  EXPECT_EQ(value.out, directory + "/algorithms\n") << value.err;
}

TEST(SynthDeployLong, AnAlltoallToo) {
  const Scratch scratch;
  const std::string directory = scratch / "out";
  const auto made = synth(topology("dgx-1-v100"), {"-c", "alltoall", "--deploy", directory});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.err, HasSubstr("next: put the hosts' names into " + directory + "/hosts"));
  const auto files = files_below(directory);
  ASSERT_EQ(files.size(), 5U);
  const std::string schedule =
      files.begin()->first == "README.txt" ? std::next(files.begin())->first : files.begin()->first;
  EXPECT_THAT(schedule, HasSubstr("algorithms/alltoall-8gpus-"));
  EXPECT_EQ(run({"verify", directory + "/" + schedule}).code, 0);
  EXPECT_THAT(files.at("run.sh"), HasSubstr("test=${1:-alltoall_perf}"));
  EXPECT_THAT(files.at("README.txt"), AllOf(HasSubstr("alltoall over the 8 GPUs"),
                                            HasSubstr("Only calls of ncclAllToAll")));
  EXPECT_THAT(synth(topology("dgx-1-v100"), {"-c", "alltoall", "--deploy", directory}).err,
              HasSubstr("is not empty"));
  EXPECT_THAT(synth(topology("dgx-1-v100"),
                    {"-c", "alltoall", "--format", "flows", "--deploy", directory + "2"})
                  .err,
              HasSubstr("--deploy is for what runtimes load"));
}

// The launcher's line, as a launcher would see it.
TEST(SynthDeploy, LauncherLineHasTheSizesAndTheOrderOfRanks) {
  const Scratch scratch;
  const std::string directory = scratch / "out";
  const auto made =
      synth(topology("dgx-a100-x2"), {"-k", "3", "--sizes", "1M:64M", "--deploy", directory});
  ASSERT_EQ(made.code, 0) << made.err;
  scratch.write("mpirun", "#!/bin/sh\necho \"$@\"\n");
  const auto line = bash("chmod +x " + (scratch / "mpirun") + " && PATH=" + (scratch / "") +
                         ":$PATH bash " + directory + "/run.sh /opt/all_reduce_perf -G 1");
  EXPECT_EQ(line.code, 0) << line.err;
  // 48 chunks of elements of 4 bytes: multiples of 192 bytes, from 1 MiB on.
  EXPECT_THAT(line.out, AllOf(HasSubstr("-np 16 --hostfile " + directory + "/hosts --map-by slot"),
                              HasSubstr("-x MSCCL_ALGO_DIR"),
                              HasSubstr("/opt/all_reduce_perf -b 1048704 -e 67108864 -f 2"),
                              HasSubstr("-G 1\n")));
}

TEST(SynthDeploy, RanksThatTakeTurnsGetARankfileAndAWordOfTheGpus) {
  const Scratch scratch;
  const std::string directory = scratch / "out";
  const auto made = synth(scratch.write("turns.json", interleaved()), {"--deploy", directory});
  ASSERT_EQ(made.code, 0) << made.err;
  const auto files = files_below(directory);
  EXPECT_THAT(files.at("hosts"), HasSubstr("rank 0=a slot=0\nrank 1=b slot=0\nrank 2=a slot=1\n"));
  EXPECT_THAT(files.at("run.sh"), HasSubstr("--rankfile"));
  EXPECT_THAT(files.at("README.txt"),
              AllOf(HasSubstr("CUDA_VISIBLE_DEVICES"), HasSubstr("   0  a  1  a1\n")));
}

// GPUs of a host that are in no group count, too: ranks take the GPUs that the topology names.
TEST(SynthDeploy, AGroupOfTheLastGpusNamesThem) {
  const Scratch scratch;
  const std::string directory = scratch / "group";
  const auto made =
      synth(topology("dgx-a100-x2"), {"--members", "box[0-1]/gpu[6-7]", "--deploy", directory});
  ASSERT_EQ(made.code, 0) << made.err;
  const std::string readme = files_below(directory).at("README.txt");
  EXPECT_THAT(readme, HasSubstr("   2  box1  6  box1/gpu6\n"));
  EXPECT_THAT(readme, HasSubstr("CUDA_VISIBLE_DEVICES"));
  EXPECT_THAT(files_below(directory).at("hosts"), HasSubstr("box0 slots=2\nbox1 slots=2\n"));
}

TEST(SynthDeployLong, TunedFilesSortBySizeAndServeDisjointWindows) {
  const Scratch scratch;
  const std::string directory = scratch / "out";
  const auto made = synth(topology("dgx-a100-x1"),
                          {"--tune", "4K:256M:16", "--target", "rccl-6.3", "--deploy", directory});
  ASSERT_EQ(made.code, 0) << made.err;
  const auto files = files_below(directory);
  EXPECT_GT(files.size(), 5U);
  EXPECT_THAT(files.at("env.sh"), HasSubstr("export RCCL_MSCCL_FORCE_ENABLE=\"1\""));
  EXPECT_THAT(files.at("run.sh"), HasSubstr("-b 4096 -e 268435456"));
}

TEST(SynthDeploy, ResearchRuntimeGetsItsFilesByName) {
  const Scratch scratch;
  const std::string directory = scratch / "out";
  const auto made = synth(topology("dgx-a100-x1"), {"--target", "msccl", "--deploy", directory});
  ASSERT_EQ(made.code, 0) << made.err;
  const auto value = bash(". " + directory +
                          "/env.sh && echo $MSCCL_XML_FILES $NCCL_ALGO && cat "
                          "$MSCCL_XML_FILES > /dev/null");
  EXPECT_EQ(value.code, 0) << value.err;
  EXPECT_THAT(value.out, HasSubstr(".xml MSCCL,RING,TREE\n"));
}

// The module runs against a stand-in of MSCCL++'s public interface: what it registers, and what it
// selects for a call.
constexpr const char* kStandIn = R"py(
import json, sys, types
registered, selectors = [], []
class Algorithm:
    class Constraint:
        def __init__(self, world_size=0, n_ranks_per_node=0):
            self.sizes = (world_size, n_ranks_per_node)
    def __init__(self, id=None, execution_plan=None, native_handle=None, tags=None, constraint=None):
        self.id, self.plan, self.constraint = id, execution_plan, constraint
class ExecutionPlan:
    def __init__(self, path, rank):
        with open(path) as file:
            self.name = json.load(file)["name"]
        self.rank = rank
class AlgorithmCollectionBuilder:
    def add_algorithm_builder(self, algorithm):
        registered.append(algorithm)
    def set_algorithm_selector(self, selector):
        selectors.append(selector)
mscclpp = types.ModuleType("mscclpp")
mscclpp.Algorithm, mscclpp.ExecutionPlan = Algorithm, ExecutionPlan
mscclpp.ext = types.ModuleType("mscclpp.ext")
(mscclpp.ext if EXT else mscclpp).AlgorithmCollectionBuilder = AlgorithmCollectionBuilder
sys.modules["mscclpp"] = mscclpp
if EXT:
    sys.modules["mscclpp.ext"] = mscclpp.ext
import forestcoll_plans
forestcoll_plans.register(rank=3)
[algorithm] = registered
assert algorithm.plan.rank == 3
assert algorithm.constraint.sizes == (0, 0), "the rule of the shim would take it, too"
known = {COLLECTIVE: {algorithm.plan.name: algorithm}}
begin = lambda pointer: pointer
def ask(collective, size, source, target, world_size=16, rank=3, type="float16", hosts=8, root=0):
    forestcoll_plans.begin_of_allocation = begin
    request = types.SimpleNamespace(collective=collective, message_size=size, input_buffer=source,
                                    output_buffer=target, world_size=world_size, rank=rank,
                                    dtype="DataType." + type, n_ranks_per_node=hosts,
                                    hints={"root": [root]} if collective == "broadcast" else {})
    found = selectors[0](known, request)
    return found is algorithm if found else False
)py";

class SynthDeployPlansLong : public ::testing::Test {
 protected:
  void deploy(const std::string& collective, const std::vector<std::string>& more = {}) {
    std::vector<std::string> arguments = {"-c",      collective, "-k",     "1",        "--format",
                                          "mscclpp", "--sizes",  "64K:1M", "--deploy", directory_};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto made = synth(topology("dgx-a100-x2"), arguments);
    ASSERT_EQ(made.code, 0) << made.err;
  }
  // Runs the stand-in, and then these assertions.
  void expect(const std::string& collective, const std::string& assertions, bool ext = true) {
    const std::string script = std::string("EXT = ") + (ext ? "True" : "False") +
                               "\nCOLLECTIVE = \"" + collective + "\"\n" + kStandIn + assertions;
    const auto python = bash("cd " + directory_ + " && python3 -B -W error -c '" + script + "'");
    EXPECT_EQ(python.code, 0) << python.err << script;
  }
  Scratch scratch_;
  std::string directory_ = scratch_ / "out";
};

TEST_F(SynthDeployPlansLong, ModuleRegistersThePlanAndSelectsItBySizeAndPlacement) {
  deploy("allreduce");
  const auto compiled = bash("python3 -m py_compile " + directory_ + "/forestcoll_plans.py");
  EXPECT_EQ(compiled.code, 0) << compiled.err;
  const std::string assertions =
      "assert ask(\"allreduce\", 1 << 16, 8, 8)\n"
      "assert ask(\"allreduce\", 1 << 20, 8, 8)\n"
      "assert not ask(\"allreduce\", (1 << 20) + 256, 8, 8), \"above the window\"\n"
      "assert not ask(\"allreduce\", (1 << 16) - 256, 8, 8), \"below the window\"\n"
      "assert not ask(\"allreduce\", (1 << 16) + 4, 8, 8), \"chunks of fractions\"\n"
      "assert not ask(\"allreduce\", 1 << 16, 8, 9), \"out of place\"\n"
      "assert not ask(\"broadcast\", 1 << 16, 8, 8)\n"
      "assert not ask(\"allreduce\", 1 << 16, 8, 8, world_size=8)\n";
  expect("allreduce", assertions);
  expect("allreduce", assertions, false);
}

// The executor launches nothing for 8-bit floats, and ports send from the beginning of an
// allocation. A selector that named the wrong plan would give wrong data, not an error.
TEST_F(SynthDeployPlansLong, ModuleLeavesCallsThatThePlanIsNotRightFor) {
  deploy("allreduce");
  expect("allreduce",
         "assert ask(\"allreduce\", 1 << 16, 8, 8, type=\"float32\")\n"
         "assert not ask(\"allreduce\", 1 << 16, 8, 8, type=\"float8_e4m3fn\")\n"
         "assert not ask(\"allreduce\", 1 << 16, 8, 8, type=\"uint8\")\n"
         "assert ask(\"allreduce\", 1 << 16, 8, 8, hosts=4), \"a domain of two hosts\"\n"
         "assert not ask(\"allreduce\", 1 << 16, 8, 8, hosts=16)\n"
         "begin = lambda pointer: pointer - 8\n"
         "assert not ask(\"allreduce\", 1 << 16, 8, 8), \"within an allocation\"\n"
         "begin = lambda pointer: None\n"
         "assert not ask(\"allreduce\", 1 << 16, 8, 8), \"nobody knows\"\n"
         "begin = lambda pointer: pointer\n"
         "try:\n    ask(\"allreduce\", 1 << 16, 8, 8, rank=5)\n"
         "except RuntimeError as error:\n    assert \"as rank 5\" in str(error)\n"
         "else:\n    raise AssertionError(\"ranks in another order\")\n");
  EXPECT_THAT(files_below(directory_).at("README.txt"),
              AllOf(HasSubstr("The plans add."), HasSubstr("must begin their allocations")));
}

TEST_F(SynthDeployPlansLong, OldReleasesJoinTheRanksOfOneHostAlone) {
  deploy("allreduce", {"--target", "mscclpp-0.9"});
  expect("allreduce",
         "assert ask(\"allreduce\", 1 << 16, 8, 8)\n"
         "assert not ask(\"allreduce\", 1 << 16, 8, 8, hosts=4)\n");
}

TEST_F(SynthDeployPlansLong, ModuleAsksForTheRootOfABroadcast) {
  deploy("broadcast", {"--root", "box0/gpu2"});
  expect("broadcast",
         "assert ask(\"broadcast\", 1 << 16, 8, 8, root=2)\n"
         "assert not ask(\"broadcast\", 1 << 16, 8, 8, root=0)\n");
}

TEST_F(SynthDeployPlansLong, ForAnyBuffersItTakesPartsOfAllocations) {
  deploy("allreduce", {"--any-buffers"});
  expect("allreduce",
         "begin = lambda pointer: pointer - 8\nassert ask(\"allreduce\", 1 << 16, 8, 8)\n");
  EXPECT_THAT(files_below(directory_).at("README.txt"), Not(HasSubstr("allocations")));
}

// Two boxes of eight are of those that the shim knows names for.
TEST_F(SynthDeployPlansLong, LauncherHasTheShimLoadPlansUnderItsOwnNames) {
  deploy("allreduce");
  auto files = files_below(directory_);
  const auto plans = files.lower_bound("plans/allreduce-16gpus-");
  ASSERT_NE(plans, files.end());
  const std::string plan = plans->second;
  EXPECT_EQ(files.at("cache/default/allreduce_2nodes_1K_64K.json"), plan);
  EXPECT_EQ(files.count("cache/default/allreduce_2nodes_128K_2M.json"), 0U);
  EXPECT_THAT(files.at("run.sh"), AllOf(HasSubstr("export MSCCLPP_CACHE_DIR=\"$here/cache\"\n"),
                                        HasSubstr(" -x MSCCLPP_CACHE_DIR")));
  EXPECT_THAT(files.at("env.sh"), Not(HasSubstr("MSCCLPP_CACHE_DIR")));
}

TEST_F(SynthDeployPlansLong, ShimWouldTakeAReduceScatterInPlaceForOneOutOfPlace) {
  deploy("reduce_scatter");
  EXPECT_THAT(files_below(directory_).at("run.sh"), Not(HasSubstr("CACHE")));
}

// An allgather's request has the bytes that one rank sends, and in place its part of the output.
TEST_F(SynthDeployPlansLong, ModuleKnowsWhatAMessageSizeIs) {
  deploy("allgather");
  expect("allgather",
         "assert ask(\"allgather\", 1 << 12, 3 << 12, 0)\n"
         "assert ask(\"allgather\", 1 << 16, 3 << 16, 0)\n"
         "assert not ask(\"allgather\", 1 << 17, 3 << 17, 0)\n"
         "assert not ask(\"allgather\", 1 << 12, 0, 0), \"out of place\"\n");
}

TEST_F(SynthDeployPlansLong, ReduceScatterHasItsNameInTheShim) {
  deploy("reduce_scatter");
  expect("reducescatter",
         "assert ask(\"reducescatter\", 1 << 16, 0, 3 << 12)\n"
         "assert not ask(\"reducescatter\", 1 << 16, 0, 0)\n");
}

TEST(SynthDeployLong, IsRefusedInWords) {
  const Scratch scratch;
  scratch.write("full", "");
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"--format", "forest", "--deploy", scratch / "out"}, "--deploy is for what runtimes load"},
      {{"-o", "x.xml", "--deploy", scratch / "out"}, "--deploy stands in place of -o"},
      {{"--deploy", scratch / ""}, "is not empty"},
      {{"--deploy", scratch / "full"}, "is no directory"},
      {{"--tune", "1K:1G:2", "--target", "msccl", "--deploy", scratch / "out"},
       "the research runtime loads 4 files"}};
  for (const auto& [arguments, message] : cases) {
    const auto refused = synth(topology("dgx-a100-x1"), arguments);
    EXPECT_EQ(refused.code, 2) << message;
    EXPECT_THAT(refused.err, AllOf(HasSubstr(message), HasSubstr("[S04]")));
  }
  EXPECT_THAT(scratch.names(), ElementsAre("full"));
}

TEST(SynthDeploy, WithoutItTheSummaryEndsWithAWordOfIt) {
  const Scratch scratch;
  const auto file = synth(topology("dgx-a100-x1"), {"-o", scratch / "a.xml"});
  EXPECT_THAT(file.err, HasSubstr("\n  next: --deploy DIR in place of -o"));
  const auto none = synth(topology("dgx-a100-x1"), {"--format", "none"});
  EXPECT_THAT(none.err, Not(HasSubstr("next:")));
}

}  // namespace
}  // namespace forestcoll::testing
