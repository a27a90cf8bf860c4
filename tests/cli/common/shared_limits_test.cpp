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

class SharedLimitsLong : public ::testing::Test {
 protected:
  SharedLimitsLong() { scratch_.write("t.json", kBridges); }

  Result try_run(const std::string& command, const std::vector<std::string>& words) {
    std::vector<std::string> all{command, file("t.json")};
    all.insert(all.end(), words.begin(), words.end());
    return run(all);
  }
  std::string file(const std::string& name) { return scratch_ / name; }
  nlohmann::json json_of(const std::vector<std::string>& words) {
    const auto ran = run_well(words);
    return nlohmann::json::parse(ran.out, nullptr, false);
  }

  Scratch scratch_;
};

TEST_F(SharedLimitsLong, AreBoundExactly) {
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

// One box of docs/shared-limits.md: two ports behind one host bridge, or each behind its own.
std::string two_ports(bool one_bridge) {
  const std::string limits = one_bridge ? R"("links": ["gpu->port[0-1]"], "bandwidth": "234 Gb/s"},
               {"name": "in", "links": ["port[0-1]->gpu"], "bandwidth": "234 Gb/s"})"
                                        : R"("links": ["gpu->port0"], "bandwidth": "234 Gb/s"})";
  return R"({"format": "forestcoll-topology", "version": 1, "name": "ports",
    "templates": {"box": {"nodes": [{"id": "gpu", "type": "compute"},
                                    {"id": "port[0-1]", "type": "switch"}],
      "links": [{"src": "gpu", "dst": "port[0-1]", "bandwidth": "234 Gb/s", "kind": "pcie"}],
      "limits": [{"name": "out", )" +
         limits + R"(]}},
    "boxes": [{"id": "box[0-1]", "template": "box"}],
    "nodes": [{"id": "rail[0-1]", "type": "switch"}],
    "links": [{"src": "box[0-1]/port0", "dst": "rail0", "bandwidth": 50, "kind": "ib"},
              {"src": "box[0-1]/port1", "dst": "rail1", "bandwidth": 50, "kind": "ib"}]})";
}

// NCCL issue 2310: 234 Gb/s by one port, and by both. Two GPUs each send half of the buffer.
TEST_F(SharedLimitsLong, OfAHostBridgeHoldTwoPortsToTheRateOfOne) {
  scratch_.write("one.json", two_ports(true));
  scratch_.write("two.json", two_ports(false));
  const auto bound = [&](const std::string& name, std::vector<std::string> more) {
    more.insert(more.begin(), {"bound", file(name), "-c", "allgather", "--json", "--check"});
    const auto report = json_of(more);
    expect_valid(report, "forestcoll-job.schema.json");
    return report["steps"][0];
  };
  EXPECT_EQ(bound("one.json", {})["rate"]["value"], 58.5);
  EXPECT_EQ(bound("two.json", {})["rate"]["value"], 117);
  const auto failed = bound("one.json", {"--drop", "box[0-1]/port1~rail1"});
  EXPECT_EQ(failed["rate"]["value"], 58.5);
  EXPECT_EQ(failed["before"]["change"], 0);
  const auto half = bound("two.json", {"--drop", "box[0-1]/port1~rail1"});
  EXPECT_EQ(half["before"]["rate"]["value"], 117);
  EXPECT_EQ(half["before"]["change"], -0.5);
}

// Of a bus of one link the two halves of an allgather share 16 GB/s.
TEST_F(SharedLimitsLong, OfABusHoldBothDirections) {
  scratch_.write("bus.json", R"({"format": "forestcoll-topology", "version": 1, "name": "bus",
    "nodes": [{"id": "g[0-1]", "type": "compute"}],
    "links": [{"src": "g0", "dst": "g1", "bandwidth": 16}],
    "limits": [{"links": ["g0~g1"], "bandwidth": 16}]})");
  const auto ran = run({"bound", file("bus.json"), "-c", "allgather"});
  EXPECT_THAT(ran.out, HasSubstr("at once: 16 GB/s"));
  EXPECT_THAT(ran.out, HasSubstr("  limit of 16 GB/s, shared by 2 directions: length 1 each"));
}

// All that is below has the names and the bandwidths of the file.
TEST_F(SharedLimitsLong, AreNamedWhereTheyBind) {
  const auto bound = try_run("bound", {"-c", "allgather"});
  EXPECT_THAT(bound.out, HasSubstr("  limit bus of 16 GB/s, shared by 4 directions: length 1"));
  const auto words = try_run("compare", {"-c", "allgather", "--sizes", "1M", "--algorithms",
                                         "forestcoll", "--gpu", "ideal"});
  EXPECT_THAT(words.out, HasSubstr("bottleneck: limit bus of 16 GB/s, shared by 4 directions\n"));
  const auto report = json_of({"compare", file("t.json"), "-c", "allgather", "--sizes", "1M",
                               "--algorithms", "forestcoll", "--gpu", "ideal", "--json"});
  expect_valid(report, "forestcoll-compare.schema.json");
  EXPECT_EQ(report["binding_limits"][0]["name"], "bus");
  EXPECT_EQ(report["binding_limits"][0]["bandwidth"]["exact"], "16");
}

