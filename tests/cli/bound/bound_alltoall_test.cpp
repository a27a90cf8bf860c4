// `forestcoll bound -c alltoall` from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

nlohmann::json report_of(const std::vector<std::string>& arguments) {
  return json_of(joined({"bound", "--json"}, arguments), "forestcoll-bound.schema.json");
}

TEST(BoundAlltoallLong, StandsInTheTable) {
  const auto bound = run_well({"bound", topology("dgx-a100-x2"), "--check"});
  EXPECT_THAT(bound.out, HasSubstr("\nalltoall "));
  EXPECT_THAT(bound.out, HasSubstr("bottleneck of alltoall: the 8 GPUs of box"));
  EXPECT_THAT(bound.err, HasSubstr("adds up the flows of the alltoall"));
  const auto json = report_of({topology("dgx-a100-x2")});
  EXPECT_EQ(json["collective"], "allgather");
  EXPECT_EQ(json["algbw"]["alltoall"]["exact"], "50");
  EXPECT_EQ(json["busbw"]["alltoall"]["exact"], "375/8");
  EXPECT_EQ(json["alltoall"]["pair"]["exact"], "25/8");
}

TEST(BoundAlltoallLong, OtherCollectivesHaveNoneOfIt) {
  const auto json = report_of({topology("dgx-a100-x2"), "-c", "allgather"});
  EXPECT_FALSE(json.contains("alltoall"));
  EXPECT_FALSE(json["algbw"].contains("alltoall"));
}

TEST(BoundAlltoallLong, AloneHasNoTrees) {
  for (const char* name : {"alltoall", "all2all", "AllToAll"}) {
    const auto json = report_of({topology("mi250-x2"), "-c", name, "--check"});
    EXPECT_EQ(json["collective"], "alltoall");
    EXPECT_EQ(json["algbw"],
              nlohmann::json::parse(R"({"alltoall": {"exact": "32", "value": 32}})"));
    EXPECT_EQ(json["alltoall"]["at_most"]["exact"], "1");
    EXPECT_EQ(json["checked"], true);
    EXPECT_FALSE(json.contains("k"));
  }
}

// The lengths are the proof: anybody can add them up.
TEST(BoundAlltoallLong, LengthsOfACutAddUp) {
  const auto json = report_of({topology("dgx-a100-x4"), "-c", "alltoall"});
  const auto& lengths = json["alltoall"]["lengths"];
  ASSERT_EQ(lengths.size(), 8);
  for (const auto& link : lengths) EXPECT_EQ(link["length"]["exact"], "1");
  // 8 links of 25 GB/s, 8 · 24 blocks
  EXPECT_EQ(json["alltoall"]["pair"]["exact"], "25/24");
}

TEST(BoundAlltoallLong, WordsNameTheCut) {
  const auto bound = run_well({"bound", topology("dgx-a100-x4"), "-c", "alltoall", "--top", "1"});
  EXPECT_THAT(bound.out, HasSubstr("every GPU sends to every other at 1.042 (25/24) GB/s\n"));
  EXPECT_THAT(bound.out, HasSubstr("bottleneck of alltoall: the 8 GPUs of box0 send 192 blocks "
                                   "through 8 links of 25 GB/s (200 GB/s)\n  box0/"));
}

TEST(BoundAlltoallLong, WordsNameLengthsWhereNoCutIsAsNarrow) {
  // K3,3: every block takes 7/5 hops on average, which no cut says.
  const std::string complete_bipartite =
      R"({"format": "forestcoll-topology", "version": 1, "name": "K3,3",
          "nodes": [{"id": "a[0-2]", "type": "compute"}, {"id": "b[0-2]", "type": "compute"}],
          "links": [{"src": "a[0-2]", "dst": "b[0-2]", "bandwidth": 1, "pair": "product"}]})";
  const auto bound =
      run_well({"bound", "-", "-c", "alltoall", "--top", "2"}, {.input = complete_bipartite});
  EXPECT_THAT(bound.out, HasSubstr("(3/7) GB/s"));
  EXPECT_THAT(bound.out, HasSubstr("no cut alone, but "));
  EXPECT_THAT(bound.out,
              HasSubstr("18 links together, all alike (a0 -> b0, …): a block crosses 1.4 "
                        "of them on average\n"));
}

// A random graph of switches is too irregular for the linear program.
TEST(BoundAlltoallLong, IntervalsAreSaid) {
  const auto fabric =
      run_well({"topo", "gen", "jellyfish", "--switches", "64", "--degree", "6", "--hosts", "4"});
  const RunOptions input{.input = fabric.out};
  const auto table = run({"bound", "-"}, input);
  EXPECT_THAT(table.out, Not(HasSubstr("alltoall")));  // that would not be quick
  double last = 1;
  for (const double percent : {5.0, 0.1}) {
    const auto bound = run_well({"bound", "-", "-c", "alltoall", "--json", "--check", "--gap",
                                 std::to_string(percent) + "%"},
                                input);
    const auto json = nlohmann::json::parse(bound.out);
    expect_valid(json, "forestcoll-bound.schema.json");
    const auto& pair = json["alltoall"]["pair"];
    EXPECT_TRUE(pair["exact"].is_null());
    const double gap =
        1 - pair["value"].get<double>() / json["alltoall"]["at_most"]["value"].get<double>();
    EXPECT_GT(gap, 0);
    EXPECT_LE(gap, percent / 100);
    EXPECT_LT(gap, last);
    last = gap;
  }
  const auto words = run({"bound", "-", "-c", "alltoall"}, input);
  EXPECT_THAT(words.out, HasSubstr("the proved upper bound of algbw is "));
}

