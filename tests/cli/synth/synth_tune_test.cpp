// `forestcoll synth --tune` from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <pugixml.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"
#include "cli/synth/algorithm.hpp"

namespace forestcoll::testing {
namespace {

TEST(SynthTuneLong, WritesOneFilePerRange) {
  const Scratch scratch;
  const auto tuned = expect_says(0,
                                 {"synth", topology("dgx-a100-x2"), "--tune", "16K-1G", "-o",
                                  scratch / "algorithms", "--json"},
                                 "simulated (model, not measurement)");
  EXPECT_THAT(tuned.err, HasSubstr("     16 KiB "));
  EXPECT_THAT(tuned.err, HasSubstr("       1 GiB  k "));
  const auto json = nlohmann::json::parse(tuned.out);
  expect_valid(json, "forestcoll-tune.schema.json");
  EXPECT_GE(json["files"].size(), 2U);
  std::int64_t next = 16384;
  std::size_t count = 0;
  for (const auto& file : json["files"]) {
    EXPECT_EQ(file["min_bytes"], next);
    next = file["max_bytes"].get<std::int64_t>() + 1;
    const std::string path = scratch / ("algorithms/" + file["file"].get<std::string>());
    EXPECT_EQ(run({"verify", path}).code, 0);
    pugi::xml_document document;
    const auto algo = algorithm(document, read_file(path));
    EXPECT_EQ(algo.attribute("minBytes").as_llong(), file["min_bytes"].get<std::int64_t>());
    EXPECT_EQ(algo.attribute("maxBytes").as_llong(), file["max_bytes"].get<std::int64_t>());
    EXPECT_EQ(algo.attribute("proto").value(), file["protocol"].get<std::string>());
    ++count;
  }
  EXPECT_EQ(next, (std::int64_t{1} << 30) + 1);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(scratch / "algorithms"), {}), count);
}

// Packets for small messages, sums in the switch for large ones; every plan says for what sizes it
// is.
TEST(SynthTuneLong, WritesPlansForRangesOfSizes) {
  const Scratch scratch;
  const std::string fabric = scratch / "h100.json";
  ASSERT_EQ(run({"topo", "gen", "dgx-h100", "-o", fabric}).code, 0);
  const auto tuned = expect_says(0,
                                 {"synth", fabric, "-c", "allreduce", "--format", "mscclpp",
                                  "--tune", "1K:64M:16", "-o", scratch / "plans", "--json"},
                                 "  packets  ");
  EXPECT_THAT(tuned.err, HasSubstr("only if all ranks run the same plans in the same order"));
  EXPECT_THAT(tuned.err, Not(HasSubstr("W11")));  // packets load switches, not the trees' links
  const auto json = nlohmann::json::parse(tuned.out);
  expect_valid(json, "forestcoll-tune.schema.json");
  EXPECT_EQ(json["target"], "mscclpp-0.10");
  EXPECT_EQ(json["buffer_bytes"], 0);
  ASSERT_GE(json["files"].size(), 2U);
  EXPECT_EQ(json["files"].front()["switch_use"], "packets");
  EXPECT_EQ(json["files"].back()["switch_use"], "sums");
  EXPECT_EQ(json["files"].back()["algbw"]["exact"], "400");
  std::int64_t next = 1024;
  for (const auto& file : json["files"]) {
    EXPECT_EQ(file["min_bytes"], next);
    next = file["max_bytes"].get<std::int64_t>() + 1;
    const std::string name = file["file"];
    EXPECT_THAT(name, HasSubstr(".json"));
    const std::string path = scratch / ("plans/" + name);
    EXPECT_EQ(run({"verify", path, "--topology", fabric}).code, 0);
    const auto plan = nlohmann::json::parse(read_file(path));
    EXPECT_EQ(plan["name"].get<std::string>() + ".json", name);
    EXPECT_EQ(plan["min_message_size"], file["min_bytes"]);
    EXPECT_EQ(plan["max_message_size"], file["max_bytes"]);
  }
  EXPECT_EQ(next, (std::int64_t{64} << 20) + 1);
}

