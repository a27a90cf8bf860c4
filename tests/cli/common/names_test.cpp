// One grammar for sizes, names of collectives, -j and runtimes in all commands.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "cli/compare.hpp"
#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

using Json = nlohmann::json;

Result on_a_pair(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin() + 1, "-");
  return run(arguments, {.input = small_topology()});
}

TEST(NamesLong, CollectivesAreUnderstoodHoweverTheyAreSpelt) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"all_reduce", "allreduce"},         {"all-reduce", "allreduce"},
      {"AllReduce", "allreduce"},          {"reduce-scatter", "reduce_scatter"},
      {"ReduceScatter", "reduce_scatter"}, {"reducescatter", "reduce_scatter"},
      {"all_gather", "allgather"},         {"ALLGATHER", "allgather"}};
  for (const auto& [spelt, name] : cases) {
    const auto synth = on_a_pair({"synth", "-c", spelt, "--format", "none", "--json"});
    ASSERT_EQ(synth.code, 0) << spelt << synth.err;
    EXPECT_EQ(Json::parse(synth.out)["collective"], name) << spelt;
    const auto bound = on_a_pair({"bound", "-c", spelt, "--json"});
    ASSERT_EQ(bound.code, 0) << spelt << bound.err;
    EXPECT_EQ(Json::parse(bound.out)["collective"], name) << spelt;
  }
  const auto compare = on_a_pair({"compare", "--trees", "-c", "All-Gather", "--algorithms", "ring",
                                  "--sizes", "1M", "--json"});
  ASSERT_EQ(compare.code, 0) << compare.err;
  EXPECT_EQ(Json::parse(compare.out)["collective"], "allgather");
}

TEST(Names, AbbreviationsOfTheFieldAreKnown) {
  for (const auto& [spelt, name] :
       std::vector<std::pair<std::string, std::string>>{{"ar", "allreduce"},
                                                        {"AG", "allgather"},
                                                        {"rs", "reduce_scatter"},
                                                        {"a2a", "alltoall"}}) {
    const auto bound = on_a_pair({"bound", "-c", spelt, "--json"});
    ASSERT_EQ(bound.code, 0) << spelt << bound.err;
    EXPECT_EQ(Json::parse(bound.out)["collective"], name) << spelt;
  }
}

TEST(Names, BcastIsWhatMpiCallsABroadcast) {
  for (const std::string spelt : {"bcast", "Bcast", "broadcast"}) {
    const auto synth =
        on_a_pair({"synth", "-c", spelt, "--root", "0", "--format", "none", "--json"});
    ASSERT_EQ(synth.code, 0) << spelt << synth.err;
    EXPECT_EQ(Json::parse(synth.out)["collective"], "broadcast") << spelt;
  }
}

TEST(NamesLong, ABatchWritesTheProperOnes) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "in");
  scratch.write("in/pair.json", small_topology());
  const auto batch = run_well({"batch", scratch / "in", "-o", scratch / "out", "-c",
                               "all-reduce,AllGather", "--in-process"});
  EXPECT_TRUE(std::filesystem::exists(scratch / "out/pair.json/allreduce.xml")) << batch.err;
  EXPECT_TRUE(std::filesystem::exists(scratch / "out/pair.json/allgather.xml"));
  const std::string manifest =
      scratch.write("m.json", R"({"format": "forestcoll-batch-manifest", "version": 1,
  "topologies": [{"path": "pair.json", "collectives": ["Reduce-Scatter"]}]})");
  run_well(
      {"batch", scratch / "in", "-o", scratch / "two", "--manifest", manifest, "--in-process"});
  EXPECT_TRUE(std::filesystem::exists(scratch / "two/pair.json/reduce_scatter.xml"));
}

