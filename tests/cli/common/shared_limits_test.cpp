// Capacities that links share, from a file to a verified and simulated schedule, from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

using ::testing::HasSubstr;

// Two pairs of GPUs: what g0 and g1 receive goes through a bridge of 12 GB/s, and g2 and g3 are on
// a bus of 16. By hand, of an allgather x: the bus carries 2 · 3/4 · x in and at least 2/4 · x out,
// so 2x ≤ 16.
constexpr const char* kBridges =
    R"({"format": "forestcoll-topology", "version": 1, "name": "bridges",
  "nodes": [{"id": "g[0-3]", "type": "compute"}, {"id": "sw[0-1]", "type": "switch"}],
  "links": [{"src": "g[0-1]", "dst": "sw0", "bandwidth": 10, "kind": "pcie"},
            {"src": "g[2-3]", "dst": "sw1", "bandwidth": 10, "kind": "pcie"},
            {"src": "sw0", "dst": "sw1", "bandwidth": 16, "kind": "upi"}],
  "limits": [{"name": "bridge", "links": ["sw0->g[0-1]"], "bandwidth": 12},
             {"name": "bus", "links": ["g2~sw1", "g3~sw1"], "bandwidth": 16}]})";

class SharedLimits : public ::testing::Test {
 protected:
  SharedLimits() { scratch_.write("t.json", kBridges); }

  Result try_run(const std::string& command, const std::vector<std::string>& words) {
    std::vector<std::string> all{command, file("t.json")};
    all.insert(all.end(), words.begin(), words.end());
    return run(all);
  }
  std::string file(const std::string& name) { return scratch_ / name; }
  nlohmann::json json_of(const std::vector<std::string>& words) {
    const auto ran = run(words);
    EXPECT_EQ(ran.code, 0) << ran.err;
    return nlohmann::json::parse(ran.out, nullptr, false);
  }

  Scratch scratch_;
};

TEST_F(SharedLimits, AreBoundExactly) {
  const auto report = json_of({"bound", file("t.json"), "--check", "--json"});
  expect_valid(report, "forestcoll-job.schema.json");
  EXPECT_EQ(report["checked"], true);
  const auto rate_of = [&](std::size_t step) { return report["steps"][step]["rate"]["exact"]; };
  EXPECT_EQ(rate_of(0), "8");
  EXPECT_EQ(rate_of(1), "56/9");
  EXPECT_EQ(rate_of(2), "7/2");
  EXPECT_EQ(report["steps"][0]["limits"][0]["name"], "bus");
  EXPECT_TRUE(report["steps"][0]["lengths"].empty()) << "no link binds by itself";
  const auto rooted = try_run("bound", {"-c", "broadcast", "--root", "g2"});
  EXPECT_EQ(rooted.code, 0) << rooted.err;
  EXPECT_THAT(rooted.out, HasSubstr("at once: 6 GB/s"));
}

// What is made within them is verified and timed on the fabric with them.
TEST_F(SharedLimits, AreKeptBySchedules) {
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
    EXPECT_NEAR(times["times"][0]["algbw"].get<double>(), verdict["algbw"]["value"].get<double>(),
                0.02 * verdict["algbw"]["value"].get<double>());
  }
}

using SharedLimitsLong = SharedLimits;

TEST_F(SharedLimitsLong, AreKeptByForestsOfAnyNumberOfTrees) {
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

// A forest of the links alone does not keep them.
TEST_F(SharedLimits, FindAForestThatClaimsTooMuch) {
  std::string free = kBridges;
  free.replace(free.find("\"bandwidth\": 12"), 15, "\"bandwidth\": 99");
  free.replace(free.find("\"bandwidth\": 16}]}"), 15, "\"bandwidth\": 99");
  scratch_.write("free.json", free);
  const std::string forest = file("f.json");
  const auto made = run({"synth", file("free.json"), "-c", "allgather", "--format", "forest", "-k",
                         "optimal", "-o", forest});
  ASSERT_EQ(made.code, 0) << made.err;
  const auto verdict = run({"verify", forest, "--topology", file("t.json")});
  EXPECT_EQ(verdict.code, 1);
  EXPECT_THAT(verdict.out + verdict.err, HasSubstr("held up by what links share: bus"));
}

TEST_F(SharedLimits, HoldForGroupsAtOnce) {
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

TEST_F(SharedLimits, AreRefusedWhereTheyAreNotKnown) {
  const std::vector<std::pair<std::string, std::vector<std::string>>> lines = {
      {"bound", {"--whatif"}},
      {"bound", {"--target", "azure"}},
      {"synth", {"--members", "g0,g1,g2", "--relays", "--format", "forest"}}};
  for (const auto& [command, words] : lines) {
    const auto ran = try_run(command, words);
    EXPECT_EQ(ran.code, 2) << command;
    EXPECT_EQ(ran.out, "");
    EXPECT_THAT(ran.err, HasSubstr("[E18]"));
  }
}

// A ring: 3/4 of the buffer goes into every GPU and out of it, so that the bus of two has 3 · x.
TEST_F(SharedLimits, HoldUpRingsAsWell) {
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
}

// Flows are made on a part of the links; verify and compare see all links and the limits.
TEST_F(SharedLimitsLong, AreKeptByFlowsAndTheirRounds) {
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
TEST_F(SharedLimits, HoldABroadcastAtItsOptimum) {
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
TEST_F(SharedLimits, HoldUpGroupsAtOnce) {
  const std::string out = file("groups");
  ASSERT_EQ(try_run("synth", {"-c", "allreduce", "--groups", "DIV 2", "-o", out}).code, 0);
  const auto times = json_of(
      {"simulate", out + "/job.json", file("t.json"), "--sizes", "1G", "--gpu", "ideal", "--json"});
  const double algbw = times["steps"][0]["times"][0]["algbw"];
  EXPECT_LE(algbw, 4.0 + 1e-6);
  EXPECT_GE(algbw, 3.8);
}

// Limits of any size are refused or kept; nothing breaks.
TEST_F(SharedLimits, MayBeHugeOrTiny) {
  for (const char* bandwidth : {"9223372036854775807", "0.000000001", "\"1/100000000\""}) {
    std::string text = kBridges;
    text.replace(text.find("\"bandwidth\": 12"), 15, std::string("\"bandwidth\": ") + bandwidth);
    scratch_.write("u.json", text);
    for (const char* collective : {"allgather", "alltoall"}) {
      const auto made =
          run({"synth", file("u.json"), "-c", collective, "--format", "none", "-k", "1"});
      EXPECT_TRUE(made.code == 0 || made.code == 3) << bandwidth << collective << made.err;
    }
    const auto checked = run({"topo", "check", file("u.json")});
    EXPECT_TRUE(checked.code == 0 || checked.code == 3) << bandwidth << checked.err;
  }
}

TEST_F(SharedLimits, AreShownAndChecked) {
  const auto shown = run({"topo", "show", file("t.json")});
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("limits       2 on several links"));
  const auto report = json_of({"topo", "show", file("t.json"), "--json"});
  expect_valid(report, "forestcoll-topo-show.schema.json");
  EXPECT_EQ(report["limits"], 2);
  EXPECT_EQ(run({"topo", "check", file("t.json")}).code, 0);
}

}  // namespace
}  // namespace forestcoll::testing