// With a GPU less, of all that are left; with half of the bus, of its links.
TEST_F(SharedLimitsLong, ArePricedWhereLinksFail) {
  const auto report =
      json_of({"bound", file("t.json"), "-c", "allgather", "--drop", "g3", "--json", "--check"});
  expect_valid(report, "forestcoll-job.schema.json");
  EXPECT_EQ(report["steps"][0]["before"]["rate"]["exact"], "8");
  EXPECT_THAT(try_run("bound", {"-c", "allgather", "--derate", "g2~sw1=1/4"}).out,
              HasSubstr("before the failure: 8 GB/s; -"));
}

TEST_F(SharedLimitsLong, AreLeftOutOfOtherFormatsWithAWarning) {
  const auto converted = run({"topo", "convert", file("t.json"), "--to", "csv"});
  EXPECT_EQ(converted.code, 0);
  EXPECT_THAT(converted.err, HasSubstr("2 limits are left out"));
  EXPECT_THAT(converted.err, HasSubstr("[I24]"));
  for (const char* kept : {"topology", "simgrid"}) {
    EXPECT_THAT(run({"topo", "convert", file("t.json"), "--to", kept}).err,
                ::testing::Not(HasSubstr("I24")));
  }
}

TEST_F(SharedLimitsLong, AreRoundedAsLinksAre) {
  const auto report =
      json_of({"bound", file("t.json"), "-c", "allgather", "--quantize", "5", "--json"});
  EXPECT_EQ(report["steps"][0]["limits"][0]["name"], "bridge");
  EXPECT_EQ(report["steps"][0]["limits"][0]["bandwidth"]["exact"], "10");
  EXPECT_EQ(report["steps"][0]["rate"]["exact"], "20/3") << "g0 and g1 each receive 3/4 of all";
}

// What is made within them is verified and timed on the fabric with them.
TEST_F(SharedLimitsLong, AreKeptBySchedules) {
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
TEST_F(SharedLimitsLong, FindAForestThatClaimsTooMuch) {
  std::string free = kBridges;
  free.replace(free.find("\"bandwidth\": 12"), 15, "\"bandwidth\": 99");
  free.replace(free.find("\"bandwidth\": 16}]}"), 15, "\"bandwidth\": 99");
  scratch_.write("free.json", free);
  const std::string forest = file("f.json");
  run_well({"synth", file("free.json"), "-c", "allgather", "--format", "forest", "-k", "optimal",
            "-o", forest});
  const auto verdict = run({"verify", forest, "--topology", file("t.json")});
  EXPECT_EQ(verdict.code, 1);
  EXPECT_THAT(verdict.out + verdict.err, HasSubstr("held up by what links share: bus"));
}

TEST_F(SharedLimitsLong, HoldForGroupsAtOnce) {
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

TEST_F(SharedLimitsLong, AreRefusedWhereTheyAreNotKnown) {
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
TEST_F(SharedLimitsLong, HoldUpRingsAsWell) {
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
TEST_F(SharedLimitsLong, HoldABroadcastAtItsOptimum) {
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
TEST_F(SharedLimitsLong, HoldUpGroupsAtOnce) {
  const std::string out = file("groups");
  ASSERT_EQ(try_run("synth", {"-c", "allreduce", "--groups", "DIV 2", "-o", out}).code, 0);
  const auto times = json_of(
      {"simulate", out + "/job.json", file("t.json"), "--sizes", "1G", "--gpu", "ideal", "--json"});
  const double algbw = times["steps"][0]["times"][0]["simulated_algbw"];
  EXPECT_LE(algbw, 4.0 + 1e-6);
  EXPECT_GE(algbw, 3.8);
}

// Limits of any size are refused or kept; nothing breaks.
TEST_F(SharedLimitsLong, MayBeHugeOrTiny) {
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

TEST_F(SharedLimitsLong, AreShownAndChecked) {
  const auto shown = run_well({"topo", "show", file("t.json")});
  EXPECT_THAT(shown.out, HasSubstr("limits       2 on several links"));
  const auto report = json_of({"topo", "show", file("t.json"), "--json"});
  expect_valid(report, "forestcoll-topo-show.schema.json");
  EXPECT_EQ(report["limit_count"], 2);
  EXPECT_EQ(report["shared_limits"][1]["name"], "bus");
  EXPECT_EQ(report["shared_limits"][1]["links"].size(), 4);
  EXPECT_THAT(shown.out, HasSubstr("limit bus of 16 GB/s, shared by 4 directions"));
  EXPECT_EQ(run({"topo", "check", file("t.json")}).code, 0);
}

// NVLink and PCIe bring 332 GB/s to each of 8 GPUs, and the limits of CPUs are wide enough for it:
// the optimum that the README names, of the bundled file and of the machine.
TEST_F(SharedLimitsLong, OfADgxA100LeaveItsGpusTheirLinks) {
  const std::string made = file("made.json");
  ASSERT_EQ(run({"topo", "gen", "dgx-a100-pcie", "-o", made}).code, 0);
  for (const std::string& fabric : {topology("dgx-a100-pcie-x1"), made}) {
    const auto report = json_of({"bound", fabric, "-c", "allgather", "--json"});
    EXPECT_EQ(report["steps"][0]["rate"]["exact"], "2656/7") << fabric;
    EXPECT_TRUE(report["steps"][0]["limits"].empty()) << fabric;
  }
  EXPECT_THAT(test::read_file(test::source_path("topologies/README.md")),
              HasSubstr("| 2656/7 | 379.429 |"));
}

}  // namespace
}  // namespace forestcoll::testing
