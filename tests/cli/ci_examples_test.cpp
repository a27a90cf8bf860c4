// The CI examples of tools/scripts, read as what they are, YAML, and run with stand-ins for what
// they call. Not compiled where yaml-cpp is left out.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <string>
#include <vector>

#include "cli/batch.hpp"
#include "cli/program.hpp"
#include "cli/stub_path.hpp"

namespace forestcoll::testing {
namespace {

namespace fs = std::filesystem;

YAML::Node example(const std::string& name) {
  return YAML::LoadFile(tool("scripts/ci-examples/" + name));
}

// A GitHub step by its name or by the action that it uses.
YAML::Node step(const YAML::Node& workflow, const std::string& name) {
  for (const YAML::Node& each : workflow["jobs"]["batch"]["steps"]) {
    for (const char* key : {"name", "uses"}) {
      if (each[key] && each[key].as<std::string>() == name) return each;
    }
  }
  ADD_FAILURE() << "no step " << name;
  return {};
}

// A repository with two topologies, where scripts of a job run.
class CiJob {
 public:
  CiJob() : path_({"env", "bash", "test", "cp", "cat"}) {
    path_.add_program();
    fs::create_directories(scratch_ / "fabrics");
    fs::create_directories(scratch_ / ".forestcoll/build/release/bin");
    fs::create_symlink(program_path(), scratch_ / ".forestcoll/build/release/bin/forestcoll");
    set_bandwidth("15");
  }
  void set_bandwidth(const std::string& bandwidth) const {
    scratch_.write("fabrics/a.json", pair_topology(bandwidth));
    scratch_.write("fabrics/b.json", pair_topology("7"));
  }
  // As a runner does it: the first command that fails ends the job.
  [[nodiscard]] Result run(const std::string& script,
                           std::vector<std::string> environment = {}) const {
    environment.push_back(path_.setting());
    return testing::run({"-e", "-o", "pipefail", "-c", script},
                        {.environment = std::move(environment),
                         .before_exec = [this] { ASSERT_EQ(chdir((scratch_ / "").c_str()), 0); },
                         .program = kBash});
  }
  [[nodiscard]] std::string operator/(const std::string& name) const { return scratch_ / name; }

