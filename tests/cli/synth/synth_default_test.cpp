// What `synth` writes where nothing says how to choose.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

using Json = nlohmann::json;

// Four A100 on a switch.
std::string star() {
  return R"({ "format": "forestcoll-topology", "version": 1, "name": "star",
    "nodes": [ { "id": "gpu[0-3]", "type": "compute" }, { "id": "sw", "type": "switch" } ],
    "links": [ { "src": "gpu[0-3]", "dst": "sw", "bandwidth": 300, "kind": "nvlink",
                 "latency": "0.7us" } ] })";
}

TEST(SynthDefaultLong, IsTheFastestForAGibibyte) {
  const Scratch scratch;
  const std::string fabric = scratch.write("star.json", star());
  for (const std::string format : {"msccl", "mscclpp"}) {
    const auto chosen =
        run_well({"synth", fabric, "--format", format, "--json", "-o", scratch / "a"});
    EXPECT_EQ(read_file(scratch / "a"),
              run({"synth", fabric, "--format", format, "--size", "1G"}).out);
    const Json json = Json::parse(chosen.out);
    expect_valid(json, "forestcoll-synth.schema.json");
    EXPECT_EQ(json["fastest"]["bytes"], 1 << 30);
    for (const Json& time : json["window"]["times"]) {
      if (!time.contains("ratio")) continue;
      EXPECT_LE(time["ratio"], 1.0) << json["window"];
    }
    EXPECT_THAT(chosen.err, HasSubstr("runtime "));
  }
}

// GPUs with links of their own beside a switch's: a runtime takes the direct way wherever there is
// one, so that trees say little about times.
constexpr const char* kFiveBesideASwitch =
    R"({ "format": "forestcoll-topology", "version": 1, "name": "five",
    "nodes": [ { "id": "g[0-4]", "type": "compute" }, { "id": "sw", "type": "switch" } ],
    "links": [ { "src": "g[0-3]", "dst": "sw", "bandwidth": 50, "kind": "nvlink" },
               { "src": "g4", "dst": "sw", "bandwidth": 25, "kind": "nvlink" },
               { "src": "g0", "dst": "g4", "bandwidth": 50, "kind": "nvlink" },
               { "src": "g2", "dst": "g1", "bandwidth": 10, "kind": "nvlink" },
               { "src": "g3", "dst": "g2", "bandwidth": 50, "kind": "nvlink" },
               { "src": "g4", "dst": "g2", "bandwidth": 10, "kind": "nvlink" } ] })";
constexpr const char* kFourBesideASwitch =
    R"({ "format": "forestcoll-topology", "version": 1, "name": "four",
    "nodes": [ { "id": "g[0-3]", "type": "compute" }, { "id": "sw", "type": "switch" } ],
    "links": [ { "src": "g[0-1]", "dst": "sw", "bandwidth": 100, "kind": "nvlink" },
               { "src": "g2", "dst": "sw", "bandwidth": 25, "kind": "nvlink" },
               { "src": "g3", "dst": "sw", "bandwidth": 50, "kind": "nvlink" },
               { "src": "g1", "dst": "g3", "bandwidth": 10, "kind": "nvlink" } ] })";

TEST(SynthDefaultLong, NoNumberOfTreesIsMuchFaster) {
  const Scratch scratch;
  const auto seconds = [&](const std::string& fabric, const std::vector<std::string>& options) {
    std::vector<std::string> words = {"synth", fabric, "-o", scratch / "a.xml"};
    words.insert(words.end(), options.begin(), options.end());
    run_well(words);
    const auto simulated = Json::parse(
        run_well({"simulate", scratch / "a.xml", fabric, "--sizes", "1000M", "--json"}).out);
    return 1 / simulated["times"][0]["simulated_algbw"].get<double>();
  };
  const std::string five = scratch.write("five.json", kFiveBesideASwitch);
  EXPECT_LT(seconds(five, {}), 1.02 * seconds(five, {"-k", "4"}));
  const std::string four = scratch.write("four.json", kFourBesideASwitch);
  EXPECT_LT(seconds(four, {}), 1.02 * seconds(four, {"-k", "1"}));
  EXPECT_LT(seconds(four, {"-k", "auto"}), 1.06 * seconds(four, {"-k", "1"}));
}

// Three ranks have no parts of 1 GiB: the largest size of parts that are powers of two is 768 MiB.
TEST(SynthDefault, IsForPartsOfAPowerOfTwo) {
  const Scratch scratch;
  std::string three = star();
  while (three.find("gpu[0-3]") != std::string::npos) {
    three.replace(three.find("gpu[0-3]"), 8, "gpu[0-2]");
  }
  const auto chosen = json_of({"synth", scratch.write("three.json", three), "-c", "allgather",
                               "--json", "-o", scratch / "a"});
  EXPECT_EQ(chosen["fastest"]["bytes"], 768 << 20);
}

TEST(SynthDefaultLong, GivenSizesAreTheFilesOwn) {
  const Scratch scratch;
  const std::string fabric = scratch.write("star.json", star());
  const auto json = json_of({"synth", fabric, "--sizes", "1M:2G", "--json", "-o", scratch / "a"});
  EXPECT_TRUE(json.contains("fastest"));
  EXPECT_FALSE(json.contains("window"));
  EXPECT_THAT(read_file(scratch / "a"), HasSubstr(R"(minBytes="1048576" maxBytes="2147483648")"));
}

