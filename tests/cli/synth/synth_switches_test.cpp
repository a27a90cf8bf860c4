// What `synth` says of switches that copy and combine.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

TEST(SynthInNetworkLong, SummarySaysWhatSwitchesCouldAdd) {
  const Scratch scratch;
  const std::string file = scratch / "h100.json";
  ASSERT_EQ(run({"topo", "gen", "dgx-h100", "-o", file}).code, 0);
  const auto synth =
      expect_says(0, {"synth", "-k", "auto", file, "--json", "-o", scratch / "x.xml"},
                  "64.28 % of the optimum 400 GB/s\n"
                  "  optimum by trees, without in-network multicast and reduction "
                  "(--format forest has them): 257.143 (1800/7) GB/s, of which "
                  "this is 100 %");
  const auto report = nlohmann::json::parse(synth.out);
  expect_valid(report, "forestcoll-synth.schema.json");
  EXPECT_EQ(report["in_network"]["exact"], "400");
  EXPECT_EQ(report["algbw"]["exact"], "1800/7");
  const auto gather =
      run({"synth", "-k", "auto", file, "-c", "allgather", "--json", "-o", scratch / "y.xml"});
  EXPECT_FALSE(nlohmann::json::parse(gather.out).contains("in_network"));
}

// Trees branch at the NVSwitch, and `verify` finds what `bound` proves.
TEST(SynthInNetwork, ForestsBranchAtSwitches) {
  const Scratch scratch;
  const std::string file = scratch / "h100.json", forest = scratch / "forest.json";
  ASSERT_EQ(run({"topo", "gen", "dgx-h100", "-o", file}).code, 0);
  const auto synth = expect_says(
      0, {"synth", "-v", file, "--format", "forest", "--json", "-o", forest}, "algbw 400 GB/s");
  EXPECT_THAT(synth.err, HasSubstr("trees branch at the switch"));
  const auto report = nlohmann::json::parse(synth.out);
  expect_valid(report, "forestcoll-synth.schema.json");
  EXPECT_EQ(report["algbw"]["exact"], "400");
  EXPECT_EQ(report["optimum"]["exact"], "400");
  EXPECT_EQ(report["branching"]["over_gpus_alone"]["exact"], "1800/7");
  expect_valid(nlohmann::json::parse(read_file(forest)), "forestcoll-forest.schema.json");
  const auto verify = json_of({"verify", forest, "--topology", file, "--json"});
  EXPECT_EQ(verify["algbw"]["exact"], "400");
}

// k trees per GPU of each phase, and no tree higher: at whatever rate that leaves.
TEST(SynthInNetworkLong, NumbersOfTreesAndHeightsAreKept) {
  const Scratch scratch;
  const std::string file = scratch / "h100.json", forest = scratch / "forest.json";
  ASSERT_EQ(run({"topo", "gen", "dgx-h100", "--boxes", "3", "-o", file}).code, 0);
  const auto synth = [&](const std::vector<std::string>& more) {
    const auto result =
        json_of(joined({"synth", file, "--format", "forest", "--json", "-o", forest}, more));
    run_well({"verify", forest, "--topology", file});
    auto report = result;
    expect_valid(report, "forestcoll-synth.schema.json");
    return report;
  };
  EXPECT_EQ(synth({"-k", "optimal"})["algbw"]["exact"], "300");
  const auto two = synth({"-k", "2"});
  EXPECT_EQ(two["chunks"], 48);
  EXPECT_TRUE(two.contains("branching"));
  // No more trees are worse: those of 4 are thicker.
  const auto eight = synth({"-k", "8"});
  EXPECT_EQ(eight["chunks"], 192);
  EXPECT_EQ(eight["algbw"]["exact"], "300");
  const auto low = synth({"-k", "4", "--max-height", "3"});
  EXPECT_LE(low["height"]["max"], 3);
  EXPECT_EQ(synth({"-k", "max:8"})["algbw"]["exact"], "300");
  // Stars over GPUs alone are lower than any tree through a switch.
  EXPECT_FALSE(synth({"--max-height", "2"}).contains("branching"));
}

// Through the switch of one box; of two boxes where that is faster than without.
TEST(SynthInNetworkLong, PlansHaveSwitchChannels) {
  const Scratch scratch;
  const std::string file = scratch / "h100.json", plan = scratch / "plan.json";
  for (const std::string boxes : {"1", "2"}) {
    ASSERT_EQ(run({"topo", "gen", "dgx-h100", "--boxes", boxes, "-o", file}).code, 0);
    const auto synth = expect_says(
        0, {"synth", "-v", file, "-k", "auto", "--format", "mscclpp", "--json", "-o", plan},
        "reduction and multicast in");
    const auto report = nlohmann::json::parse(synth.out);
    expect_valid(report, "forestcoll-synth.schema.json");
    EXPECT_GT(report["algbw"]["value"].get<double>(), boxes == "1" ? 399 : 300);
    EXPECT_THAT(read_file(plan), HasSubstr("\"glres\""));
    run_well({"verify", plan, "--topology", file});
  }
}

