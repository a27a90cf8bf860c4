// The options of `forestcoll synth` that shape a schedule, from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "cli/batch.hpp"
#include "cli/program.hpp"
#include "cli/synth/algorithm.hpp"

namespace forestcoll::testing {
namespace {

// `forestcoll synth` with these arguments, accepted by `verify` for the same target.
std::string synth_right(std::vector<std::string> arguments, const std::string& target = "azure") {
  arguments = joined({"synth", "--target", target}, with_trees(std::move(arguments)));
  const auto synth = run_well(arguments);
  run_well({"verify", "-", "--target", target}, {.input = synth.out});
  return synth.out;
}

std::int64_t most_threadblocks(const std::string& text) {
  pugi::xml_document document;
  std::int64_t most = 0;
  for (const auto& gpu : algorithm(document, text).children("gpu")) {
    most = std::max<std::int64_t>(most, std::distance(gpu.begin(), gpu.end()));
  }
  return most;
}

TEST(SynthScheduleLong, EveryCollectivePlacementAndTarget) {
  const Scratch scratch;
  const std::string file = scratch.write("t.json", small_topology());
  for (const std::string collective :
       {"allgather", "reduce_scatter", "allreduce", "broadcast", "reduce"}) {
    for (const std::string target :
         {"azure", "rccl-5.7", "rccl-6", "rccl-6.2", "rccl-6.3", "msccl"}) {
      for (const int placement : {1, 2, 3}) {
        if (placement == 3 && target == "msccl") continue;
        std::vector<std::string> arguments = {file, "-c", collective};
        if (collective == "broadcast" || collective == "reduce") {
          arguments.insert(arguments.end(), {"--root", "1"});
        }
        if (placement != 2) arguments.push_back("--inplace");
        if (placement != 1) arguments.push_back("--outofplace");
        SCOPED_TRACE(collective + " " + target + " " + std::to_string(placement));
        const std::string text = synth_right(arguments, target);
        pugi::xml_document document;
        const auto algo = algorithm(document, text);
        EXPECT_EQ(algo.attribute("inplace").as_int(-1), placement != 2);
        EXPECT_EQ(algo.attribute("outofplace").as_int(-1), placement != 1);
        if (target.starts_with("rccl-6")) {
          EXPECT_THAT(text, Not(HasSubstr("type=\"rrc\"")));
        }
      }
    }
  }
}

TEST(SynthScheduleLong, OneFileForBothPlacementsIsNotForTheResearchRuntime) {
  const auto synth = expect_says(3,
                                 {"synth", "-k", "auto", topology("dgx-a100-x1"), "--target",
                                  "msccl", "--inplace", "--outofplace"},
                                 "[T06]");
  EXPECT_EQ(synth.out, "");
}

TEST(SynthScheduleLong, Protocols) {
  for (const std::string protocol : {"Simple", "LL", "LL128"}) {
    EXPECT_THAT(synth_right({topology("dgx-a100-x1"), "--proto", protocol}),
                HasSubstr("proto=\"" + protocol + "\""));
  }
}

TEST(SynthScheduleLong, Instances) {
  pugi::xml_document once, thrice;
  const auto one = algorithm(once, synth_right({topology("dgx-a100-x1"), "-k", "1"}));
  const auto three =
      algorithm(thrice, synth_right({topology("dgx-a100-x1"), "-k", "1", "--instances", "3"}));
  EXPECT_EQ(three.attribute("nchunksperloop").as_int(),
            3 * one.attribute("nchunksperloop").as_int());
  EXPECT_EQ(three.attribute("nchannels").as_int(), 3 * one.attribute("nchannels").as_int());
}

TEST(SynthScheduleLong, Threadblocks) {
  const std::string file = topology("dgx-a100-x2");
  const auto merged = most_threadblocks(synth_right({file, "--threadblocks", "merge"}));
  const auto twenty = most_threadblocks(synth_right({file, "--threadblocks", "20"}));
  const auto spread = most_threadblocks(synth_right({file}));
  EXPECT_LT(merged, 20);
  EXPECT_EQ(twenty, 20);
  EXPECT_GT(spread, 20);
  const auto per_tree =
      expect_says(3, {"synth", "-k", "auto", file, "--threadblocks", "per-tree", "--sms", "40"},
                  "with one for every edge of every tree");
  EXPECT_THAT(per_tree.err, HasSubstr("--threadblocks merge"));
  EXPECT_EQ(run({"synth", "-k", "auto", file, "--threadblocks", "1"}).code, 3);
}

TEST(SynthScheduleLong, TheClustersOfThirtyTwoFit) {
  for (const char* name : {"mi250-x2", "dgx-a100-x4"}) {
    const std::string text = synth_right({topology(name), "--threadblocks", "64"});
    pugi::xml_document document;
    const auto algo = algorithm(document, text);
    EXPECT_LE(most_threadblocks(text), 64);
    EXPECT_LE(algo.attribute("nchannels").as_int(), 32);
    for (const auto& gpu : algo.children("gpu")) {
      for (const auto& tb : gpu.children("tb")) {
        EXPECT_LE(std::distance(tb.begin(), tb.end()), 64);
      }
    }
  }
}

// Even NICs reach one switch, odd NICs the other: between boxes, only like GPUs are connected.
TEST(SynthScheduleLong, RailsAreKept) {
  pugi::xml_document document;
  int between = 0;
  for (const auto& gpu :
       algorithm(document, synth_right({topology("dgx-a100-x2")})).children("gpu")) {
    const int rank = gpu.attribute("id").as_int();
    for (const auto& tb : gpu.children("tb")) {
      const int peer = tb.attribute("send").as_int();
      if (peer < 0 || peer / 8 == rank / 8) continue;
      ++between;
      EXPECT_EQ(peer % 2, rank % 2);
    }
  }
  EXPECT_GE(between, 16);
}

// Two boxes of two GPUs, each beside four NICs on four switches.
std::string four_nics_per_gpu() {
  nlohmann::json topology = {
      {"format", "forestcoll-topology"},
      {"version", 1},
      {"name", "four NICs per GPU"},
      {"nodes", nlohmann::json::array({{{"id", "leaf[0-3]"}, {"type", "switch"}}})},
      {"boxes", nlohmann::json::array({{{"id", "box[0-1]"}, {"template", "box"}}})},
      {"links", nlohmann::json::array()}};
  nlohmann::json box = {
      {"nodes", nlohmann::json::array({{{"id", "gpu[0-1]"}, {"type", "compute"}},
                                       {{"id", "nvsw"}, {"type", "switch"}}})},
      {"links",
       nlohmann::json::array({{{"src", "gpu[0-1]"}, {"dst", "nvsw"}, {"bandwidth", 400}}})}};
  for (int gpu = 0; gpu < 2; ++gpu) {
    const std::string nics = "nic" + std::to_string(gpu) + "-[0-3]";
    box["nodes"].push_back({{"id", nics}, {"type", "switch"}});
    box["links"].push_back(
        {{"src", "gpu" + std::to_string(gpu)}, {"dst", nics}, {"bandwidth", 25}});
    for (const std::string name : {"box0/", "box1/"}) {
      topology["links"].push_back(
          {{"src", name + nics}, {"dst", "leaf[0-3]"}, {"pair", "zip"}, {"bandwidth", 25}});
    }
  }
  topology["templates"]["box"] = box;
  return topology.dump();
}

TEST(SynthScheduleLong, ChannelsAreSpreadOverTheNicsOfAGpu) {
  const Scratch scratch;
  const std::string file = scratch.write("t.json", four_nics_per_gpu());
  pugi::xml_document document;
  const auto algo = algorithm(document, synth_right({file, "-k", "4", "--threadblocks", "merge"}));
  for (const auto& gpu : algo.children("gpu")) {
    const int rank = gpu.attribute("id").as_int();
    std::set<int> rails;
    for (const auto& tb : gpu.children("tb")) {
      const int peer = tb.attribute("send").as_int();
      if (peer >= 0 && peer / 2 != rank / 2) rails.insert(tb.attribute("chan").as_int() % 4);
    }
    EXPECT_EQ(rails.size(), 4U) << "rank " << rank;
  }
}

TEST(SynthScheduleLong, TheReportSaysWhatWasAskedOfTheSchedule) {
  const Scratch scratch;
  const auto report = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"synth", "-k", "auto", topology("dgx-a100-x1"), "--json"});
    if (more.back() != "none") more.insert(more.end(), {"-o", scratch / "x"});
    return json_of(more, "forestcoll-synth.schema.json");
  };
  const auto plain = report({});
  EXPECT_EQ(plain["placement"], "in_place");
  EXPECT_EQ(plain["protocol"], "Simple");
  EXPECT_EQ(plain["instances"], 1);
  const auto other = report({"--outofplace", "--proto", "LL", "--instances", "2"});
  EXPECT_EQ(other["placement"], "out_of_place");
  EXPECT_EQ(other["protocol"], "LL");
  EXPECT_EQ(other["instances"], 2);
  EXPECT_EQ(report({"--outofplace", "--inplace"})["placement"], "both");
  EXPECT_EQ(report({"--format", "mscclpp", "--outofplace"})["placement"], "out_of_place");
  for (const char* format : {"forest", "dot", "none"}) {
    EXPECT_FALSE(report({"--format", format}).contains("placement")) << format;
  }
}