TEST(NamesLong, AllToAllIsKnownAndUnknownCollectivesAreRefusedInWords) {
  for (const std::string command : {"synth", "bound", "compare"}) {
    for (const std::string name : {"alltoall", "all2all", "all-to-all"}) {
      const auto result = on_a_pair({command, "-c", name});
      EXPECT_EQ(result.code, 0) << command << name << result.err;
    }
    for (const std::string name : {"", "allreduces", "gatherv", "all reduce", "all.reduce"}) {
      const auto result = on_a_pair({command, "-c", name});
      EXPECT_EQ(result.code, 2) << command << name;
      EXPECT_THAT(result.err, AllOf(HasSubstr("there is no collective \"" + name + "\""),
                                    HasSubstr("there are allreduce, allgather"),
                                    HasSubstr("alltoall, scatter, gather"), HasSubstr("[S03]")));
    }
  }
}

// The same sizes, in every option that takes some.
TEST(NamesLong, SizesHaveOneGrammar) {
  const Scratch scratch;
  const std::string schedule = on_a_pair({"synth"}).out;
  const std::string file = scratch.write("a.xml", schedule);
  const std::string fabric = scratch.write("pair.json", small_topology());
  const std::vector<std::string> spellings = {"64K:1M:4", "64KB:1MiB:4", "64K,256k,1M",
                                              "64K,256K:1M:4", "65536,256K,1MB"};
  for (const std::string& sizes : spellings) {
    const auto simulated = run({"simulate", file, fabric, "--sizes", sizes, "--json"});
    ASSERT_EQ(simulated.code, 0) << sizes << simulated.err;
    const auto times = Json::parse(simulated.out)["times"];
    ASSERT_EQ(times.size(), 3U) << sizes;
    EXPECT_EQ(times[1]["bytes"], 262144) << sizes;
    const auto compared =
        run({"compare", fabric, "--trees", "--algorithms", "ring", "--sizes", sizes, "--json"});
    ASSERT_EQ(compared.code, 0) << sizes << compared.err;
    EXPECT_EQ(row(Json::parse(compared.out), "ring")["times"].size(), 3U) << sizes;
    const auto tuned = run({"synth", fabric, "--tune", sizes, "-o", scratch / sizes, "--json"});
    ASSERT_EQ(tuned.code, 0) << sizes << tuned.err;
    const auto files = Json::parse(tuned.out)["files"];
    EXPECT_EQ(files.front()["min_bytes"], 65536) << sizes;
    EXPECT_EQ(files.back()["max_bytes"], 1048576) << sizes;
  }
  // The dash of previous versions.
  const auto dashed = run({"simulate", file, fabric, "--sizes", "64K-1M", "--json"});
  EXPECT_EQ(Json::parse(dashed.out)["times"].size(), 5U) << dashed.err;
}

TEST(NamesLong, TheWindowOfAScheduleTakesThemToo) {
  const auto window = [](const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"synth"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const auto synth = on_a_pair(arguments);
    EXPECT_EQ(synth.code, 0) << synth.err;
    return synth.out;
  };
  for (const std::string sizes : {"64K:16M", "64KB:16MB", "64K,16M", "64K-16M"}) {
    EXPECT_THAT(window({"--sizes", sizes}), HasSubstr(R"(minBytes="65536" maxBytes="16777216")"))
        << sizes;
  }
  EXPECT_THAT(window({"--min-bytes", "64kib", "--max-bytes", "16MB"}),
              HasSubstr(R"(minBytes="65536" maxBytes="16777216")"));
  for (const std::string wrong : {"64K:16M:2", "64K,1M,16M", "64Q", "1M:"}) {
    const auto synth = on_a_pair({"synth", "-k", "auto", "--sizes", wrong});
    EXPECT_EQ(synth.code, 2) << wrong;
    EXPECT_THAT(synth.err, HasSubstr("--sizes: expected one window, MIN:MAX")) << wrong;
  }
}

