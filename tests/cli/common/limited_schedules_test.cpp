// Schedules that keep to capacities that links share, verified and simulated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/common/shared_limits.hpp"

namespace forestcoll::testing {
namespace {

class LimitedSchedulesLong : public SharedLimits {};

TEST_F(LimitedSchedulesLong, HoldWhereSwitchesCopyAndSum) {
  scratch_.write("able.json", kAble);
  for (const std::string format : {"forest", "mscclpp"}) {
    SCOPED_TRACE(format);
    const auto made =
        json_of({"synth", file("able.json"), "--format", format, "-o", file("s.json"), "--json"});
    EXPECT_EQ(made["algbw"]["exact"], "4");
    EXPECT_THAT(run({"verify", file("s.json"), "--topology", file("able.json")}).out,
                HasSubstr("algbw on the topology: 4 GB/s\n  limited by what several links share"));
  }
}

// What is made within them is verified and timed on the fabric with them.
TEST_F(LimitedSchedulesLong, AreKeptBySchedules) {
  for (const auto& [collective, optimum] :
       {std::pair("allgather", "8"), std::pair("alltoall", "16/3")}) {
    const std::string xml = file("s.xml");
    const auto made = try_run("synth", {"-c", collective, "-k", "1", "-o", xml});
    ASSERT_EQ(made.code, 0) << made.err;
    EXPECT_THAT(made.err, HasSubstr("2 limits: of the links that share them"));
    const auto verdict = json_of({"verify", xml, "--topology", file("t.json"), "--json"});
    expect_valid(verdict, "forestcoll-verify.schema.json");
    EXPECT_EQ(verdict["algbw"]["exact"], optimum);
    EXPECT_EQ(verdict.contains("binding_limit"), verdict["collective"] == "alltoall")
        << "the allgather fills links, too";
    const auto times =
        json_of({"simulate", xml, file("t.json"), "--sizes", "1G", "--gpu", "ideal", "--json"});
    EXPECT_NEAR(times["times"][0]["simulated_algbw"].get<double>(),
                verdict["algbw"]["value"].get<double>(),
                0.02 * verdict["algbw"]["value"].get<double>());
  }
}

TEST_F(LimitedSchedulesLong, AreKeptByForestsOfAnyNumberOfTrees) {
  for (const char* k : {"1", "3", "optimal"}) {
    for (const char* collective : {"allgather", "reduce_scatter", "allreduce"}) {
      const std::string forest = file("f.json");
      const auto made =
          try_run("synth", {"-c", collective, "-k", k, "--format", "forest", "-o", forest});
      ASSERT_EQ(made.code, 0) << made.err;
      EXPECT_EQ(run({"verify", forest, "--topology", file("t.json")}).code, 0) << collective << k;
    }
  }
}

// By hand, of stars: the bus carries 2 · 3/4 in and as much out of the buffer of an allgather, and
// the bridge 2 · 3/4 in. An allreduce has as much again, and with unequal shares more.
TEST_F(LimitedSchedulesLong, AreKeptByTreesOfHeightOne) {
  for (const auto& [collective, rate] :
       {std::pair("allgather", "16/3"), std::pair("reduce_scatter", "16/3"),
        std::pair("allreduce", "8/3")}) {
    const std::string forest = file("f.json");
    const auto made = try_run("synth", {"-c", collective, "--max-height", "1", "-k", "optimal",
                                        "--format", "forest", "-o", forest, "--json"});
    ASSERT_EQ(made.code, 0) << made.err;
    const auto report = nlohmann::json::parse(made.out);
    if (collective == std::string("allreduce")) {
      EXPECT_GE(report["algbw"]["value"], 8.0 / 3);
    } else {
      EXPECT_EQ(report["algbw"]["exact"], rate) << collective;
    }
    EXPECT_EQ(report["height"]["max"], 1);
    if (collective == std::string("allgather")) {
      EXPECT_EQ(report["optimum"]["exact"], "8");
    }
    EXPECT_EQ(run({"verify", forest, "--topology", file("t.json")}).code, 0) << collective;
  }
}

// A forest of the links alone does not keep them.
TEST_F(LimitedSchedulesLong, FindAForestThatClaimsTooMuch) {
  std::string free = kBridges;
  free.replace(free.find("\"bandwidth\": 12"), 15, "\"bandwidth\": 99");
  free.replace(free.find("\"bandwidth\": 16}]}"), 15, "\"bandwidth\": 99");
  scratch_.write("free.json", free);
  const std::string forest = file("f.json");
  run_well({"synth", file("free.json"), "-c", "allgather", "--format", "forest", "-k", "optimal",
            "-o", forest});
  const auto verdict = run({"verify", forest, "--topology", file("t.json")});
  EXPECT_EQ(verdict.code, 1);
  EXPECT_THAT(verdict.out + verdict.err, HasSubstr("held up by what links share: limit bus"));
}

TEST_F(LimitedSchedulesLong, HoldForGroupsAtOnce) {
  const auto report = json_of(
      {"bound", file("t.json"), "-c", "allreduce", "--groups", "DIV 2", "--check", "--json"});
  // Of g0 and g1: each receives half and half of all, 2 · x ≤ 12; of g2 and g3 the bus 4 · x ≤ 16.
  EXPECT_EQ(report["steps"][0]["rate"]["exact"], "4");
  const std::string out = file("parts");
  const auto made = try_run("synth", {"-c", "allreduce", "--groups", "DIV 2", "--format", "forest",
                                      "-k", "optimal", "-o", out});
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(run({"verify", out + "/job.json", "--topology", file("t.json")}).code, 0);
}

// g0 owns twice as much. The rate is the one of tests/solver/joint, by definition.
TEST_F(LimitedSchedulesLong, HoldUnequalShares) {
  std::string text = kBridges;
  text.replace(text.find(R"({"id": "g[0-3]", "type": "compute"})"), 35,
               R"({"id": "g0", "type": "compute", "weight": 2}, )"
               R"({"id": "g[1-3]", "type": "compute"})");
  scratch_.write("w.json", text);
  const auto report = json_of({"bound", file("w.json"), "-c", "allgather", "--check", "--json"});
  expect_valid(report, "forestcoll-bound.schema.json");
  EXPECT_EQ(report["optimum"]["allgather"]["exact"], "180/23");
  const auto made = run({"synth", file("w.json"), "-c", "allgather", "--format", "forest", "-k",
                         "optimal", "-o", file("f.json")});
  ASSERT_EQ(made.code, 0) << made.err;
  const auto verdict = json_of({"verify", file("f.json"), "--topology", file("w.json"), "--json"});
  EXPECT_EQ(verdict["algbw"], report["optimum"]["allgather"]);
}

// g3 relays for the others.
TEST_F(LimitedSchedulesLong, HoldWithRelays) {
  const std::vector<std::string> group = {"--members", "g0,g1,g2", "--relays"};
  std::vector<std::string> words = {"bound",     file("t.json"), "-c",
                                    "allgather", "--check",      "--json"};
  words.insert(words.end(), group.begin(), group.end());
  const auto report = json_of(words);
  std::vector<std::string> how = {"-c", "allgather", "--format", "forest",
                                  "-k", "optimal",   "-o",       file("f.json")};
  how.insert(how.end(), group.begin(), group.end());
  const auto made = try_run("synth", how);
  ASSERT_EQ(made.code, 0) << made.err;
  std::vector<std::string> verify = {"verify", file("f.json"), "--topology", file("t.json"),
                                     "--json"};
  verify.insert(verify.end(), group.begin(), group.end());
  EXPECT_EQ(json_of(verify)["algbw"], report["optimum"]["allgather"]);
}

TEST_F(LimitedSchedulesLong, LeaveWhatADefaultScheduleReaches) {
  const auto report =
      json_of({"bound", file("t.json"), "-c", "allgather", "--target", "azure", "--json"});
  expect_valid(report, "forestcoll-bound.schema.json");
  EXPECT_EQ(report["reached"]["allgather"]["exact"], "8");
}

// A ring: 3/4 of the buffer goes into every GPU and out of it, so that the bus of two has 3 · x.
TEST_F(LimitedSchedulesLong, HoldUpRingsAsWell) {
  const auto report = json_of({"compare", file("t.json"), "-c", "allgather", "--sizes", "1G",
                               "--algorithms", "forestcoll,ring", "--gpu", "ideal", "--json"});
  expect_valid(report, "forestcoll-compare.schema.json");
  const auto& rows = report["rows"];
  std::map<std::string, std::string> rate;
  for (const auto& row : rows) {
    if (row.contains("algbw")) rate[row["algorithm"]] = row["algbw"]["exact"];
  }
  EXPECT_EQ(rate["forestcoll"], "8");
  EXPECT_EQ(rate["ring"], "16/3");
  for (const auto& row : rows) {
    EXPECT_EQ(row["busiest_limit"]["name"], "bus") << row.dump();
    EXPECT_NEAR(row["busiest_limit"]["busy"].get<double>(), 1, 1e-9);
    EXPECT_LE(row["busiest_link"]["busy"].get<double>(), 1 + 1e-9);
  }
}

// Flows are made on a part of the links; verify and compare see all links and the limits.
TEST_F(LimitedSchedulesLong, AreKeptByFlowsAndTheirRounds) {
  const std::string flows = file("flows.json");
  for (const auto& [collective, root] : std::vector<std::pair<std::string, std::string>>{
           {"alltoall", ""}, {"scatter", "g0"}, {"gather", "g3"}}) {
    std::vector<std::string> words{"-c", collective, "--format", "flows", "-o", flows};
    if (!root.empty()) words.insert(words.end(), {"--root", root});
    const auto made = try_run("synth", words);
    ASSERT_EQ(made.code, 0) << collective << made.err;
    EXPECT_EQ(run({"verify", flows, "--topology", file("t.json")}).code, 0) << collective;
  }
  const auto report = json_of({"compare", file("t.json"), "-c", "alltoall", "--sizes", "1M",
                               "--algorithms", "forestcoll,direct", "--json"});
  for (const auto& row : report["rows"]) {
    ASSERT_TRUE(row.contains("algbw")) << row.dump();
    EXPECT_LE(row["algbw"]["value"].get<double>(), 16.0 / 3 + 1e-9) << row.dump();
  }
}

// A broadcast leaves nothing of the ways back, and needs none.
TEST_F(LimitedSchedulesLong, HoldABroadcastAtItsOptimum) {
  for (const char* format : {"forest", "msccl"}) {
    const auto made = try_run("synth", {"-c", "broadcast", "--root", "g2", "-k", "optimal",
                                        "--format", format, "-o", file("b"), "--json"});
    ASSERT_EQ(made.code, 0) << made.err;
    const auto report = nlohmann::json::parse(made.out);
    EXPECT_EQ(report["optimum"]["exact"], "6");
  }
  const auto rings = try_run("synth", {"-c", "broadcast", "--root", "g2", "--algorithm", "ring",
                                       "--format", "forest", "-o", file("r")});
  ASSERT_EQ(rings.code, 0) << rings.err;
  EXPECT_EQ(run({"verify", file("r"), "--topology", file("t.json")}).code, 0);
}

// Groups in their parts share what the links share.
TEST_F(LimitedSchedulesLong, HoldUpGroupsAtOnce) {
  const std::string out = file("groups");
  ASSERT_EQ(try_run("synth", {"-c", "allreduce", "--groups", "DIV 2", "-o", out}).code, 0);
  const auto times = json_of(
      {"simulate", out + "/job.json", file("t.json"), "--sizes", "1G", "--gpu", "ideal", "--json"});
  const double algbw = times["steps"][0]["times"][0]["simulated_algbw"];
  EXPECT_LE(algbw, 4.0 + 1e-6);
  EXPECT_GE(algbw, 3.8);
}

// A GPU that sends nothing has no way out within the limits, and needs none.
TEST_F(LimitedSchedulesLong, AreMadeWhereSomeSendNothing) {
  scratch_.write("line.json", R"({"format": "forestcoll-topology", "version": 1,
    "nodes": [{"id": "g[0-2]", "type": "compute"}],
    "links": [{"src": "g0", "dst": "g1", "bandwidth": 10, "kind": "x"},
              {"src": "g1", "dst": "g2", "bandwidth": 10, "kind": "x"}],
    "limits": [{"links": ["kind=x"], "bandwidth": 10}]})");
  scratch_.write("d.json", "[[0, 1000, 500], [0, 0, 300], [0, 0, 0]]");
  const auto made = run({"synth", file("line.json"), "-c", "alltoall", "--demand", file("d.json"),
                         "--format", "flows", "-o", file("f.json")});
  EXPECT_THAT(made.err, HasSubstr("100 % of the optimum"));
  EXPECT_EQ(run({"verify", file("f.json"), "--topology", file("line.json")}).code, 0);
}

}  // namespace
}  // namespace forestcoll::testing