// The narrow route takes one hop, the wide one two; a file cannot ask for the wide one.
TEST(SynthScheduleLong, WhatTheFileReachesIsSaidOfXmlAndOfPlans) {
  const Scratch scratch;
  const std::string file = scratch.write("t.json", R"({
    "format": "forestcoll-topology", "version": 1, "name": "detour",
    "nodes": [ { "id": "gpu[0-1]", "type": "compute" }, { "id": "s[0-1]", "type": "switch" } ],
    "links": [ { "src": "gpu[0-1]", "dst": "s0", "bandwidth": 10 },
               { "src": "gpu0", "dst": "s1", "bandwidth": 90 },
               { "src": "s1", "dst": "s0", "bandwidth": 90 },
               { "src": "gpu1", "dst": "s0", "bandwidth": 90 } ] })");
  const auto said = [&](const std::string& format) {
    return run({"synth", file, "-v", "--format", format, "-o", scratch / "x"}).err;
  };
  EXPECT_THAT(said("msccl"), HasSubstr("by the fewest hops, as XML names no routes"));
  EXPECT_THAT(said("mscclpp"), HasSubstr("by the fewest hops, as a plan names no routes"));
}

TEST(SynthScheduleLong, Unfused) {
  const std::string file = topology("torus-4x4");
  const std::string fused = synth_right({file, "-c", "allgather", "--threadblocks", "merge"});
  EXPECT_THAT(fused, HasSubstr("type=\"rcs\""));
  const std::string plain =
      synth_right({file, "-c", "allreduce", "--threadblocks", "merge", "--unfused"});
  for (const char* type : {"rcs", "rrs", "rrcs", "re", "cpy"}) {
    EXPECT_THAT(plain, Not(HasSubstr("type=\"" + std::string(type) + "\"")));
  }
}

