// `forestcoll synth` from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "cli/program.hpp"
#include "forestcoll/stopwatch.hpp"

namespace forestcoll::testing {
namespace {

TEST(SynthLong, WritesAScheduleThatVerifyAccepts) {
  const Scratch scratch;
  const auto synth =
      run_well({"synth", "-k", "auto", topology("dgx-a100-x2"), "-o", scratch / "a.xml"});
  EXPECT_EQ(synth.out, "");
  EXPECT_THAT(synth.err, HasSubstr("of the optimum 173.333 (520/3) GB/s"));
  EXPECT_THAT(scratch.names(), ElementsAre("a.xml"));
  const auto verify = run({"verify", scratch / "a.xml", "--topology", topology("dgx-a100-x2")});
  EXPECT_EQ(verify.code, 0) << verify.out;
  EXPECT_THAT(verify.out, HasSubstr("valid: allreduce over 16 ranks"));
}

TEST(SynthLong, WritesToStandardOutputByDefault) {
  const auto synth = run_well({"synth", "-k", "auto", "-", "--quiet"}, {.input = small_topology()});
  EXPECT_EQ(synth.err, "");
  run_well({"verify", "-"}, {.input = synth.out});
}

TEST(SynthLong, EveryCollectiveAndFormat) {
  const Scratch scratch;
  const std::string file = scratch.write("t.json", small_topology());
  for (const std::string collective :
       {"allgather", "reduce_scatter", "allreduce", "broadcast", "reduce"}) {
    const bool rooted = collective == "broadcast" || collective == "reduce";
    for (const std::string format : {"msccl", "forest", "forest-xml", "dot"}) {
      std::vector<std::string> arguments = {"synth", file, "-c", collective, "--format", format};
      if (rooted) arguments.insert(arguments.end(), {"--root", "gpu1"});
      const auto synth = run(arguments);
      EXPECT_EQ(synth.code, 0) << collective << " " << format << "\n" << synth.err;
      EXPECT_THAT(synth.out, Not(IsEmpty()));
      const bool hazard = rooted && format == "msccl";
      EXPECT_EQ(synth.err.find("[W10]") != std::string::npos, hazard) << synth.err;
      if (format == "msccl" || format == "forest") {
        const auto verify = run({"verify", "-", "--topology", file}, {.input = synth.out});
        EXPECT_EQ(verify.code, 0) << verify.out;
        EXPECT_THAT(verify.out, HasSubstr("valid: " + collective));
      }
    }
  }
}

TEST(SynthLong, FormatNoneWritesNothing) {
  const Scratch scratch;
  const auto synth = run_well({"synth", topology("dgx-a100-x1"), "--format", "none"});
  EXPECT_EQ(synth.out, "");
  expect_says(2, {"synth", topology("dgx-a100-x1"), "--format", "none", "-o", scratch / "x"},
              "[S04]");
  EXPECT_THAT(scratch.names(), IsEmpty());
}

TEST(SynthLong, JsonSummaryFollowsItsSchema) {
  const Scratch scratch;
  for (const std::string format : {"msccl", "forest", "none"}) {
    std::vector<std::string> words = {
        "synth", topology("dgx-a100-x2"), "-c", "allgather", "--json", "-k", "max:4", "--format",
        format};
    if (format != "none") words.insert(words.end(), {"-o", scratch / "a"});
    const auto json = json_of(words, "forestcoll-synth.schema.json");
    EXPECT_EQ(json["optimum"]["exact"], "1040/3");
    EXPECT_EQ(json["tradeoff"].size(), 4U);
    EXPECT_EQ(json["threadblocks"] > 0, format == "msccl");
  }
}

TEST(SynthLong, StagesAddUpToTheTotal) {
  const std::vector<std::vector<std::string>> requests = {
      {"dgx-a100-x4", "-k", "auto"},
      {"dgx-a100-x2", "-c", "allgather", "-k", "auto"},  // with a choice of k
      {"mi250-x2", "-k", "optimal", "--format", "none"},
      {"dgx-a100-x2", "--algorithm", "nccl-ring"},
      {"dgx-a100-x1", "-c", "alltoall", "--size", "1M"},  // others are compared
      {"dgx-a100-x1", "-c", "allgather", "--size", "1M"},
  };
  for (const auto& request : requests) {
    const Scratch scratch;
    std::vector<std::string> arguments = {"synth", topology(request.front()), "--json"};
    arguments.insert(arguments.end(), request.begin() + 1, request.end());
    if (request.back() != "none") arguments.insert(arguments.end(), {"-o", scratch / "a"});
    Stopwatch watch;
    const auto synth = run(arguments);
    const double all = watch.restart();
    ASSERT_EQ(synth.code, 0) << synth.err;
    const auto seconds = nlohmann::json::parse(synth.out)["seconds"];
    const double total = seconds["total"].get<double>();
    double sum = 0;
    for (const auto& [stage, value] : seconds.items()) {
      EXPECT_GE(value.get<double>(), 0) << stage;
      if (stage != "total") sum += value.get<double>();
    }
    EXPECT_NEAR(sum, total, 1e-9) << request.front();  // rounding: clocks are not asked twice
    EXPECT_GT(total, 0) << request.front();
    EXPECT_LT(total, all) << request.front();
  }
}

TEST(SynthLong, TheTotalIsTheSumOfWhatIsPrinted) {
  for (const std::string fabric : {"dgx-a100-x1", "dgx-a100-x4", "hypercube-16"}) {
    const auto synth = run_well({"synth", "-v", "-k", "auto", topology(fabric), "-o", "/dev/null"});
    const std::string line = synth.err.substr(synth.err.find("  seconds:"));
    const std::regex stage("([a-z]+) ([0-9]+)\\.([0-9]{3})");
    long sum = 0, total = -1, stages = 0;
    for (std::sregex_iterator at(line.begin(), line.end(), stage), end; at != end; ++at) {
      const long milliseconds = std::stol((*at)[2]) * 1000 + std::stol((*at)[3]);
      if ((*at)[1] == "total") {
        total = milliseconds;
      } else {
        sum += milliseconds;
        ++stages;
      }
    }
    EXPECT_EQ(stages, 9) << line;
    EXPECT_EQ(total, sum) << line;
  }
}

TEST(SynthLong, TreesPerRoot) {
  const auto k_of = [](const std::vector<std::string>& more) {
    return nlohmann::json::parse(run(joined({"synth", topology("dgx-a100-x2"), "-c", "allgather",
                                             "--json", "-o", "/dev/null"},
                                            more))
                                     .out)["k"]
        .get<int>();
  };
  // The best power of two up to 16; of XML what is fastest for 1 GiB by the model.
  EXPECT_EQ(k_of({"--format", "forest", "-k", "auto"}), 8);
  EXPECT_EQ(k_of({"-k", "auto"}), 1);
  EXPECT_EQ(k_of({"-k", "optimal"}), 13);
  EXPECT_EQ(k_of({"-k", "5"}), 5);
  EXPECT_EQ(k_of({"-k", "max:20"}), 13);
  EXPECT_EQ(k_of({"--format", "forest"}), 13);
}

TEST(SynthLong, SameBytesEveryTime) {
  for (const std::string format : {"msccl", "forest", "forest-xml", "dot"}) {
    std::vector<std::string> arguments = {"synth", topology("mi250-x2"), "--format", format};
    if (format == "msccl") arguments.insert(arguments.end(), {"-k", "auto"});
    const auto first = run_well(arguments);
    EXPECT_EQ(first.out, run(arguments).out);
  }
}

TEST(SynthLong, SizeWindow) {
  const auto synth = run_well(
      {"synth", "-k", "auto", topology("dgx-a100-x1"), "--min-bytes", "64K", "--max-bytes", "2G"});
  EXPECT_THAT(synth.out, HasSubstr("minBytes=\"65536\""));
  EXPECT_THAT(synth.out, HasSubstr("maxBytes=\"2147483648\""));
}

TEST(SynthLong, AWindowWithoutASizeIsAUsageError) {
  const auto first = run({"synth", "-k", "auto", topology("dgx-a100-x1"), "--max-bytes", "1"});
  EXPECT_EQ(first.code, 2);
  EXPECT_EQ(first.out, "");
  EXPECT_THAT(first.err, HasSubstr("--min-bytes 0 and --max-bytes 1 leave no size"));
  EXPECT_THAT(first.err, HasSubstr("the smallest multiple from --min-bytes on is 8:"));
  EXPECT_THAT(first.err, HasSubstr("[S03]"));
  expect_says(
      2, {"synth", "-k", "auto", topology("dgx-a100-x1"), "--min-bytes", "65", "--max-bytes", "71"},
      "is 72: choose a --max-bytes above it");
  EXPECT_EQ(run({"synth", "-k", "auto", topology("dgx-a100-x1"), "--min-bytes", "65", "--max-bytes",
                 "73"})
                .code,
            0);
}

TEST(SynthLong, ATopologyWithoutANameIsCalledByItsFile) {
  std::string text = small_topology();
  const std::string name = R"("name": "pair",)";
  text.erase(text.find(name), name.size());
  const Scratch scratch;
  const auto synth = run({"synth", "-k", "auto", scratch.write("two.gpus.json", text)});
  EXPECT_THAT(synth.err, StartsWith("two.gpus: allreduce over 2 GPUs"));
  EXPECT_THAT(synth.out, HasSubstr("allreduce on two.gpus,"));
  EXPECT_THAT(run({"synth", "-k", "auto", "-"}, {.input = text}).err,
              StartsWith("topology: allreduce"));
  const auto latin1 = run_well({"synth", scratch.write("\xe9.json", text), "--format", "forest"});
  EXPECT_THAT(latin1.out, HasSubstr("\"topology\":\"\xef\xbf\xbd\""));
}

// The optimum sends half of the data through the switch; by the fewest hops all takes the cable.
TEST(SynthLong, WarnsWhereXmlLosesTheRoutes) {
  const std::string text = R"({
    "format": "forestcoll-topology", "version": 1, "name": "cable and switch",
    "units": { "bandwidth": "GB/s" },
    "nodes": [
      { "id": "a", "type": "compute" },
      { "id": "b", "type": "compute" },
      { "id": "sw", "type": "switch" }
    ],
    "links": [
      { "src": "a", "dst": "b", "bandwidth": 10 },
      { "src": "a", "dst": "sw", "bandwidth": 10 },
      { "src": "b", "dst": "sw", "bandwidth": 10 }
    ]
  })";
  const auto lost = run_well({"synth", "-", "-c", "allgather", "-k", "optimal"}, {.input = text});
  EXPECT_THAT(lost.err,
              HasSubstr("names no routes: by the fewest hops it reaches 20 GB/s, not 40"));
  EXPECT_THAT(lost.err, HasSubstr("[W11]"));
  EXPECT_THAT(lost.err, HasSubstr("  algbw 20 GB/s, 50 % of the optimum 40 GB/s\n"));
  EXPECT_THAT(run({"synth", "-", "--format", "forest"}, {.input = text}).err,
              Not(HasSubstr("[W11]")));
  EXPECT_THAT(run({"synth", "-k", "auto", topology("dgx-a100-x1")}).err, Not(HasSubstr("[W11]")));
}