// On a fabric without such switches: trees of several kinds, each for its range, registered by
// size.
TEST(SynthTuneLong, DeploysPlansWithTheirRanges) {
  const Scratch scratch;
  const auto json = json_of({"synth", topology("mi250-x1"), "-c", "allgather", "--format",
                             "mscclpp", "--tune", "16K,64M", "--deploy", scratch / "run", "--json"},
                            "forestcoll-tune.schema.json");
  const std::string module = read_file(scratch / "run/forestcoll_plans.py");
  for (const auto& file : json["files"]) {
    const std::string name = file["file"];
    EXPECT_EQ(run({"verify", scratch / ("run/plans/" + name)}).code, 0);
    EXPECT_THAT(module, HasSubstr("\"file\": \"plans/" + name + "\""));
    const std::string chunks = std::to_string(16 * file["chunks"].get<std::int64_t>());
    EXPECT_THAT(
        module,
        HasSubstr(
            "\"min_bytes\": " + std::to_string(file["min_bytes"].get<std::int64_t>()) +
            ",\n        \"max_bytes\": " + std::to_string(file["max_bytes"].get<std::int64_t>()) +
            ",\n        \"unit_bytes\": " + chunks));
  }
}

// There maxBytes is left out of the window.
TEST(SynthTuneLong, WindowsOfTheResearchRuntimeMeet) {
  const Scratch scratch;
  const auto json = json_of({"synth", topology("dgx-a100-x1"), "--tune", "4K,64M", "--target",
                             "msccl", "-o", scratch / "d", "--json"});
  for (const auto& file : json["files"]) {
    const std::string path = scratch / ("d/" + file["file"].get<std::string>());
    pugi::xml_document document;
    EXPECT_EQ(algorithm(document, read_file(path)).attribute("maxBytes").as_llong(),
              file["max_bytes"].get<std::int64_t>() + 1);
  }
}

TEST(SynthTuneLong, SmallMessagesGetALowLatencyProtocolAndLargeOnesDoNot) {
  const Scratch scratch;
  const auto protocol = [&](const std::string& size) {
    const auto tuned =
        run({"synth", topology("dgx-a100-x1"), "--tune", size, "--json", "-o", scratch / size});
    return nlohmann::json::parse(tuned.out)["files"][0]["protocol"].get<std::string>();
  };
  EXPECT_EQ(protocol("4K"), "LL");
  EXPECT_NE(protocol("256M"), "LL");
}

// One size, one file: what won, and what else there was.
TEST(SynthSizeLong, WritesTheFastestAndSaysWhatElseThereWas) {
  const Scratch scratch;
  const auto synth = expect_says(
      0,
      {"synth", "-v", topology("dgx-a100-x1"), "--size", "1K", "-o", scratch / "s.xml", "--json"},
      "fastest for this size, simulated: all-pairs-once, LL, ");
  EXPECT_THAT(synth.err, HasSubstr("(model, not measurement)"));
  const auto json = nlohmann::json::parse(synth.out);
  expect_valid(json, "forestcoll-synth.schema.json");
  EXPECT_EQ(json["fastest"]["algorithm"], "all-pairs-once");
  EXPECT_EQ(json["fastest"]["considered"][0]["algorithm"], "all-pairs-once");
  EXPECT_GE(json["fastest"]["considered"].size(), 5U);
  const auto simulated =
      run({"simulate", scratch / "s.xml", topology("dgx-a100-x1"), "--sizes", "1K", "--json"});
  EXPECT_NEAR(nlohmann::json::parse(simulated.out)["times"][0]["simulated_seconds"].get<double>(),
              json["fastest"]["simulated_seconds"].get<double>(), 1e-12);
}

TEST(SynthSizeLong, IsForSchedulesAndForOneSize) {
  const auto code = [](const std::vector<std::string>& more) {
    const auto synth = run(joined({"synth", topology("dgx-a100-x1")}, more));
    EXPECT_EQ(synth.code, 2);
    return synth.err.substr(synth.err.find('['), 5);
  };
  EXPECT_EQ(code({"--size", "1K", "--tune", "1K"}), "[S04]");
  EXPECT_EQ(code({"--size", "1K", "--format", "forest"}), "[S04]");
  EXPECT_EQ(code({"--size", "1K", "--algorithm", "bfb"}), "[S04]");
  EXPECT_EQ(code({"--size", "none"}), "[S03]");
  EXPECT_EQ(code({"--size", "0"}), "[S03]");
  EXPECT_EQ(code({"--size", "1001"}), "[S03]");
  EXPECT_EQ(code({"-k", "auto", "--buffsize", "1M"}), "[S04]");
  EXPECT_EQ(code({"--size", "1M", "--buffsize", "1"}), "[S03]");
  EXPECT_EQ(code({"--size", "1M", "--buffsize", "large"}), "[S03]");
}

