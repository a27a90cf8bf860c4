// `synth --deploy` of process groups: what every rank's runtime reads, and the launcher.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/batch.hpp"
#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

Result deploy(const std::vector<std::string>& more, const std::string& directory) {
  return run(joined({"synth", topology("dgx-a100-x2"), "-k", "1", "--deploy", directory}, more));
}

const std::vector<std::string> kMesh = {"--mesh",           "tp=8,dp=2", "--at-once",
                                        "allgather tp 64M", "--at-once", "allreduce dp 1G"};

Result bash_in(const std::string& directory, const std::string& script,
               const std::vector<std::string>& environment = {}) {
  RunOptions options;
  options.program = "/bin/bash";
  options.environment = environment;
  return run({"-c", "cd " + directory + " && " + script}, options);
}

TEST(SynthDeployJob, GroupsOfOneProgramShareAFolder) {
  const Scratch scratch;
  const std::string directory = scratch / "out";
  const auto made = deploy(kMesh, directory);
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.err, HasSubstr("next: put the hosts' names into " + directory + "/hosts"));
  const auto files = files_below(directory);
  EXPECT_EQ(files.count("folders"), 0U);
  EXPECT_EQ(files.count("algorithms/0-allgather-8gpus-8chunks.xml"), 1U);
  EXPECT_EQ(files.count("algorithms/1-allreduce-2gpus-2chunks.xml"), 1U);
  EXPECT_EQ(files.at("1-allreduce-7.xml"), files.at("algorithms/1-allreduce-2gpus-2chunks.xml"));
  EXPECT_THAT(files.at("README.txt"), AllOf(HasSubstr("operation 1, allreduce dp 1G: 8 groups\n"),
                                            HasSubstr("  1-allreduce-7.xml: ranks 7 15; "),
                                            HasSubstr("   8  box1  0  box1/gpu0\n")));
  EXPECT_THAT(files.at("hosts"), HasSubstr("box0 slots=8\nbox1 slots=8\n"));
  run_well({"verify", directory + "/job.json", "--topology", topology("dgx-a100-x2")});
  EXPECT_EQ(bash_in(directory, ". ./env.sh && echo $MSCCL_ALGO_DIR").out,
            directory + "/algorithms\n");
}

// The launcher's line, as each process would see it.
TEST(SynthDeployJob, LauncherRunsTheGroupsOfAnOperation) {
  const Scratch scratch;
  const std::string directory = scratch / "out";
  ASSERT_EQ(deploy(kMesh, directory).code, 0);
  scratch.write("mpirun",
                "#!/bin/bash\necho \"$NCCL_TESTS_SPLIT\"\n"
                "while [[ $1 != bash ]]; do echo -n \"$1 \"; shift; done\nexec \"$@\"\n");
  const std::string path =
      "chmod +x " + (scratch / "mpirun") + " && PATH=" + (scratch / "") + ":$PATH bash run.sh ";
  const auto all = bash_in(directory, path + "1 echo -G 1");
  EXPECT_EQ(all.code, 0) << all.err;
  EXPECT_THAT(all.out, AllOf(HasSubstr("MOD 8\n"), HasSubstr("-np 16 --hostfile " + directory),
                             HasSubstr("-b 1024 -e 4294967296 -f 2 -d float"), HasSubstr("-G 1")));
  EXPECT_THAT(bash_in(directory, path + "0 echo").out, HasSubstr("DIV 8\n"));
  EXPECT_EQ(bash_in(directory, path + "2 echo").code, 2);
  const auto usage = bash_in(directory, path);
  EXPECT_EQ(usage.code, 2);
  EXPECT_THAT(usage.err, HasSubstr("usage: run.sh OPERATION"));
}