TEST(SynthLong, CountsOneAsOne) {
  const auto synth = run({"synth", "-v", "-", "-c", "broadcast", "--root", "0", "-k", "1"},
                         {.input = small_topology()});
  EXPECT_THAT(synth.err,
              HasSubstr("  1 threadblock per GPU, of 108 assumed; 1 channel; at most 1 step\n"));
}

TEST(Verify, AnswersAndErrorsHaveTheirOwnExitCodes) {
  const auto schedule = run({"synth", "-k", "auto", topology("dgx-a100-x1")});
  EXPECT_EQ(
      run({"verify", "-", "--topology", topology("dgx-a100-x2")}, {.input = schedule.out}).code, 1);
  expect_says(2, {"verify", topology("dgx-a100-x1")},
              "is a topology, where a schedule is expected");
}

TEST(SynthLong, RefusesWhatDoesNotFitTheTarget) {
  const Scratch scratch;
  expect_says(3, {"synth", topology("dgx-a100-x2"), "-k", "99999", "-o", scratch / "a.xml"},
              "[T04]");
  EXPECT_THAT(scratch.names(), IsEmpty());
  expect_says(3, {"synth", "-k", "auto", topology("dgx-a100-x2"), "--sms", "1"}, "[T01]");
}

TEST(SynthLong, UsageErrors) {
  const std::string file = topology("dgx-a100-x1");
  const std::vector<Misuse> misuses = {
      {{}, "TOPOLOGY is required"},
      {{file, "-c", "gatherv"}, "there is no collective \"gatherv\""},
      {{file, "-c", "broadcast"}, "broadcast needs a root [S02]"},
      {{file, "--root", "0"}, "allreduce has no root [S02]"},
      {{file, "-c", "reduce", "--root", "8"}, "found \"8\" [S02]"},
      {{file, "-c", "reduce", "--root", "-1"}, "found \"-1\" [S02]"},
      {{file, "-c", "reduce", "--root", "nvsw"}, "found \"nvsw\" [S02]"},
      {{file, "-k", "0"}, "found \"0\" [S03]"},
      {{file, "-k", "-1"}, "found \"-1\" [S03]"},
      {{file, "-k", "two"}, "found \"two\" [S03]"},
      {{file, "-k", "max:"}, "found \"max:\" [S03]"},
      {{file, "-k", "max:99999999"}, "[S03]"},
      {{file, "-k", "99999999999999999999"}, "[S03]"},
      {{file, "--format", "json"}, "found \"json\" [S03]"},
      {{file, "--target", "nccl"}, "[T07]"},
      {{file, "--sms", "0"}, "--sms"},
      {{file, "--min-bytes", "lots"}, "--min-bytes: expected a number of bytes"},
      {{file, "--max-bytes", "-5"}, "--max-bytes: expected a number of bytes"},
      {{file, "--max-bytes", "9999999T"}, "--max-bytes: expected a number of bytes"},
      {{file, "--min-bytes", "2K", "--max-bytes", "1K"}, "[S04]"},
      {{file, "--min-bytes", "2T"}, "is above 1099511627776, up to which a runtime selects"},
      {{file, "--tune", "1G-64K", "-o", "d"}, "the range begins with 1G, above its end 64K"},
      {{file, "--tune", "2T", "-o", "d"}, "expected sizes up to 1T, found \"2T\""},
      {{file, "--tune", "1M", "-o", ""}, "name a directory with -o"},
      {{file, "--quantize", "0"}, "--quantize: expected a positive number"},
      {{file, "--quantize", "x"}, "--quantize: expected a positive number"},
      {{file, "--json"}, "[S04]"},
      {{file, "--max-nodes", "-3"}, "--max-nodes"},
      {{file, "--nonsense"}, "--nonsense"},
  };
  for (const Misuse& misuse : misuses) {
    const auto synth = expect_says(2, joined({"synth"}, misuse.arguments), misuse.says);
    EXPECT_TRUE(has_no_report(synth));
  }
}

TEST(SynthLong, VerboseAndQuiet) {
  const auto plain = run({"synth", "-k", "auto", topology("dgx-a100-x1")});
  const auto verbose = run({"--verbose", "synth", topology("dgx-a100-x1")});
  const auto quiet = run({"synth", "-k", "1", topology("dgx-a100-x2-degraded"), "-q"});
  EXPECT_THAT(plain.err, Not(HasSubstr("packing:")));
  EXPECT_THAT(verbose.err, HasSubstr("packing:"));
  const auto one =
      run({"--verbose", "synth", topology("dgx-1-v100"), "--format", "none", "-k", "1"});
  EXPECT_THAT(one.err, HasSubstr("packing: 1 cut, 1 check, "));
  EXPECT_EQ(quiet.err, "");
  EXPECT_EQ(quiet.code, 0);
}

TEST(SynthLong, StandardErrorHasNoColourIntoAFile) {
  EXPECT_THAT(run({"synth", "-k", "1", topology("dgx-a100-x2-degraded")}).err,
              AllOf(HasSubstr("of the optimum"), Not(HasSubstr("\033["))));
}

}  // namespace
}  // namespace forestcoll::testing