// An exchange has none, and says so; its time is told, and so is what it took to choose it.
TEST(SynthSizeLong, AnExchangeHasNoTrees) {
  const Scratch scratch;
  const auto synth = expect_says(
      0,
      {"synth", "-v", topology("dgx-a100-x1"), "--size", "1K", "-o", scratch / "s.xml", "--json"},
      "no trees: whole buffers are exchanged\n");
  EXPECT_THAT(synth.err, HasSubstr("; time by cause: links "));
  const auto json = nlohmann::json::parse(synth.out);
  EXPECT_GT(json["seconds"]["choose"].get<double>(), 0);
}

// The environment has the buffers that the files are for.
TEST(SynthTuneLong, DeploysItsBuffers) {
  const Scratch scratch;
  expect_says(0,
              {"synth", topology("dgx-a100-x1"), "--tune", "64K,64M", "--proto", "Simple",
               "--buffsize", "1M", "--deploy", scratch / "d"},
              "set NCCL_BUFFSIZE=1048576 in the environment");
  EXPECT_THAT(read_file(scratch / "d/env.sh"), HasSubstr("export NCCL_BUFFSIZE=\"1048576\"\n"));
  EXPECT_THAT(read_file(scratch / "d/run.sh"), HasSubstr(" -x NCCL_BUFFSIZE "));
  run_well({"synth", topology("dgx-a100-x1"), "--tune", "64K,64M", "--buffsize", "4M", "--deploy",
            scratch / "own"});
  EXPECT_THAT(read_file(scratch / "own/env.sh"), Not(HasSubstr("NCCL_BUFFSIZE")));
}

TEST(SynthTune, LeavesAUsedDirectoryAlone) {
  const Scratch scratch;
  const std::string inside = scratch.write("other.xml", "x");
  const std::string directory = std::filesystem::path(inside).parent_path();
  expect_says(2, {"synth", topology("dgx-a100-x1"), "--tune", "1M", "-o", directory},
              "is not empty");
  EXPECT_THAT(scratch.names(), ElementsAre("other.xml"));
  EXPECT_EQ(run({"synth", topology("dgx-a100-x1"), "--tune", "1M", "-o", inside}).code, 2);
}

// A directory beside -o that looks like one of ours may be anybody's.
TEST(SynthTuneLong, TouchesNothingBesideItsDirectory) {
  const Scratch scratch;
  std::filesystem::create_directory(scratch / "d.partial");
  scratch.write("d.partial/notes.txt", "precious");
  EXPECT_EQ(run({"synth", topology("dgx-a100-x1"), "--tune", "1M", "-o", scratch / "d"}).code, 0);
  EXPECT_THAT(scratch.names(), ElementsAre("d", "d.partial"));
  EXPECT_EQ(read_file(scratch / "d.partial/notes.txt"), "precious");
}

// A directory that is there, and empty, is filled: by any of its names.
TEST(SynthTuneLong, FillsAnEmptyDirectory) {
  for (const std::string name : {"d", "d/", "d/.", "link"}) {
    const Scratch scratch;
    std::filesystem::create_directory(scratch / "d");
    std::filesystem::create_directory_symlink(scratch / "d", scratch / "link");
    const auto tuned =
        run({"synth", topology("dgx-a100-x1"), "--tune", "1M", "-o", scratch / name});
    EXPECT_EQ(tuned.code, 0) << name << tuned.err;
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(scratch / "d")) {
      names.push_back(entry.path().filename().string());
    }
    EXPECT_THAT(names, ElementsAre(::testing::StartsWith("allreduce-8gpus-"))) << name;
    EXPECT_TRUE(std::filesystem::is_symlink(scratch / "link"));
    EXPECT_THAT(scratch.names(), ElementsAre("d", "link"));
  }
}

TEST(SynthTuneLong, LeavesNothingWhereItCannotWrite) {
  const Scratch scratch;
  expect_says(
      4, {"synth", topology("dgx-a100-x1"), "--tune", "1M", "-o", "/proc/forestcoll/algorithms"},
      "cannot make the directory");
}

// Three GPUs on a switch: 3·k chunks divide no power of two.
std::string three_gpus() {
  return R"({"format": "forestcoll-topology", "version": 1, "name": "three",
    "nodes": [{"id": "gpu[0-2]", "type": "compute"}, {"id": "sw", "type": "switch"}],
    "links": [{"src": "gpu[0-2]", "dst": "sw", "bandwidth": 25}]})";
}