 private:
  Scratch scratch_;
  Path path_;
};

TEST(CiExamples, GithubCachesAreOfOneProgram) {
  const YAML::Node workflow = example("github-actions.yml");
  const std::string hash = "${{ steps.forestcoll.outputs.hash }}";
  EXPECT_THAT(step(workflow, "Build forestcoll")["run"].as<std::string>(),
              HasSubstr("hash=$(sha256sum < build/release/bin/forestcoll"));
  EXPECT_EQ(step(workflow, "Build forestcoll")["id"].as<std::string>(), "forestcoll");
  const YAML::Node restored = step(workflow, "Restore schedules")["with"];
  for (const char* key : {"key", "restore-keys"}) {
    EXPECT_THAT(restored[key].as<std::string>(), HasSubstr("schedules-" + hash + "-"));
  }
  const YAML::Node saved = step(workflow, "Save schedules")["with"];
  for (const char* key : {"key", "path"}) {
    EXPECT_EQ(saved[key].as<std::string>(), restored[key].as<std::string>());
  }
}

// What stands is kept for the next run, whether this one went well or not.
TEST(CiExamples, SchedulesAndReportsAreKeptAfterAFailure) {
  const YAML::Node workflow = example("github-actions.yml");
  for (const char* name :
       {"Save schedules", "Keep the report for later comparisons", "Save the baseline"}) {
    EXPECT_THAT(step(workflow, name)["if"].as<std::string>(), StartsWith("always() && "));
  }
  const YAML::Node pipeline = example("gitlab-ci.yml");
  for (const char* name : {"schedules", "baseline"}) {
    EXPECT_EQ(pipeline[name]["cache"]["when"].as<std::string>(), "always") << name;
  }
  for (const char* name : {"schedules", ".report"}) {
    EXPECT_EQ(pipeline[name]["artifacts"]["when"].as<std::string>(), "always") << name;
  }
}

TEST(CiExamplesLong, GithubComparesWithTheBaselineOrFails) {
  const YAML::Node synthesise = step(example("github-actions.yml"), "Synthesise");
  const std::string script = synthesise["run"].as<std::string>();
  EXPECT_THAT(synthesise["env"]["BASELINE"].as<std::string>(), HasSubstr("'baseline.json'"));
  const CiJob job;
  const auto main = job.run(script, {"BASELINE="});
  ASSERT_EQ(main.code, 0) << main.err;
  const auto missing = job.run(script, {"BASELINE=baseline.json"});
  EXPECT_EQ(missing.code, 4);
  EXPECT_THAT(missing.err, HasSubstr("--baseline: cannot read"));
  fs::copy_file(job / "schedules/report.json", job / "baseline.json");
  EXPECT_EQ(job.run(script, {"BASELINE=baseline.json"}).code, 0);
  job.set_bandwidth("14");
  const auto slower = job.run(script, {"BASELINE=baseline.json"});
  EXPECT_EQ(slower.code, 1);
  // A percent sign is escaped in annotations.
  EXPECT_THAT(slower.out, HasSubstr("rate 15.00 -> 14.00 GB/s (-6.7 %25)"));
  EXPECT_THAT(read_file(job / "schedules/report.md"), HasSubstr("15.00 -> 14.00 GB/s (-6.7 %)"));
}

TEST(CiExamples, GithubKeepsOneComment) {
  const std::string script =
      step(example("github-actions.yml"), "Comment")["with"]["script"].as<std::string>();
  EXPECT_THAT(script, AllOf(HasSubstr("updateComment"), HasSubstr("createComment"),
                            HasSubstr("paginate"), HasSubstr("startsWith(mark)")));
}

// As a runner does it: one script of all lines.
std::string script_of(const YAML::Node& job) {
  std::string script;
  for (const auto& line : job["script"].as<std::vector<std::string>>()) script += line + "\n";
  return script;
}

TEST(CiExamples, GitlabSharesTheBaselineAmongAllBranches) {
  const YAML::Node pipeline = example("gitlab-ci.yml");
  for (const auto& [name, policy] :
       {std::pair<std::string, std::string>("compare", "pull"), {"baseline", "push"}}) {
    const YAML::Node cache = pipeline[name]["cache"];
    EXPECT_EQ(cache["key"].as<std::string>(), "schedules-baseline");
    EXPECT_TRUE(cache["unprotect"].as<bool>());
    EXPECT_EQ(cache["policy"].as<std::string>(), policy);
  }
  EXPECT_FALSE(pipeline["schedules"]["cache"]["unprotect"]);
}

TEST(CiExamplesLong, GitlabComparesWithTheBaselineOrFails) {
  const YAML::Node pipeline = example("gitlab-ci.yml");
  const CiJob job;
  const auto run_all = [&](const std::string& name, const std::vector<std::string>& environment) {
    return job.run(script_of(pipeline[name]), environment);
  };
  const auto make_shards = [&] {
    for (int i = 1; i <= 4; ++i) {
      const auto shard =
          run_all("schedules", {fmt::format("CI_NODE_INDEX={}", i), "CI_NODE_TOTAL=4"});
      EXPECT_EQ(shard.code, 0) << shard.err;
    }
  };
  make_shards();
  const auto missing = run_all("compare", {});
  EXPECT_EQ(missing.code, 4);
  EXPECT_THAT(missing.err, HasSubstr("--baseline: cannot read"));
  ASSERT_EQ(run_all("baseline", {}).code, 0);
  EXPECT_EQ(run_all("compare", {}).code, 0);
  job.set_bandwidth("14");
  make_shards();
  const auto slower = run_all("compare", {});
  EXPECT_EQ(slower.code, 1);
  EXPECT_THAT(slower.err, HasSubstr("rate 15.00 -> 14.00 GB/s (-6.7 %)"));
}

TEST(CiExamplesLong, GitlabKeepsTheBaselineWhereAnItemFailed) {
  const YAML::Node pipeline = example("gitlab-ci.yml");
  const CiJob job;
  job.set_bandwidth("none");  // a broken topology beside a good one
  for (int i = 1; i <= 4; ++i) {
    const auto shard = job.run(script_of(pipeline["schedules"]),
                               {fmt::format("CI_NODE_INDEX={}", i), "CI_NODE_TOTAL=4"});
    EXPECT_EQ(shard.code, 0) << shard.err;
  }
  EXPECT_EQ(job.run(script_of(pipeline["baseline"])).code, 1);
  EXPECT_TRUE(fs::exists(job / "baseline.json"));
}

}  // namespace
}  // namespace forestcoll::testing