TEST(SynthScheduleLong, Sizes) {
  const std::string both = synth_right({topology("dgx-a100-x1"), "--sizes", "64K,16M"});
  EXPECT_THAT(both, HasSubstr("minBytes=\"65536\" maxBytes=\"16777216\""));
  const std::string one = synth_right({topology("dgx-a100-x1"), "--sizes", "1M"});
  EXPECT_THAT(one, HasSubstr("minBytes=\"1048576\" maxBytes=\"1048576\""));
  EXPECT_THAT(synth_right({topology("dgx-a100-x1")}, "msccl"),
              HasSubstr("minBytes=\"0\" maxBytes=\"1073741824\""));
  // There the end is left out of the window.
  EXPECT_THAT(synth_right({topology("dgx-a100-x1"), "--sizes", "1M"}, "msccl"),
              HasSubstr("minBytes=\"1048576\" maxBytes=\"1048577\""));
  EXPECT_THAT(synth_right({topology("dgx-a100-x1")}),
              HasSubstr("minBytes=\"0\" maxBytes=\"1099511627776\""));
}

// RCCL runs on GPUs of 104 compute units, and a schedule that has more threadblocks hangs there.
TEST(SynthScheduleLong, ThreadblocksAtMostByTarget) {
  const Scratch scratch;
  const auto synth = [&](const std::vector<std::string>& more) {
    return run(joined(
        {"synth", topology("torus-4x4"), "-k", "16", "--json", "-v", "-o", scratch / "x"}, more));
  };
  const auto rccl = synth({"--target", "rccl-5.7"});
  EXPECT_THAT(rccl.err, HasSubstr("of 104 assumed"));
  const auto json = nlohmann::json::parse(rccl.out);
  EXPECT_EQ(json["sms"], 104);
  EXPECT_LE(json["threadblocks"], 104);
  const auto azure = synth({});
  EXPECT_THAT(azure.err, HasSubstr("of 108 assumed"));
  EXPECT_GT(nlohmann::json::parse(azure.out)["threadblocks"], 104);
  EXPECT_THAT(synth({"--sms", "50"}).err, HasSubstr("of 50; "));
}

