// `forestcoll compare` from outside: the programs that would be written, by size.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/compare.hpp"

namespace forestcoll::testing {
namespace {

nlohmann::json programs(const std::string& fabric, std::vector<std::string> more) {
  return json_of(joined({"compare", topology(fabric), "--json"}, more),
                 "forestcoll-compare.schema.json");
}

// One question, one answer: programs are for the runtime that `synth` writes for.
TEST(CompareProgramsLong, AreForTheTargetThatIsAskedFor) {
  const std::vector<std::string> target = {"--target", "rccl-6.3"};
  const auto report =
      programs("dgx-a100-x1", joined({"--sizes", "16M", "--algorithms", "forestcoll"}, target));
  const Scratch scratch;
  const auto made = run(
      joined({"synth", topology("dgx-a100-x1"), "--size", "16M", "--json", "-o", scratch / "x.xml"},
             target));
  ASSERT_EQ(made.code, 0);
  EXPECT_EQ(row(report, "forestcoll")["program_times"][0]["simulated_seconds"],
            nlohmann::json::parse(made.out)["fastest"]["simulated_seconds"]);
  const auto words = run(
      joined({"compare", topology("dgx-a100-x1"), "--sizes", "16M", "--algorithms", "forestcoll"},
             target));
  EXPECT_THAT(words.out, HasSubstr("reached by synth, for rccl-6.3 "));
  const auto plans =
      run(joined({"compare", topology("dgx-a100-x1"), "-c", "gather", "--root", "gpu0"}, target));
  EXPECT_EQ(plans.code, 2);
  EXPECT_THAT(plans.err, HasSubstr("S04"));
  const auto refused = run({"compare", topology("dgx-a100-x1"), "--target", "mscclpp"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, HasSubstr("T07"));
}

// What is far behind and long to simulate: one-shot sends the buffer to all 63 others.
TEST(CompareProgramsLong, MarkWhatIsALowerBound) {
  const Scratch scratch;
  const std::string star = scratch.write("star.json", R"({
    "format": "forestcoll-topology", "version": 1, "name": "star",
    "nodes": [{"id": "gpu[0-63]", "type": "compute"}, {"id": "sw", "type": "switch"}],
    "links": [{"src": "gpu[0-63]", "dst": "sw", "bandwidth": 50, "latency": "0.7us"}]})");
  const auto report = json_of(
      {"compare", star, "--sizes", "64K,16M", "--algorithms", "forestcoll,one-shot", "--json"},
      "forestcoll-compare.schema.json");
  const auto is_at_least = [&](const char* algorithm, std::size_t size) {
    return row(report, algorithm)["choices"][size]["is_at_least"].get<bool>();
  };
  EXPECT_FALSE(is_at_least("forestcoll", 0) || is_at_least("forestcoll", 1));
  EXPECT_FALSE(is_at_least("one-shot", 0));
  EXPECT_TRUE(is_at_least("one-shot", 1));
  EXPECT_THAT(row(report, "one-shot")["note"].get<std::string>(),
              HasSubstr("a lower bound at 16 MiB"));
}

// Nobody is faster than what `synth --size` writes, as all of them are among what it chooses from.
void expect_none_faster(const nlohmann::json& report) {
  const auto ours = row(report, "forestcoll")["program_times"];
  std::size_t others = 0;
  for (const auto& each : report["rows"]) {
    const auto times = each.value("program_times", nlohmann::json::array());
    for (std::size_t i = 0; i < times.size(); ++i) {
      EXPECT_GE(times[i]["simulated_seconds"].get<double>(),
                ours[i]["simulated_seconds"].get<double>())
          << each["algorithm"] << " at " << times[i]["bytes"];
      ++others;
    }
  }
  EXPECT_GT(others, 8 * ours.size());
}

TEST(CompareProgramsLongest, NobodyIsFasterThanWhatSynthWritesForTheSize) {
  const auto report = programs("dgx-a100-x1", {"--sizes", "1K,256K,32M"});
  expect_none_faster(report);
  const auto ours = row(report, "forestcoll");
  EXPECT_EQ(ours["choices"][0]["algorithm"], "all-pairs-once");
  EXPECT_EQ(ours["choices"][2]["algorithm"], "forestcoll");
  EXPECT_THAT(ours["note"].get<std::string>(),
              HasSubstr("as synth --size writes it: all-pairs-once in "));
  for (const auto& choice : ours["choices"]) {
    EXPECT_GE(choice["simulated_seconds"].get<double>(), choice["least_seconds"].get<double>());
  }
  // The trees of the highest rate are another row, and slower for small messages.
  EXPECT_GT(row(report, "forestcoll (rate)")["program_times"][0]["simulated_seconds"].get<double>(),
            2 * ours["program_times"][0]["simulated_seconds"].get<double>());
  EXPECT_EQ(row(report, "recursive-doubling")["algbw"]["exact"], "100");
  const auto sentence = report["who_wins"].back().get<std::string>();
  EXPECT_THAT(sentence, ::testing::StartsWith("By size, programs of threadblocks, compared with "));
  // The same in numbers, of all sizes that are simulated.
  const auto& first = report["wins"].front();
  EXPECT_EQ(first["simulated"], "program");
  EXPECT_EQ(first["min_bytes"], 1 << 10);
  EXPECT_EQ(report["wins"].back()["max_bytes"], 32 << 20);
  EXPECT_EQ(first["algorithm"], "forestcoll");
  EXPECT_GT(first["gain"], 0);
}

// What the program that is written takes by `simulate` is what the row says.
TEST(CompareProgramsLong, TimesAreThoseOfTheFileThatSynthWrites) {
  const Scratch scratch;
  const auto report =
      programs("dgx-a100-x1", {"-c", "allgather", "--algorithms", "forestcoll", "--sizes", "64K"});
  ASSERT_EQ(run({"synth", topology("dgx-a100-x1"), "-c", "allgather", "--size", "64K", "-o",
                 scratch / "s.xml"})
                .code,
            0);
  const auto simulated = nlohmann::json::parse(
      run({"simulate", scratch / "s.xml", topology("dgx-a100-x1"), "--sizes", "64K", "--json"})
          .out);
  EXPECT_DOUBLE_EQ(
      simulated["times"][0]["simulated_seconds"].get<double>(),
      row(report, "forestcoll")["program_times"][0]["simulated_seconds"].get<double>());
}

// One-shot below 256 KiB for eight ranks, else two-shot; nothing for several boxes. NCCL has LL for
// small messages and Simple for large ones.
TEST(CompareProgramsLong, SelectorsPickAsPublished) {
  const auto report = programs(
      "dgx-a100-x1", {"--algorithms", "mscclpp-pick,nccl-pick", "--sizes", "64K,256K,16M"});
  const auto picks = row(report, "mscclpp-pick")["choices"];
  EXPECT_EQ(picks[0]["algorithm"], "one-shot");
  EXPECT_EQ(picks[1]["algorithm"], "two-shot");
  const auto nccl = row(report, "nccl-pick")["choices"];
  EXPECT_EQ(nccl[0]["protocol"], "LL");
  EXPECT_EQ(nccl[2]["protocol"], "Simple");
  const auto boxes = programs("dgx-a100-x2", {"--algorithms", "mscclpp-pick", "--sizes", "64K"});
  EXPECT_EQ(row(boxes, "mscclpp-pick")["error"]["code"], "N06");
}

// Between boxes a broadcast in Simple hangs: nobody's time is that of such a file.
TEST(CompareProgramsLong, NobodyIsTimedInAProtocolThatHangs) {
  const auto report = programs("dgx-a100-x2", {"-c", "broadcast", "--root", "0", "--algorithms",
                                               "forestcoll,forestcoll (rate)", "--sizes", "64M"});
  EXPECT_EQ(row(report, "forestcoll")["choices"][0]["protocol"], "LL");
  EXPECT_GE(row(report, "forestcoll (rate)")["program_times"][0]["simulated_seconds"].get<double>(),
            row(report, "forestcoll")["program_times"][0]["simulated_seconds"].get<double>());
}

TEST(ComparePrograms, TreesAreAnOption) {
  const auto code = [](const std::vector<std::string>& more) {
    const auto result = run(joined({"compare", topology("dgx-a100-x1"), "--trees"}, more));
    EXPECT_EQ(result.code, 2);
    return result.err.substr(result.err.find("[S"), 5);
  };
  EXPECT_EQ(code({"--algorithms", "nccl-pick"}), "[S04]");
  EXPECT_EQ(code({"--algorithms", "recursive-doubling"}), "[S04]");
  EXPECT_EQ(code({"-c", "alltoall"}), "[S04]");
}

TEST(CompareProgramsLong, AlltoallIsChosenBySizeToo) {
  const auto report = programs("dgx-a100-x1", {"-c", "alltoall", "--sizes", "16K,1M,64M"});
  const auto ours = row(report, "forestcoll")["times"];
  for (const auto& each : report["rows"]) {
    for (std::size_t i = 0; i < each["times"].size(); ++i) {
      EXPECT_GE(each["times"][i]["simulated_seconds"].get<double>(),
                ours[i]["simulated_seconds"].get<double>() * (1 - 1e-9))
          << each["algorithm"];
    }
  }
}

// All to all, 1,024 GPUs have the steps of 1,024 trees; from one root, of a few.
TEST(CompareProgramsLong, OfTooManyGpusAreNotTimed) {
  const Scratch scratch;
  const std::string torus = scratch / "torus.json";
  ASSERT_EQ(run({"topo", "gen", "torus", "--dims", "8x8x16", "-o", torus}).code, 0);
  const auto compare = [&](const std::vector<std::string>& more) {
    const auto result = run_well(joined({"compare", torus, "--sizes", "1K"}, more));
    return result.out + result.err;
  };
  EXPECT_THAT(
      compare({"-c", "allgather", "--algorithms", "forestcoll"}),
      HasSubstr("forestcoll: not simulated as a program: programs of 1024 GPUs are too many "
                "to be simulated here [N07]"));
  const auto rooted = compare({"-c", "broadcast", "--root", "0", "--algorithms", "one-shot"});
  EXPECT_THAT(rooted, Not(HasSubstr("N07")));
}

// 2 · 256 · 255 steps: more than are simulated of programs with more trees.
TEST(CompareProgramsLongest, OneTreePerRootIsTimedOnUpTo512Gpus) {
  const Scratch scratch;
  const std::string cube = scratch / "cube.json";
  ASSERT_EQ(run({"topo", "gen", "hypercube", "--dimensions", "8", "-o", cube}).code, 0);
  const auto result = json_of(
      {"compare", cube, "-c", "allgather", "--algorithms", "multitree", "--sizes", "1K", "--json"});
  const auto multitree = row(result, "multitree");
  EXPECT_EQ(multitree["program_times"].size(), 1U) << multitree;
}

// 184 · 183 paths: too many to give ours the stops of others, not to take others or fewer rounds.
TEST(CompareProgramsLongest, AlltoallOfManyGpusIsNoSlowerThanBrucks) {
  const Scratch scratch;
  const std::string boxes = scratch / "boxes.json";
  ASSERT_EQ(run({"topo", "gen", "dgx-a100", "--boxes", "23", "-o", boxes}).code, 0);
  const auto report = json_of({"compare", boxes, "-c", "alltoall", "--algorithms",
                               "forestcoll,bruck", "--sizes", "1K", "--json"});
  const auto seconds = [&](const char* name) {
    return row(report, name)["times"].at(0)["simulated_seconds"].get<double>();
  };
  EXPECT_LE(seconds("forestcoll"), seconds("bruck"));
}

}  // namespace
}  // namespace forestcoll::testing