TEST(SynthDefault, ANumberOfTreesIsChosenByRateAsBefore) {
  const Scratch scratch;
  const std::string fabric = scratch.write("star.json", star());
  const auto by_rate = json_of({"synth", fabric, "-k", "auto", "--json", "-o", scratch / "a"});
  EXPECT_FALSE(by_rate.contains("fastest"));
  EXPECT_THAT(read_file(scratch / "a"), HasSubstr(R"(minBytes="0")"));
}

std::string star_of_130() {
  std::string many = star();
  while (many.find("gpu[0-3]") != std::string::npos) {
    many.replace(many.find("gpu[0-3]"), 8, "gpu[0-129]");
  }
  return many;
}

TEST(SynthDefaultLong, OnMoreThan128GpusFewVariantsAreSimulated) {
  const Scratch scratch;
  const auto chosen = run_well({"synth", scratch.write("many.json", star_of_130()), "-c",
                                "allgather", "--json", "-v", "-o", scratch / "a"});
  const Json json = Json::parse(chosen.out);
  ASSERT_TRUE(json.contains("fastest"));
  ASSERT_TRUE(json.contains("window"));
  EXPECT_FALSE(json["window"]["times"].empty());
  EXPECT_THAT(chosen.err, HasSubstr("of few variants, as comparing all takes longer"));
}

// As all that has windows, no slower than the runtime's own order at either end of it.
TEST(SynthDefaultLong, AnAlltoallOf40GpusIsSimulated) {
  const Scratch scratch;
  const std::string fabric = scratch / "h100.json";
  run_well({"topo", "gen", "dgx-h100", "--boxes", "5", "-o", fabric});
  const auto chosen =
      run_well({"synth", fabric, "-c", "alltoall", "--json", "-v", "-o", scratch / "a"});
  const Json json = Json::parse(chosen.out);
  ASSERT_TRUE(json.contains("window"));
  ASSERT_EQ(json["window"]["times"].size(), 3U);
  for (const Json& time : json["window"]["times"]) EXPECT_LE(time["ratio"], 1.002) << time;
  EXPECT_THAT(chosen.err, HasSubstr("of few variants, as comparing all takes longer"));
}

TEST(SynthDefaultLong, PlansOfMoreThan128GpusAreChosenByRate) {
  const Scratch scratch;
  const auto chosen =
      run_well({"synth", scratch.write("many.json", star_of_130()), "-c", "broadcast", "--root",
                "gpu0", "--format", "mscclpp", "--json", "-v", "-o", scratch / "a"});
  EXPECT_FALSE(Json::parse(chosen.out).contains("fastest"));
  EXPECT_THAT(chosen.err, HasSubstr("chosen by rate and bounds"));
}

// A file whose sizes nobody compared says so, and how to have them compared.
TEST(SynthDefault, AFileForAllSizesSaysSo) {
  const Scratch scratch;
  const std::string fabric = scratch.write("star.json", star()), out = scratch / "a.xml";
  const std::string said = "it is for all sizes, though no sizes were compared";
  EXPECT_THAT(run_well({"synth", fabric, "-k", "1", "-o", out}).err,
              HasSubstr(said + ": leave -k out"));
  EXPECT_THAT(run_well({"synth", fabric, "--algorithm", "nccl-ring", "-o", out}).err,
              HasSubstr(said + ": leave --algorithm out"));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{}, {"-k", "1", "--sizes", "1M:1G"}, {"--format", "forest"}}) {
    std::vector<std::string> all = {"synth", fabric, "-o", out};
    all.insert(all.end(), words.begin(), words.end());
    EXPECT_THAT(run_well(all).err, ::testing::Not(HasSubstr("for all sizes")));
  }
}

TEST(SynthDefaultLong, ADirectoryGetsAFileForEachRangeOfSizes) {
  const Scratch scratch;
  const std::string fabric = scratch.write("star.json", star());
  const auto files = run_well({"synth", fabric, "-o", scratch / "set/", "--json"});
  const Json json = Json::parse(files.out);
  EXPECT_EQ(json["format"], "forestcoll-tune");
  EXPECT_EQ(json["files"].front()["min_bytes"], 1 << 10);
  EXPECT_EQ(json["files"].back()["max_bytes"], std::int64_t{1} << 32);
  for (const Json& file : json["files"]) {
    EXPECT_TRUE(std::filesystem::exists(scratch / "set/" + file["file"].get<std::string>()));
    for (const Json& time : file["times"]) {
      if (!time.contains("ratio")) continue;
      EXPECT_LE(time["ratio"], 1.0) << file;
    }
  }
  EXPECT_THAT(files.err, HasSubstr("the runtime's own time / this"));
  EXPECT_THAT(files.err, HasSubstr("above 1x a file is faster"));
  expect_says(0, {"synth", fabric, "--deploy", scratch / "deployed"},
              "the runtime's own time / this");
}

}  // namespace
}  // namespace forestcoll::testing
