// The scripts of tools/, with stand-ins for what they call.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/batch.hpp"
#include "cli/program.hpp"
#include "cli/stub_path.hpp"

namespace forestcoll::testing {
namespace {

namespace fs = std::filesystem;

TEST(SlurmArray, WithoutSlurmItSaysWhatIsMissing) {
  const BatchDirectories batch;
  const Path path({"env", "bash", "sed", "realpath", "mkdir", "rm"});
  path.add_program();
  const auto result = run({tool("scripts/slurm-array"), "4", batch.in(), batch.out()},
                          {.environment = {path.setting()}, .program = kBash});
  EXPECT_EQ(result.code, 4);
  EXPECT_THAT(result.err, AllOf(HasSubstr("sbatch"), HasSubstr("login node"),
                                HasSubstr("forestcoll batch " + batch.in() + " -o " + batch.out()),
                                HasSubstr("--shard I/4")));
  EXPECT_FALSE(fs::exists(batch.out())) << "nothing is begun";
  // Wrong usage is still wrong usage, and with sbatch it goes on.
  const RunOptions options = {.environment = {path.setting()}, .program = kBash};
  EXPECT_EQ(run({tool("scripts/slurm-array"), "none", batch.in(), batch.out()}, options).code, 2);
  path.add_script("sbatch", "echo 17\n");
  const auto submitted =
      run_well({tool("scripts/slurm-array"), "4", batch.in(), batch.out()}, options);
  EXPECT_EQ(submitted.out, "17\n");
}

// On a bare machine, quickstart installs what `topo show --svg` calls.
TEST(Setup, InstallsGraphvizToDraw) {
  const Path path({"env", "bash", "dirname"});
  path.add_script("dpkg-query", "exit 1\n");
  path.add_script("sudo", "echo \"$@\"\n");
  path.add_script("apt-get", "echo \"$@\"\n");
  const auto result =
      run_well({tool("setup"), "build"}, {.environment = {path.setting()}, .program = kBash});
  EXPECT_THAT(result.out, AllOf(HasSubstr("install"), HasSubstr(" graphviz")));
  EXPECT_THAT(read_file(tool("quickstart")),
              AllOf(HasSubstr("tools/setup build"), HasSubstr("--svg")));
}

}  // namespace
}  // namespace forestcoll::testing