// Of a GPU with fewer multiprocessors than the usual one as many as it has: with more, what waits
// for each other would not run at the same time.
TEST(SynthScheduleLong, ThreadblocksAtMostByGpu) {
  const Scratch scratch;
  const std::string v100 = topology("dgx-1-v100"), file = scratch / "x";
  for (const std::string format : {"msccl", "mscclpp"}) {
    const auto made =
        run({"synth", v100, "--format", format, "--size", "1G", "--json", "-v", "-o", file});
    EXPECT_THAT(made.err, HasSubstr("of 80 assumed")) << format;
    const auto json = nlohmann::json::parse(made.out);
    EXPECT_EQ(json["sms"], 80) << format;
    EXPECT_LE(json["threadblocks"], 80) << format;
    EXPECT_EQ(run({"verify", file, "--topology", v100}).code, 0) << format;
  }
  // Whoever knows better says so.
  ASSERT_EQ(run({"synth", v100, "-k", "16", "--sms", "108", "-o", file}).code, 0);
  const auto refused = run({"verify", file, "--topology", v100});
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.out, HasSubstr("80"));
  EXPECT_EQ(run({"verify", file, "--topology", v100, "--sms", "108"}).code, 0);
}

// N·k chunks divide no power of two where N is none: roots sum a chunk more or less than others.
TEST(SynthScheduleLong, AnAllreduceOverAnyNumberOfRanksHasAPowerOfTwoOfChunks) {
  const Scratch scratch;
  for (const std::string ranks : {"3", "6"}) {
    const std::string file = scratch.write("t.json", R"({
      "format": "forestcoll-topology", "version": 1, "name": "on a switch",
      "nodes": [ { "id": "gpu[1-)" + ranks + R"(]", "type": "compute" },
                 { "id": "sw", "type": "switch" } ],
      "links": [ { "src": "gpu[1-)" + ranks + R"(]", "dst": "sw", "bandwidth": 25 } ] })");
    const auto synth = run_well({"synth", "-v", "-k", "auto", file, "--json", "-o", scratch / "x"});
    const auto json = nlohmann::json::parse(synth.out);
    expect_valid(json, "forestcoll-synth.schema.json");
    const auto chunks = json["chunks"].get<unsigned>();
    EXPECT_EQ(chunks & (chunks - 1), 0U) << chunks;
    EXPECT_GE(json["algbw"]["value"].get<double>(), 0.95 * json["optimum"]["value"].get<double>());
    EXPECT_THAT(synth.err, HasSubstr(std::to_string(chunks) + " chunks, "));
    const auto asked = run({"synth", file, "-k", "4", "--json", "-o", scratch / "x"});
    EXPECT_EQ(nlohmann::json::parse(asked.out)["chunks"], 4 * std::stoi(ranks));
  }
}