// Where work is not divided, -j is taken all the same: scripts give it to every command.
TEST(NamesLong, EveryCommandTakesJobs) {
  const Scratch scratch;
  const std::string fabric = scratch.write("pair.json", small_topology());
  const std::string csv = scratch.write("pair.csv", "src,dst,bandwidth\ngpu0,gpu1,25\n");
  const std::string file = scratch.write("a.xml", on_a_pair({"synth"}).out);
  const std::vector<std::vector<std::string>> commands = {
      {"bound", fabric},
      {"verify", file},
      {"topo", "check", fabric},
      {"topo", "show", fabric},
      {"topo", "convert", fabric, "--to", "csv"},
      {"topo", "gen", "ring"},
      {"topo", "import", "csv", csv, "--compute", "gpu*"}};
  const std::vector<std::string> wrong = {"0", "-1", "1025", "many"};
  std::size_t tried = 0;
  for (const auto& command : commands) {
    const auto plain = run(command);
    ASSERT_EQ(plain.code, 0) << command[0] << " " << command[1] << plain.err;
    for (const std::string option : {"-j", "--jobs", "--threads"}) {
      auto arguments = command;
      arguments.insert(arguments.end(), {option, "3"});
      const auto result = run(arguments);
      EXPECT_EQ(result.code, 0) << option << result.err;
      EXPECT_EQ(result.out, plain.out);
      // Each in turn: what is no number of threads is one function's to say.
      arguments.back() = wrong[tried++ % wrong.size()];
      EXPECT_EQ(run(arguments).code, 2) << command[0] << " " << command[1] << arguments.back();
    }
  }
}

TEST(NamesLong, JobsAreThreads) {
  const Scratch scratch;
  const std::string fabric = scratch.write("pair.json", small_topology());
  const std::string file = scratch.write("a.xml", on_a_pair({"synth"}).out);
  for (const std::string option : {"-j", "--jobs", "--threads"}) {
    EXPECT_EQ(run({"synth", fabric, "--format", "none", option, "2"}).code, 0) << option;
    EXPECT_EQ(run({"simulate", file, fabric, "--sizes", "1M", option, "2"}).code, 0) << option;
    EXPECT_EQ(run({"compare", fabric, "--sizes", "1M", "--algorithms", "ring", option, "2"}).code,
              0)
        << option;
  }
}

TEST(NamesLong, TheTargetMscclppAsksForAPlan) {
  const Scratch scratch;
  const std::string plan = scratch / "plan.json";
  run_well({"synth", "-k", "auto", topology("dgx-a100-x1"), "--target", "mscclpp", "-o", plan});
  EXPECT_EQ(read_file(plan),
            run({"synth", "-k", "auto", topology("dgx-a100-x1"), "--format", "mscclpp"}).out);
  run_well({"verify", plan, "--target", "mscclpp"});
  const auto both = on_a_pair({"synth", "--target", "mscclpp", "--format", "msccl"});
  EXPECT_EQ(both.code, 2);
  EXPECT_THAT(both.err, AllOf(HasSubstr("and --format is msccl"), HasSubstr("[S04]")));
  expect_says(2, {"verify", "-", "--target", "mscclpp"}, "[S04]",
              {.input = on_a_pair({"synth"}).out});
}

TEST(NamesLong, TheTargetMscclppDoesSoInABatchToo) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "in");
  scratch.write("in/pair.json", small_topology());
  const auto batch = [&](const std::string& out, std::vector<std::string> more) {
    return run(joined(
        {"batch", scratch / "in", "-o", scratch / out, "-c", "allgather", "--in-process"}, more));
  };
  const auto plan = batch("plan", {"--target", "mscclpp"});
  ASSERT_EQ(plan.code, 0) << plan.err;
  EXPECT_EQ(read_file(scratch / "plan/pair.json/allgather.json"),
            on_a_pair({"synth", "-k", "auto", "-c", "allgather", "--format", "mscclpp"}).out);
  const auto both = batch("both", {"--target", "azure,mscclpp"});
  ASSERT_EQ(both.code, 0) << both.err;
  EXPECT_TRUE(std::filesystem::exists(scratch / "both/pair.json/allgather-azure.xml"));
  EXPECT_TRUE(std::filesystem::exists(scratch / "both/pair.json/allgather-mscclpp.json"));
  for (const std::string format : {"msccl", "forest"}) {
    const auto clash = batch("clash", {"--target", "mscclpp", "--format", format});
    EXPECT_EQ(clash.code, 2);
    EXPECT_THAT(clash.err, AllOf(HasSubstr("and --format is " + format), HasSubstr("[S04]")));
  }
  scratch.write("m.json", R"({"format": "forestcoll-batch-manifest", "version": 1,
  "topologies": [{"path": "pair.json", "targets": ["mscclpp"]}]})");
  const auto listed = batch("listed", {"--manifest", scratch / "m.json"});
  ASSERT_EQ(listed.code, 0) << listed.err;
  EXPECT_TRUE(std::filesystem::exists(scratch / "listed/pair.json/allgather.json"));
}