// Groups of two and of three GPUs have other programs, and GPUs in none have nothing of their own.
TEST(SynthDeployJob, RanksOfOtherProgramsHaveAFolderEach) {
  const Scratch scratch;
  const std::string directory = scratch / "out";
  const std::vector<std::string> groups = {"-c", "allreduce", "--groups", "[[0,1],[2,3,4]]"};
  const auto made = deploy(groups, directory);
  ASSERT_EQ(made.code, 0) << made.err;
  const std::string spaced = scratch / "a folder";
  const std::string said = deploy(groups, spaced).err;
  EXPECT_THAT(said, HasSubstr("into '" + spaced + "/hosts'; '" + spaced + "/README.txt'; "));
  EXPECT_THAT(said, Not(HasSubstr("then bash")));  // nccl-tests cannot run these groups
  const auto files = files_below(directory);
  EXPECT_EQ(files.at("folders"), "0\n0\n1\n1\n1\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n0\n");
  const std::string script = ". ./env.sh && echo ${MSCCL_ALGO_DIR##*/} && ls $MSCCL_ALGO_DIR";
  EXPECT_THAT(bash_in(directory, script, {"SLURM_PROCID=3"}).out,
              HasSubstr("1\n0-allreduce-3gpus"));
  EXPECT_THAT(bash_in(directory, script, {"OMPI_COMM_WORLD_RANK=1"}).out,
              HasSubstr("0\n0-allreduce-2gpus"));
  EXPECT_EQ(
      bash_in(directory, "here=1 rank=2; . ./env.sh; echo $here$rank$forestcoll_here", {"RANK=1"})
          .out,
      "12\n");
  EXPECT_THAT(bash_in(directory, script).err, HasSubstr("asks for the rank"));
  EXPECT_THAT(bash_in(directory, "bash run.sh 0").err, HasSubstr("cannot run these groups"));
}

// A runtime sees the collective, the ranks and the size of a call, and not its group.
TEST(SynthDeployJob, OperationsThatARuntimeMistakesAreNamed) {
  const Scratch scratch;
  const auto made =
      deploy({"--mesh", "x=4,y=4", "--at-once", "allgather x", "--at-once", "allgather y"},
             scratch / "out");
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_THAT(made.err, HasSubstr("operations 0 and 1 are alike to a runtime (allgather of 4"));
  EXPECT_THAT(read_file(scratch / "out/README.txt"),
              HasSubstr("communicator of as many ranks as a group must be one of these groups"));
}

// Chunks of six GPUs ask for sixes of elements, and those of four for fours: twelve of 4 bytes.
TEST(SynthDeployJob, LauncherHasSizesForAllGroups) {
  const Scratch scratch;
  const std::string directory = scratch / "out";
  ASSERT_EQ(deploy({"-c", "allreduce", "--groups", "DIV 6"}, directory).code, 0);
  EXPECT_THAT(read_file(directory + "/run.sh"),
              HasSubstr("split=\"DIV 6\" sizes=\"-b 1056 -e 4294967296 -f 2\""));
}

// Runtimes go through files by name.
TEST(SynthDeployJob, FilesSortLikeOperations) {
  const Scratch scratch;
  const std::string directory = scratch / "out";
  std::vector<std::string> words = {"--mesh", "tp=8,dp=2"};
  for (int i = 0; i < 11; ++i) {
    words = joined(words, {"--at-once", i % 2 == 0 ? "allgather dp" : "allreduce dp"});
  }
  ASSERT_EQ(deploy(words, directory).code, 0);
  const auto files = files_below(directory);
  EXPECT_EQ(files.count("algorithms/02-allgather-2gpus-2chunks.xml"), 1U);
  EXPECT_EQ(files.count("algorithms/10-allgather-2gpus-2chunks.xml"), 1U);
}