// A broadcast is as fast without the switch's copies, and takes more messages in turn.
TEST(SynthInNetworkLong, BroadcastsAndReductionsTakeOneCopy) {
  const Scratch scratch;
  const std::string file = scratch / "h100.json", forest = scratch / "forest.json";
  ASSERT_EQ(run({"topo", "gen", "dgx-h100", "-o", file}).code, 0);
  for (const std::string collective : {"broadcast", "reduce"}) {
    const auto synth = expect_says(0,
                                   {"synth", file, "-c", collective, "--root", "gpu2", "--format",
                                    "forest", "--json", "-v", "-o", forest},
                                   "trees branch at the switch nvsw; 1 message one after");
    const auto report = nlohmann::json::parse(synth.out);
    expect_valid(report, "forestcoll-synth.schema.json");
    EXPECT_EQ(report["algbw"]["exact"], "450");
    EXPECT_EQ(report["height"]["max"], 2);
    expect_valid(nlohmann::json::parse(read_file(forest)), "forestcoll-forest.schema.json");
    const auto verify = json_of({"verify", forest, "--topology", file, "--json"});
    EXPECT_EQ(verify["algbw"]["exact"], "450");
    EXPECT_EQ(run({"simulate", forest, file}).code, 0);
    const auto compared = run({"compare", file, "-c", collective, "--root", "gpu2", "--sizes", "1K",
                               "--algorithms", "forestcoll", "--json"});
    EXPECT_EQ(nlohmann::json::parse(compared.out)["rows"][0]["height"]["max"], 2) << compared.err;
  }
}

// Where messages are so small that it is the latency that counts; the checker reads both.
TEST(SynthInNetworkLong, SmallMessagesGoInPackets) {
  const Scratch scratch;
  const std::string file = scratch / "h100.json", plan = scratch / "plan.json";
  ASSERT_EQ(run({"topo", "gen", "dgx-h100", "-o", file}).code, 0);
  for (const auto& [most, operation] :
       {std::pair("16K", "\"gstorepkt\""), std::pair("1G", "\"glres\"")}) {
    const auto synth =
        run_well({"synth", file, "--format", "mscclpp", "--max-bytes", most, "--json", "-o", plan});
    expect_valid(nlohmann::json::parse(synth.out), "forestcoll-synth.schema.json");
    EXPECT_THAT(read_file(plan), HasSubstr(operation)) << most;
    EXPECT_THAT(synth.err, Not(HasSubstr("[W11]")));
    run_well({"verify", plan, "--topology", file});
  }
}

// Switches at which trees branch stand in the picture.
TEST(SynthInNetwork, DrawingsShowWhereTreesBranch) {
  const Scratch scratch;
  const std::string file = scratch / "h100.json";
  ASSERT_EQ(run({"topo", "gen", "dgx-h100", "-o", file}).code, 0);
  const auto drawn = run_well({"synth", file, "--format", "dot", "-o", "-"});
  EXPECT_THAT(drawn.out, HasSubstr("allreduce on dgx-h100, 8 chunks, 400 of 400 GB/s"));
  EXPECT_THAT(drawn.out, HasSubstr("label=\"nvsw\", shape=ellipse"));
  EXPECT_THAT(drawn.out, HasSubstr("reduce_7_"));
}

TEST(SynthInNetworkLong, ForestsThatBranchAreTimed) {
  const Scratch scratch;
  const std::string file = scratch / "h100.json", forest = scratch / "forest.json";
  ASSERT_EQ(run({"topo", "gen", "dgx-h100", "-o", file}).code, 0);
  ASSERT_EQ(run({"synth", file, "--format", "forest", "-o", forest}).code, 0);
  const auto simulated = run_well({"simulate", forest, file});
  EXPECT_THAT(simulated.out, HasSubstr("allreduce over 8 ranks"));
}

/// The summary of a forest that keeps the trees of `forest`.
nlohmann::json warm(const std::string& file, const std::string& forest,
                    const std::vector<std::string>& more, const std::string& output) {
  const auto result = run_well(joined(
      {"synth", file, "--format", "forest", "--warm", forest, "--json", "-o", output}, more));
  if (result.code != 0) return {};
  auto report = nlohmann::json::parse(result.out);
  expect_valid(report, "forestcoll-synth.schema.json");
  return report;
}