nlohmann::json tuned(const std::string& sizes, const std::vector<std::string>& more = {}) {
  const Scratch scratch;
  const auto synth =
      run_well(joined({"synth", "-", "--tune", sizes, "-o", scratch / "d", "--json"}, more),
               {.input = three_gpus()});
  const auto json = nlohmann::json::parse(synth.out);
  expect_valid(json, "forestcoll-tune.schema.json");
  const bool is_said = synth.err.find("would not select a file: ") != std::string::npos;
  EXPECT_EQ(is_said, !json["not_served"].empty()) << synth.err;
  return json;
}

TEST(SynthTuneLong, EverySizeHasAFileThatARuntimeSelectsOrIsNamed) {
  const std::vector<std::int64_t> sizes = {102, 65536, 98304, 1048576};
  const auto json = tuned("102,64K,96K,1M");
  EXPECT_EQ(json["not_served"], nlohmann::json::array({102}));
  for (const std::int64_t size : sizes) {
    if (size == 102) continue;
    const auto selected = [&](const nlohmann::json& file) {
      return file["min_bytes"] <= size && size <= file["max_bytes"] &&
             size % (4 * file["chunks"].get<std::int64_t>()) == 0;
    };
    EXPECT_EQ(std::count_if(json["files"].begin(), json["files"].end(), selected), 1) << size;
  }
  for (const auto& file : json["files"]) {
    EXPECT_THAT(file["usable_counts"].get<std::string>(), HasSubstr("divisible by"));
    EXPECT_GE(file["optimum"]["value"], file["algbw"]["value"]);
  }
}

TEST(SynthTuneLong, RefusesSizesThatNoFileServes) {
  const Scratch scratch;
  const auto synth =
      expect_says(2, {"synth", "-", "--tune", "5,50", "-o", scratch / "d"},
                  "at none of these sizes would azure select a schedule", {.input = three_gpus()});
  EXPECT_THAT(synth.err, HasSubstr("[S03]"));
  EXPECT_THAT(scratch.names(), ElementsAre());
}

// A default that nobody sees is the remedy of what somebody asked for.
TEST(SynthTuneLong, NamesASizeThatIsServed) {
  const Scratch scratch;
  const std::vector<std::string> words = {"synth", "-", "-c", "allgather", "--size"};
  const std::vector<std::string> output = {"-o", scratch / "g.xml"};
  expect_says(2, joined(joined(words, {"1G"}), output),
              "such as --size 805306368 (768 MiB, 256 MiB for each of 3 ranks)",
              {.input = three_gpus()});
  run_well(joined(joined(words, {"805306368"}), output), {.input = three_gpus()});
}

// Twelve GPUs on a switch. RCCL before 6.3 divides the part of a rank by all 12·k chunks.
std::string twelve_gpus(const std::string& name = "twelve") {
  return R"({"format": "forestcoll-topology", "version": 1, "name": ")" + name + R"(",
    "nodes": [{"id": "gpu[0-11]", "type": "compute"}, {"id": "sw", "type": "switch"}],
    "links": [{"src": "gpu[0-11]", "dst": "sw", "bandwidth": 25}]})";
}

TEST(SynthTuneLong, KnowsThatOldReleasesCountThePartOfARank) {
  const auto gather = [](const Scratch& scratch, const std::string& sizes,
                         const std::string& target) {
    return run({"synth", "-", "-c", "allgather", "--tune", sizes, "--target", target, "-o",
                scratch / "d", "--json"},
               {.input = twelve_gpus()});
  };
  for (const std::string old : {"rccl-5.7", "rccl-6", "rccl-6.2"}) {
    const Scratch scratch;
    const auto none = gather(scratch, "768K-192M", old);
    EXPECT_EQ(none.code, 2) << none.err;
    EXPECT_THAT(none.err, HasSubstr("at none of these sizes would " + old + " select a schedule"));
    EXPECT_THAT(none.err, HasSubstr("multiples of 144 elements"));
    EXPECT_THAT(none.err, HasSubstr("name multiples of 576 bytes"));
    EXPECT_THAT(none.err, HasSubstr("[S03]"));
    EXPECT_THAT(scratch.names(), ElementsAre());
    // 2.25 MiB = 4096 · 576 bytes; 768 KiB is no multiple.
    const auto one = gather(scratch, "768K,2304K", old);
    ASSERT_EQ(one.code, 0) << one.err;
    const auto json = nlohmann::json::parse(one.out);
    EXPECT_EQ(json["not_served"], nlohmann::json::array({786432}));
    for (const auto& file : json["files"]) {
      EXPECT_EQ(589824 % (4 * file["chunks"].get<std::int64_t>()), 0);  // bytes of chunks per rank
      EXPECT_EQ(file["min_bytes"], 2359296);
    }
  }
  const Scratch scratch;
  const auto since = gather(scratch, "768K-192M", "rccl-6.3");
  ASSERT_EQ(since.code, 0) << since.err;
  EXPECT_TRUE(nlohmann::json::parse(since.out)["not_served"].empty());
}