// One communicator's ranks are of other groups of the first operation, whose schedules differ.
TEST(SynthDeployJob, SchedulesThatWouldMeetInOneCallAreRefused) {
  const Scratch scratch;
  const std::string directory = scratch / "out";
  const std::vector<std::string> mesh = {"--mesh",      "x=4,y=4",   "--at-once",
                                         "allgather x", "--at-once", "allgather y"};
  const auto plans = deploy(joined(mesh, {"--format", "mscclpp"}), directory);
  EXPECT_EQ(plans.code, 2);
  EXPECT_THAT(plans.err, AllOf(HasSubstr("[S04]"), HasSubstr("operations 0 and 1 are alike"),
                               HasSubstr("deploy one operation at a time")));
  const std::vector<std::string> other = {"--mesh",      "x=4,y=4",   "--at-once",
                                          "allgather y", "--at-once", "allgather x"};
  const auto files = run(
      joined({"synth", topology("dgx-a100-x2-degraded"), "-k", "1", "--deploy", directory}, other));
  EXPECT_EQ(files.code, 2);
  EXPECT_THAT(files.err, HasSubstr("operations 0 and 1 are alike"));
  EXPECT_TRUE(scratch.names().empty());
}

// A process loads the plans of its own groups, and gives each its rank there.
TEST(SynthDeployJob, PlansAreRegisteredByGroup) {
  const Scratch scratch;
  const std::string directory = scratch / "out";
  const auto made =
      deploy({"--mesh", "tp=8,dp=2", "--at-once", "allgather tp 64M", "--at-once",
              "allgather dp 1G", "--at-once", "allreduce dp 1G", "--format", "mscclpp"},
             directory);
  ASSERT_EQ(made.code, 0) << made.err;
  const auto files = files_below(directory);
  EXPECT_THAT(files.at("forestcoll_plans.py"),
              AllOf(HasSubstr("\"ranks\": range(7, 23, 8),"), HasSubstr("\"per_box\": 1,")));
  EXPECT_THAT(files.at("1-allgather-3.json"), HasSubstr("\"name\":\"op1-allgather-2gpus-k1\""));
  const std::string script = R"py(
import sys, types
loaded = []
class Algorithm:
    Constraint = lambda self=None: None
    def __init__(self, id, execution_plan, tags, constraint):
        self.id, self.plan = id, execution_plan
class Builder:
    add_algorithm_builder = lambda self, each: loaded.append((each.id, each.plan))
    set_algorithm_selector = lambda self, selector: None
mscclpp = types.ModuleType("mscclpp")
mscclpp.Algorithm, mscclpp.AlgorithmCollectionBuilder = Algorithm, Builder
mscclpp.ExecutionPlan = lambda path, rank: (path.rsplit("/")[-1], rank)
sys.modules["mscclpp"] = mscclpp
import forestcoll_plans
forestcoll_plans.register(rank=11)
assert loaded == [
    ("op0-allgather-8gpus-k1", ("0-allgather-1.json", 3)),
    ("op1-allgather-2gpus-k1", ("1-allgather-3.json", 1)),
    ("op2-allreduce-2gpus-k1", ("2-allreduce-3.json", 1)),
], loaded
)py";
  const auto python = bash_in(directory, "python3 -B -c '" + script + "'");
  EXPECT_EQ(python.code, 0) << python.err;
}

TEST(SynthDeployJob, IsRefusedInWords) {
  const Scratch scratch;
  const std::string directory = scratch / "out";
  const std::vector<std::string> groups = {"-c", "allreduce", "--groups", "MOD 8"};
  EXPECT_THAT(deploy(joined(groups, {"--format", "forest"}), directory).err,
              HasSubstr("--deploy is for what runtimes load"));
  EXPECT_THAT(deploy(joined(groups, {"-o", "x"}), directory).err,
              HasSubstr("--deploy stands in place of -o"));
  scratch.write("full", "");
  EXPECT_THAT(deploy(groups, scratch / "").err, HasSubstr("is not empty"));
  EXPECT_THAT(scratch.names(), ElementsAre("full"));
}

}  // namespace
}  // namespace forestcoll::testing