// Nothing failed: all trees stand.
TEST(SynthInNetworkLong, PreviousTreesAreKept) {
  const Scratch scratch;
  const std::string file = scratch / "h100.json", forest = scratch / "forest.json";
  const std::string after = scratch / "after.json";
  ASSERT_EQ(run({"topo", "gen", "dgx-h100", "--boxes", "2", "-o", file}).code, 0);
  for (const auto& collective :
       std::vector<std::vector<std::string>>{{},
                                             {"-c", "broadcast", "--root", "box1/gpu2"},
                                             {"-c", "reduce", "--root", "box1/gpu2"}}) {
    ASSERT_EQ(run(joined({"synth", file, "--format", "forest", "-o", forest}, collective)).code, 0);
    const auto same = warm(file, forest, collective, after);
    EXPECT_EQ(same["kept"]["kept_trees"], same["kept"]["former_trees"]);
    EXPECT_EQ(same["kept"]["new_trees"], 0);
    EXPECT_EQ(same["kept"]["kept_share"], 1);
    EXPECT_EQ(read_file(after), read_file(forest));
  }
}

// With a NIC gone, those stand that do not use it and fit.
TEST(SynthInNetworkLong, PreviousTreesThatStandAreKept) {
  const Scratch scratch;
  const std::string file = scratch / "h100.json", forest = scratch / "forest.json";
  const std::string after = scratch / "after.json";
  ASSERT_EQ(run({"topo", "gen", "dgx-h100", "--boxes", "2", "-o", file}).code, 0);
  ASSERT_EQ(run({"synth", file, "--format", "forest", "-o", forest}).code, 0);
  const auto less = warm(file, forest, {"--drop", "box0/nic0"}, after);
  ASSERT_TRUE(less.contains("branching"));
  EXPECT_EQ(less["algbw"], less["optimum"]);
  EXPECT_GT(less["kept"]["touched_trees"], 0);
  EXPECT_GT(less["kept"]["kept_trees"], 0);
  EXPECT_LT(less["kept"]["kept_trees"], less["kept"]["former_trees"]);
  run_well({"verify", after, "--topology", file, "--drop", "box0/nic0"});
}

TEST(SynthInNetworkLong, PreviousTreesThatCannotBeKeptAreNamed) {
  const Scratch scratch;
  const std::string file = scratch / "h100.json", forest = scratch / "forest.json";
  ASSERT_EQ(run({"topo", "gen", "dgx-h100", "-o", file}).code, 0);
  ASSERT_EQ(run({"synth", file, "--format", "forest", "-o", forest}).code, 0);
  for (const std::string format : {"msccl", "mscclpp", "forest-xml"}) {
    const auto refused =
        expect_says(2, {"synth", file, "--format", format, "--warm", forest, "-o", "-"}, "[S04]");
    EXPECT_THAT(refused.err, HasSubstr("branch at switches, which --format " + format));
  }
  expect_says(2,
              {"synth", file, "-c", "broadcast", "--root", "0", "--format", "forest", "--warm",
               forest, "-o", "-"},
              "the previous forest is for allreduce, not for broadcast");
  // The switch does not combine any more.
  expect_says(0,
              {"synth", file, "--format", "forest", "--drop", "nvsw:reduce", "--warm", forest, "-o",
               scratch / "after.json"},
              "nothing of the previous forest is kept");
  // A rank more than there was.
  ASSERT_EQ(run({"synth", file, "--ranks", "0-6", "--format", "forest", "-o", forest}).code, 0);
  const auto more =
      expect_says(2, {"synth", file, "--format", "forest", "--warm", forest, "-o", "-"},
                  "gpu7 is not in the previous forest");
  EXPECT_THAT(more.err, HasSubstr("[R02]"));
}

// For one size: packets for few bytes, sums in the switch for many, and the plan is what was timed.
TEST(SynthInNetworkLong, PlansAreChosenBySize) {
  const Scratch scratch;
  const std::string box = scratch / "h100.json", file = scratch / "half.json",
                    plan = scratch / "plan.json";
  run_well({"topo", "gen", "dgx-h100", "-o", box});
  run_well({"topo", "convert", box, "--to", "topology", "--ranks", "0-3", "-o", file});
  for (const auto& [size, operation, name] :
       {std::tuple("16K", "\"gstorepkt\"", "forestcoll, packets copied in switches"),
        std::tuple("1M", "\"glres\"", "forestcoll, sums in switches")}) {
    const auto synth = run_well(
        {"synth", "-v", file, "--format", "mscclpp", "--size", size, "--json", "-o", plan});
    const auto report = nlohmann::json::parse(synth.out);
    expect_valid(report, "forestcoll-synth.schema.json");
    EXPECT_THAT(report["fastest"]["name"].get<std::string>(), HasSubstr(name));
    EXPECT_THAT(synth.err, HasSubstr("fastest for this size, simulated: " + std::string(name)));
    EXPECT_THAT(read_file(plan), HasSubstr(operation)) << size;
    EXPECT_GE(report["fastest"]["simulated_seconds"].get<double>(),
              report["fastest"]["least_seconds"].get<double>());
    EXPECT_EQ(run({"verify", plan, "--topology", file}).code, 0);
    const auto timed = run({"simulate", plan, file, "--sizes", size, "--json"});
    EXPECT_DOUBLE_EQ(
        nlohmann::json::parse(timed.out)["times"][0]["simulated_seconds"].get<double>(),
        report["fastest"]["simulated_seconds"].get<double>());
  }
  const auto odd =
      expect_says(2, {"synth", file, "--format", "mscclpp", "--size", "24", "-o", plan},
                  "no plan is for any of these sizes");
  EXPECT_THAT(odd.err, HasSubstr("[S03]"));
}