TEST(SynthScheduleLong, APlanSaysWhatItTakesForBoxes) {
  const auto said = [](const std::string& name) {
    return run({"synth", "-v", topology(name), "--format", "mscclpp", "-c", "allgather", "-k", "1",
                "-o", "/dev/null"})
        .err;
  };
  EXPECT_THAT(said("dgx-a100-x2"),
              HasSubstr("taken for boxes: box0, box1: memory channels within"));
  EXPECT_THAT(said("torus-4x4"), HasSubstr("taken for one box, as the topology names none"));
}

TEST(SynthScheduleLong, ForestsHaveNoneOfTheOptionsOfSchedules) {
  const std::vector<std::vector<std::string>> options = {
      {"--inplace"},        {"--outofplace"},      {"--proto", "LL"},
      {"--instances", "4"}, {"--unfused"},         {"--threadblocks", "merge"},
      {"--sizes", "1M"},    {"--min-bytes", "1K"}, {"--max-bytes", "1M"}};
  for (const auto& option : options) {
    const auto synth =
        run(joined({"synth", "-", "--format", "forest"}, option), {.input = small_topology()});
    EXPECT_EQ(synth.code, 2) << option.front();
    EXPECT_THAT(synth.err,
                HasSubstr(option.front() + " is for schedules, not for --format forest"));
  }
}

TEST(SynthScheduleLong, UsageErrors) {
  const std::string file = topology("dgx-a100-x1");
  const Scratch scratch;
  const std::vector<Misuse> misuses = {
      {{"--proto", "simple"}, "--proto"},
      {{"--instances", "0"}, "--instances"},
      {{"--instances", "65"}, "--instances"},
      {{"--threadblocks", "few"}, "found \"few\" [S03]"},
      {{"--threadblocks", "0"}, "found \"0\" [S03]"},
      {{"--sizes", "x"}, "--sizes: expected one window, MIN:MAX"},
      {{"--sizes", "1M,"}, "--sizes: expected one window, MIN:MAX"},
      {{"--sizes", "2M,1M"}, "[S04]"},
      {{"--sizes", "0"}, "--sizes: no buffer has 0 bytes"},
      {{"--sizes", "0,0"}, "--sizes: no buffer has 0 bytes"},
      {{"--max-bytes", "0"}, "--max-bytes: no buffer has 0 bytes"},
      {{"--sizes", "1M", "--min-bytes", "1"}, "give either --sizes"},
      {{"--tune", "1M"}, "name a directory with -o"},
      {{"--tune", "1M,x", "-o", scratch / "d"}, "found \"x\" [S03]"},
      {{"--tune", "2M-1M", "-o", scratch / "d"},
       "--tune: the range begins with 2M, above its end 1M [S03]"},
      {{"--tune", "0", "-o", scratch / "d"}, "found \"0\" [S03]"},
      {{"--tune", "2T", "-o", scratch / "d"}, "found \"2T\" [S03]"},
      {{"--tune", "", "-o", scratch / "d"}, "found nothing [S03]"},
      {{"--tune", "1M", "-o", scratch / "d", "--tradeoff"}, "--tradeoff is about one forest"},
      {{"--tune", "1M", "-o", scratch / "d", "--warm", file}, "--warm is about one forest"},
      {{"--tune", "1M", "-o", scratch / "d", "--sizes", "1M"}, "its own window"},
      {{"--tune", "1M", "-o", scratch / "d", "--format", "dot"}, "schedules, not forests"},
      {{"--tune", "1M", "-o", scratch / "d", "--format", "mscclpp", "--buffsize", "4M"},
       "--buffsize is for MSCCL XML"},
  };
  for (const Misuse& misuse : misuses) {
    const auto synth = expect_says(2, joined({"synth", file}, misuse.arguments), misuse.says);
    EXPECT_TRUE(synth.out.empty());
  }
  EXPECT_THAT(scratch.names(), IsEmpty());
}

}  // namespace
}  // namespace forestcoll::testing