// The reason that --tune gives for leaving a protocol out; empty where it does not. With one tree
// per root, as the reason is the fabric's.
std::string left_out(const std::string& protocol, const std::string& file,
                     const std::vector<std::string>& more = {}) {
  const Scratch scratch;
  const auto tuned = run_well(joined(
      {"synth", file, "--tune", "256K-64M", "-k", "1", "-o", scratch / "d", "--json"}, more));
  const auto json = nlohmann::json::parse(tuned.out);
  expect_valid(json, "forestcoll-tune.schema.json");
  for (const auto& each : json["left_out"]) {
    if (each["protocol"] != protocol) continue;
    EXPECT_THAT(tuned.err, HasSubstr("  " + protocol + " is not used: "));
    for (const auto& made : json["files"]) EXPECT_NE(made["protocol"], protocol);
    return each["reason"];
  }
  return "";
}

TEST(SynthTuneLong, ChoosesLL128OnlyWhereTheRuntimeUsesItItself) {
  EXPECT_EQ(left_out("LL128", topology("dgx-a100-x1")), "");
  EXPECT_EQ(left_out("LL128", topology("dgx-1-v100")), "");
  EXPECT_THAT(left_out("LL128", topology("dgx-a100-x2")), HasSubstr("NVLink"));
  EXPECT_THAT(left_out("LL128", topology("torus-4x4")), HasSubstr("NVLink"));
  EXPECT_THAT(left_out("LL128", topology("mi250-x1")), HasSubstr("NVLink"));
  const std::vector<std::string> rccl = {"--target", "rccl-6"};
  EXPECT_EQ(left_out("LL128", topology("mi250-x1"), rccl), "");
  EXPECT_THAT(left_out("LL128", topology("dgx-a100-x1"), rccl), HasSubstr("gfx90a"));
  // Half a machine has no tuning table.
  EXPECT_THAT(left_out("LL128", topology("mi250-x1"), {"--target", "rccl-6", "--ranks", "0-7"}),
              HasSubstr("16 gfx90a, not 8"));
}

TEST(SynthTuneLong, LeavesSimpleOutWhereItHangs) {
  const std::vector<std::string> broadcast = {"-c", "broadcast", "--root", "0"};
  EXPECT_THAT(left_out("Simple", topology("dgx-a100-x2"), broadcast), HasSubstr("hangs"));
  EXPECT_EQ(left_out("Simple", topology("dgx-a100-x1"), broadcast), "");
  EXPECT_EQ(left_out("Simple", topology("dgx-a100-x2")), "");
  const Scratch scratch;
  const auto tuned = expect_says(0,
                                 joined({"synth", topology("dgx-a100-x2"), "--tune", "64M", "-o",
                                         scratch / "d", "--json", "--force-simple"},
                                        broadcast),
                                 "[W13]");
  EXPECT_EQ(nlohmann::json::parse(tuned.out)["files"][0]["protocol"], "Simple");
}

TEST(SynthTuneLong, KeepsToTheProtocolAndTheInstancesThatAreAskedFor) {
  for (const std::string protocol : {"Simple", "LL128"}) {
    const auto json = tuned("4K-64M", {"--proto", protocol, "--instances", "2"});
    for (const auto& file : json["files"]) {
      EXPECT_EQ(file["protocol"], protocol);
      EXPECT_EQ(file["instances"], 2);
    }
  }
}

TEST(SynthTune, WarnsOfTheRootAndSaysTheSms) {
  const Scratch scratch;
  const auto synth = expect_says(0,
                                 {"synth", "-", "--tune", "64K", "-o", scratch / "d", "-c",
                                  "broadcast", "--root", "0", "--target", "rccl-5.7"},
                                 "[W10]", {.input = three_gpus()});
  EXPECT_THAT(synth.err, HasSubstr("104 SMs"));
}

}  // namespace
}  // namespace forestcoll::testing