// What serves most sizes is named, not packets for small ones.
TEST(SynthInNetworkLong, APlanForLargeMessagesIsNamedWhereNoneIs) {
  const Scratch scratch;
  const std::string file = scratch / "rack.json";
  ASSERT_EQ(run({"topo", "gen", "gb200-nvl72", "-o", file}).code, 0);
  const auto refused = expect_says(2,
                                   {"synth", file, "--ranks", "0-17", "-c", "allreduce", "--format",
                                    "mscclpp", "--size", "64M", "-o", scratch / "plan.json"},
                                   "up to 2147483648 [S03]");
  EXPECT_THAT(refused.err, HasSubstr("name multiples of 288 bytes"));
}

// Plans without switches, too: of our trees and of others'.
TEST(SynthInNetworkLong, PlansOverGpusAreChosenBySize) {
  const Scratch scratch;
  const std::string plan = scratch / "plan.json";
  const auto report = json_of({"synth", topology("dgx-a100-x1"), "-c", "allgather", "--format",
                               "mscclpp", "--size", "1M", "--json", "-o", plan},
                              "forestcoll-synth.schema.json");
  EXPECT_GT(report["fastest"]["considered"].size(), 4U);
  EXPECT_EQ(run({"verify", plan, "--topology", topology("dgx-a100-x1")}).code, 0);
}

// What a plan of several boxes lacks is said, and what switches between boxes could do.
// A second switch only forwards: the best trees use both, and plans cannot say them.
TEST(SynthInNetworkLong, NoNumberOfTreesIsSlowerThanTheDefault) {
  for (const auto& [echo, rate] : {std::pair("true", "240"), std::pair("false", "300")}) {
    const std::string fabric =
        R"({"format": "forestcoll-topology", "version": 1, "name": "planes",
  "nodes": [{"id": "gpu[0-3]", "type": "compute"}, {"id": "b", "type": "switch"},
            {"id": "a", "type": "switch", "multicast": true, "reduce": true, "echo": )" +
        std::string(echo) + R"(}],
  "links": [{"src": "gpu[0-3]", "dst": "a", "bandwidth": 300},
            {"src": "gpu[0-3]", "dst": "b", "bandwidth": 50}]})";
    for (const std::vector<std::string>& trees :
         {std::vector<std::string>{}, {"-k", "optimal"}, {"-k", "auto"}}) {
      const Scratch scratch;
      const std::string plan = scratch / "plan.json";
      const auto synth =
          run_well(joined({"synth", "-", "--format", "mscclpp", "--json", "-o", plan}, trees),
                   {.input = fabric});
      EXPECT_EQ(nlohmann::json::parse(synth.out)["reached"]["exact"], rate) << synth.err;
      EXPECT_THAT(synth.err, Not(HasSubstr("--format forest")));
      run_well({"verify", plan, "--topology", scratch.write("t.json", fabric)});
    }
  }
}

TEST(SynthInNetworkLong, PlansSayWhatTheExecutorCannot) {
  const Scratch scratch;
  const std::string file = scratch / "h100.json", plan = scratch / "plan.json";
  ASSERT_EQ(run({"topo", "gen", "dgx-h100", "--boxes", "2", "--fabric", "odd-even", "--sharp",
                 "yes", "-o", file})
                .code,
            0);
  const auto synth =
      expect_says(0, {"synth", "-v", file, "-k", "auto", "--format", "mscclpp", "-o", plan},
                  "reduction and multicast in 2 switches, box0/nvsw first");
  EXPECT_THAT(synth.err, HasSubstr("between boxes with reduction and multicast: the executor "
                                   "has no channels there"));
  EXPECT_THAT(synth.err, HasSubstr("trees reach up to 400 GB/s (--format forest): the executor's "
                                   "switches sum for two GPUs at least"));
  ASSERT_EQ(run({"topo", "gen", "dgx-h100", "-o", file}).code, 0);
  const auto box = run({"synth", file, "--format", "mscclpp", "-o", plan});
  EXPECT_THAT(box.err, Not(HasSubstr("executor")));
}

}  // namespace
}  // namespace forestcoll::testing