TEST(BoundAlltoallLong, ATimeLimitLeavesAnInterval) {
  const auto fabric =
      run({"topo", "gen", "jellyfish", "--switches", "128", "--degree", "8", "--hosts", "8"});
  const auto bound = run_well({"bound", "-", "-c", "alltoall", "--gap", "0", "--time-limit", "1"},
                              {.input = fabric.out});
  EXPECT_THAT(bound.out, HasSubstr("the proved upper bound of algbw is "));
}

TEST(BoundAlltoallLong, DemandsAreOfBytes) {
  Scratch scratch;
  std::string csv, rows;
  for (int s = 0; s < 16; ++s) {
    for (int t = 0; t < 16; ++t) csv += (t == 0 ? "" : ",") + std::to_string(s == 3 ? 0 : 1000000);
    csv += "\n";
  }
  const std::string file = scratch.write("demand.csv", csv);
  const auto json =
      report_of({topology("dgx-a100-x2"), "-c", "alltoall", "--demand", file, "--check"});
  EXPECT_EQ(json["alltoall"]["bytes"], 15 * 16 * 1000000);
  // 64 MB of box 1 through 200 GB/s
  EXPECT_NEAR(json["alltoall"]["least_seconds"].get<double>(), 0.00032, 1e-12);
  EXPECT_EQ(json["algbw"]["alltoall"]["exact"], "375/8");  // 15 MB a GPU
  const auto bound = run({"bound", topology("dgx-a100-x2"), "-c", "alltoall", "--demand", file});
  EXPECT_THAT(bound.out, HasSubstr("the demand takes 0.32 ms\n"));
  EXPECT_THAT(bound.out, HasSubstr("64000000 bytes"));
}

TEST(BoundAlltoallLong, RefusesWhatItCannotUse) {
  Scratch scratch;
  const std::string file = topology("dgx-a100-x1"), nothing = scratch.write("zero.csv", [] {
    std::string rows;
    for (int s = 0; s < 8; ++s) rows += "0,0,0,0,0,0,0,0\n";
    return rows;
  }());
  struct Refused {
    std::vector<std::string> arguments;
    int code;
    std::string said;
  };
  const std::vector<Refused> cases = {
      {{"--gap", "1"}, 2, "[S04]"},
      {{"-c", "allgather", "--time-limit", "1"}, 2, "[S04]"},
      {{"-c", "allgather", "--demand", nothing}, 2, "[S04]"},
      {{"-c", "alltoall", "--root", "0"}, 2, "[S02]"},
      {{"-c", "alltoall", "--whatif"}, 2, "[S04]"},
      {{"-c", "alltoall", "--gap", "much"}, 2, "[S03]"},
      {{"-c", "alltoall", "--gap", "101"}, 2, "[S03]"},
      {{"-c", "alltoall", "--gap=-1"}, 2, "[S03]"},
      {{"-c", "alltoall", "--time-limit", "0"}, 2, "[S03]"},
      {{"-c", "alltoall", "--demand", nothing}, 2, "[A02]"},
      {{"-c", "alltoall", "--demand", scratch / "missing"}, 4, "missing"},
      {{"-c", "alltoall", "--demand", scratch.write("short.csv", "1,2\n")}, 2, "[A04]"},
      {{"-c", "alltoall", "--demand", scratch.write("object.json", "{}")}, 2, "[A03]"},
      {{"-c", "alltoall", "--demand", ""}, 2, "--demand"},
      {{"-c", "alltoallw"}, 2, "[S03]"},
  };
  for (const Refused& refused : cases) {
    std::vector<std::string> arguments = {"bound", file};
    arguments.insert(arguments.end(), refused.arguments.begin(), refused.arguments.end());
    const auto bound = run(arguments);
    EXPECT_EQ(bound.code, refused.code) << refused.arguments.back() << bound.err;
    EXPECT_THAT(bound.err, HasSubstr(refused.said)) << refused.arguments.back();
    EXPECT_EQ(bound.out, "");
  }
}

// The same input gives the same bytes.
TEST(BoundAlltoallLong, IsTheSameTwice) {
  const std::vector<std::string> arguments = {"bound", topology("dragonfly-72"), "-c", "alltoall",
                                              "--json"};
  EXPECT_EQ(run(arguments).out, run(arguments).out);
}

}  // namespace
}  // namespace forestcoll::testing