TEST(NamesLong, AmdGpusAreToldWhatTheDefaultTargetIs) {
  const auto note = [](const std::string& fabric, const std::vector<std::string>& more) {
    const auto result =
        run_well(joined({"synth", topology(fabric), "-o", "/dev/null"}, with_trees(more)));
    return result.err.find("target azure by default, which does not run on mi250") !=
           std::string::npos;
  };
  EXPECT_TRUE(note("mi250-x1", {"-k", "1"}));
  EXPECT_FALSE(note("mi250-x1", {"-k", "1", "--target", "rccl-6.3"}));
  EXPECT_FALSE(note("mi250-x1", {"-k", "1", "--target", "azure"}));
  EXPECT_FALSE(note("mi250-x1", {"--format", "forest"}));
  EXPECT_FALSE(note("dgx-a100-x1", {}));
}

TEST(Names, AGeneratorListsItsParametersWhereOneIsUnknown) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"topo", "gen", "fat-tree", "--k", "4"}, {"topo", "gen", "--k=4", "fat-tree"}}) {
    const auto result = run(words);
    EXPECT_EQ(result.code, 2);
    EXPECT_THAT(result.err, AllOf(HasSubstr("fat-tree has no parameter --k; it takes --ports, "),
                                  HasSubstr("--oversubscription"), HasSubstr("[G02]")));
  }
  expect_says(2, {"topo", "gen", "fat-treee", "--k", "4"}, "--k");
}

// 12 GPUs get 128 chunks, 10 or 11 of each; one tree per root would be slower.
TEST(NamesLong, TuneNamesTheChunksOfUnequalRoots) {
  const Scratch scratch;
  const std::string fabric = scratch / "three.json";
  ASSERT_EQ(run({"topo", "gen", "dgx-a100", "--boxes", "3", "-o", fabric}).code, 0);
  const std::vector<std::string> ranks = {"--ranks", "0-3,8-11,16-19"};
  const auto tuned = run_well(
      joined({"synth", fabric, "--tune", "64M", "--proto", "Simple", "-o", scratch / "d", "--json"},
             ranks));
  const auto report = Json::parse(tuned.out);
  expect_valid(report, "forestcoll-tune.schema.json");
  const auto file = report["files"][0];
  const auto chunks = file["chunks"].get<std::int64_t>() / file["instances"].get<std::int64_t>();
  const auto least = file["trees_per_root"]["min"].get<std::int64_t>();
  const auto most = file["trees_per_root"]["max"].get<std::int64_t>();
  ASSERT_LT(least, most) << "roots have unequal numbers of chunks";
  EXPECT_LE(12 * least, chunks);
  EXPECT_GE(12 * most, chunks);
  const std::string name = file["file"];
  EXPECT_THAT(name, HasSubstr("-c" + std::to_string(chunks) + "x"));
  EXPECT_THAT(tuned.err,
              AllOf(HasSubstr(std::to_string(chunks) + " chunks"), Not(HasSubstr(" k 1 "))));
  const std::string text = read_file(scratch / ("d/" + name));
  EXPECT_THAT(text, AllOf(HasSubstr(std::to_string(least * file["instances"].get<int>()) + " to "),
                          Not(HasSubstr("k = 1")), Not(HasSubstr("-k1\""))));
}

}  // namespace
}  // namespace forestcoll::testing
