// Process groups: `--members` and what the other GPUs do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

using Json = nlohmann::json;

// A data-parallel group of a cluster of four boxes: one GPU of each.
const std::string kRail = bundled_path("dgx-h100-x4-rail");
constexpr const char* kGroup = "box[0-3]/gpu0";

Json bound_of(const std::vector<std::string>& options) {
  return json_of(joined({"bound", kRail, "--json"}, options), "forestcoll-bound.schema.json");
}

// A member's own NIC carries 50 GB/s and has to bring in what three others have; with relays its
// box brings it in over all eight. Both are named, whichever was asked for.
TEST(MembersLong, OthersRelayWhereTheyAreAskedTo) {
  const auto alone = bound_of({"--members", kGroup});
  EXPECT_EQ(alone["compute_nodes"], 4);
  EXPECT_EQ(alone["algbw"]["allgather"]["exact"], "200/3");
  EXPECT_EQ(alone["algbw"], bound_of({"--ranks", kGroup})["algbw"]);
  EXPECT_FALSE(alone.contains("without_relays"));
  const auto relayed = bound_of({"--members", kGroup, "--relays"});
  EXPECT_EQ(relayed["compute_nodes"], 4);
  EXPECT_EQ(relayed["algbw"]["allgather"]["exact"], "1600/3");
  EXPECT_FALSE(relayed.contains("with_relays"));
  EXPECT_EQ(alone["with_relays"], relayed["algbw"]);
  EXPECT_EQ(relayed["without_relays"], alone["algbw"]);
  const auto without = bound_of({"--members", kGroup, "--no-relays"});
  EXPECT_EQ(without["algbw"], alone["algbw"]);
  EXPECT_FALSE(bound_of({"--ranks", kGroup}).contains("with_relays"));
}

TEST(MembersLong, BoundSaysBothRatesInWords) {
  const auto alone = run_well({"bound", kRail, "--members", kGroup});
  EXPECT_THAT(alone.out, HasSubstr("with relays (--relays: other GPUs forward; forests and flows "
                                   "only): allgather 533.333 (1600/3), "));
  EXPECT_THAT(alone.out, HasSubstr("alltoall"));
  const auto relayed = run({"bound", kRail, "--members", kGroup, "--relays"});
  EXPECT_THAT(relayed.out, HasSubstr("without relays (the group alone; XML and plans): "
                                     "allgather 66.667 (200/3), "));
  const auto flows = run({"bound", kRail, "-c", "alltoall", "--members", kGroup});
  EXPECT_THAT(flows.out, HasSubstr("flows only): alltoall "));
}

// Inside a box nothing is gained but where switches sum: its GPUs have their NVLinks.
TEST(MembersLong, ATensorParallelGroupIsItsBox) {
  const auto half = bound_of({"--members", "box0/gpu[0-3]"});
  EXPECT_EQ(half["compute_nodes"], 4);
  EXPECT_EQ(half["algbw"]["allgather"]["exact"],
            bound_of({"--members", "0-3", "--relays"})["algbw"]["allgather"]["exact"]);
  EXPECT_FALSE(half["with_relays"].contains("allgather"));
}

TEST(MembersLong, AForestGoesThroughRelaysAndIsVerifiedWithThem) {
  const Scratch scratch;
  const std::string forest = scratch / "forest.json";
  const auto synth = expect_says(0,
                                 {"synth", kRail, "-c", "allgather", "-k", "optimal", "--members",
                                  kGroup, "--relays", "--format", "forest", "-o", forest},
                                 "4 of 32 compute nodes take part, the others relay");
  EXPECT_THAT(synth.err, HasSubstr("algbw 533.333 (1600/3) GB/s"));
  EXPECT_THAT(synth.err, HasSubstr("the group alone (XML and plans) reaches 66.667 "
                                   "(200/3) GB/s"));
  EXPECT_THAT(read_file(forest), HasSubstr("\"box0/gpu5\""));
  const auto verified =
      run_well({"verify", forest, "--topology", kRail, "--members", kGroup, "--relays"});
  EXPECT_THAT(verified.out, HasSubstr("algbw on the topology: 533.333 (1600/3) GB/s"));
  // Without them the paths lead through GPUs that are not there, and without a group through ranks.
  EXPECT_EQ(run({"verify", forest, "--topology", kRail, "--ranks", kGroup}).code, 1);
  EXPECT_EQ(run({"verify", forest, "--topology", kRail, "--members", kGroup}).code, 1);
  EXPECT_EQ(run({"verify", forest, "--topology", kRail}).code, 1);
  run_well({"simulate", forest, kRail, "--members", kGroup, "--relays", "--sizes", "1G"});
}

TEST(MembersLong, AScheduleIsForTheGroupAloneAndSaysWhatThatCosts) {
  const Scratch scratch;
  for (const std::string format : {"msccl", "mscclpp"}) {
    const std::string file = scratch / format;
    for (const std::vector<std::string>& relays :
         std::vector<std::vector<std::string>>{{}, {"--relays"}, {"--no-relays"}}) {
      const auto synth =
          expect_says(0,
                      joined({"synth", kRail, "-c", "allgather", "--members", kGroup, "-k", "auto",
                              "--format", format, "--json", "-o", file},
                             relays),
                      "4 of 32 compute nodes take part");
      const bool chosen = relays == std::vector<std::string>{"--relays"};
      EXPECT_THAT(synth.err,
                  HasSubstr(std::string("with the other GPUs as relays (") +
                            (chosen ? "" : "--relays, ") + "forests only) 533.333 (1600/3) GB/s"));
      const Json report = Json::parse(synth.out);
      expect_valid(report, "forestcoll-synth.schema.json");
      EXPECT_EQ(report["with_relays"]["exact"], "1600/3");
      EXPECT_EQ(report["algbw"]["exact"], "200/3");
      // Of the fabric that was asked for.
      const bool asked = relays == std::vector<std::string>{"--relays"};
      EXPECT_EQ(report["optimum"]["exact"], asked ? "1600/3" : "200/3");
    }
    // The same whether the checker is told of relays, which run no programs, or not.
    for (const std::string option : {"--members", "--ranks"}) {
      const auto verified = run_well({"verify", file, "--topology", kRail, option, kGroup});
      EXPECT_THAT(verified.out, HasSubstr("algbw on the topology: 66.667 (200/3) GB/s"));
    }
    EXPECT_EQ(run({"simulate", file, kRail, "--members", kGroup, "--relays", "--sizes", "1G"}).out,
              run({"simulate", file, kRail, "--ranks", kGroup, "--sizes", "1G"}).out);
  }
  EXPECT_EQ(
      run({"synth", "-k", "auto", kRail, "-c", "allgather", "--members", kGroup, "-o", "-"}).out,
      run({"synth", "-k", "auto", kRail, "-c", "allgather", "--ranks", kGroup, "-o", "-"}).out);
}

// Forests, too, are of the group alone where nobody asks for relays.
TEST(MembersLong, AForestWithoutRelaysNamesWhatTheyAdd) {
  const Scratch scratch;
  const auto synth = json_of({"synth", kRail, "-c", "allgather", "--members", kGroup, "--format",
                              "forest", "--json", "-o", scratch / "forest.json"});
  EXPECT_THAT(read_file(scratch / "forest.json"), Not(HasSubstr("\"box0/gpu5\"")));
  const Json report = synth;
  expect_valid(report, "forestcoll-synth.schema.json");
  EXPECT_EQ(report["algbw"]["exact"], "200/3");
  EXPECT_EQ(report["with_relays"]["exact"], "1600/3");
  const auto relayed = run({"synth", kRail, "-c", "allgather", "--members", kGroup, "--relays",
                            "--format", "forest", "--json", "-o", scratch / "forest.json"});
  const Json other = Json::parse(relayed.out);
  expect_valid(other, "forestcoll-synth.schema.json");
  EXPECT_EQ(other["algbw"]["exact"], "1600/3");
  EXPECT_EQ(other["without_relays"]["exact"], "200/3");
  EXPECT_FALSE(other.contains("with_relays"));
}

TEST(MembersLong, RootsAndRanksAreThoseOfTheGroup) {
  const auto synth = json_of({"synth", kRail, "-c", "broadcast", "--root", "box2/gpu0", "--members",
                              kGroup, "--format", "forest"});
  EXPECT_EQ(synth["root"], "box2/gpu0");
  expect_says(2,
              {"synth", kRail, "-c", "broadcast", "--root", "box2/gpu1", "--members", kGroup,
               "--format", "forest"},
              "[S02]");
}

TEST(MembersLong, AllToAllFlowsGoThroughRelays) {
  const auto relayed =
      run({"bound", kRail, "-c", "alltoall", "--members", kGroup, "--relays", "--json"});
  const auto alone = run({"bound", kRail, "-c", "alltoall", "--ranks", kGroup, "--json"});
  ASSERT_EQ(relayed.code, 0) << relayed.err;
  const auto algbw = [](const Result& result) {
    return Json::parse(result.out)["algbw"]["alltoall"]["value"].get<double>();
  };
  EXPECT_GT(algbw(relayed), 7 * algbw(alone));
  const Scratch scratch;
  const std::string flows = scratch / "flows.json";
  expect_says(0,
              {"synth", kRail, "-c", "alltoall", "--members", kGroup, "--relays", "--format",
               "flows", "-o", flows},
              "the group alone (XML and plans) reaches");
  EXPECT_EQ(run({"verify", flows, "--topology", kRail, "--members", kGroup, "--relays"}).code, 0);
  const auto plain = expect_says(0,
                                 {"synth", kRail, "-c", "alltoall", "--members", kGroup, "--format",
                                  "flows", "--json", "-o", flows},
                                 "with the other GPUs as relays (--relays, flows only) ");
  const Json report = Json::parse(plain.out);
  expect_valid(report, "forestcoll-synth.schema.json");
  EXPECT_EQ(report["with_relays"], Json::parse(relayed.out)["algbw"]["alltoall"]);
  EXPECT_EQ(run({"verify", flows, "--topology", kRail, "--ranks", kGroup}).code, 0);
  const auto xml = run_well({"synth", kRail, "-c", "alltoall", "--members", kGroup, "-o", "-"});
  EXPECT_EQ(xml.out, run({"synth", kRail, "-c", "alltoall", "--ranks", kGroup, "-o", "-"}).out);
}

TEST(MembersLong, CompareAndTopologiesKnowThem) {
  run_well({"compare", kRail, "--trees", "-c", "allgather", "--members", kGroup, "--json"});
  const Scratch scratch;
  const std::string group = scratch / "group.json";
  ASSERT_EQ(run({"topo", "convert", kRail, "--members", kGroup, "--relays", "-o", group}).code, 0);
  EXPECT_THAT(run({"topo", "show", group}).out, HasSubstr("4 GPUs and 28 that relay"));
  const auto bound = run({"bound", group, "--json"});
  EXPECT_EQ(Json::parse(bound.out)["algbw"]["allgather"]["exact"], "1600/3");
  EXPECT_EQ(Json::parse(bound.out)["without_relays"]["allgather"]["exact"], "200/3");
  EXPECT_EQ(Json::parse(
                run({"bound", group, "--no-relays", "--json"}).out)["algbw"]["allgather"]["exact"],
            "200/3");
  expect_says(0, {"synth", "-k", "auto", group, "-c", "allgather", "-o", scratch / "a.xml"},
              "28 GPUs that could relay are left out");
}

TEST(MembersLong, RefusesWhatContradictsThem) {
  const auto both = run({"bound", kRail, "--members", kGroup, "--ranks", "0-3"});
  EXPECT_EQ(both.code, 2);
  EXPECT_EQ(run({"bound", kRail, "--members", ""}).code, 2);
  expect_says(2, {"bound", kRail, "--members", "box[0-3]/gpu9"}, "[D01]");
  expect_says(2, {"verify", kRail, "--members", kGroup}, "[S04]");
  // Only over relays do these GPUs reach each other.
  const std::string ring = bundled_path("torus-4x4");
  EXPECT_EQ(run({"bound", ring, "--members", "0,5", "--relays"}).code, 0);
  const auto alone = expect_says(2, {"bound", ring, "--members", "0,5"}, "[E08]");
  EXPECT_THAT(alone.err, HasSubstr("with --relays, these pass data on"));
  expect_says(2, {"synth", "-k", "auto", ring, "--members", "0,5", "-o", "-"}, "[E08]");
  EXPECT_EQ(run({"synth", ring, "--members", "0,5", "--relays", "--format", "none"}).code, 0);
  EXPECT_EQ(run({"bound", ring, "--relays"}).code, 2);
  EXPECT_EQ(run({"bound", ring, "--members", "0,1", "--relays", "--no-relays"}).code, 2);
}

// Of six GPUs on a ring, every second one: others alone join them.
class RelayRemedies : public ::testing::Test {
 protected:
  RelayRemedies() {
    run_well({"topo", "gen", "ring", "--nodes", "6", "-o", ring_});
    run_well({"topo", "convert", ring_, "--members", "0,2,4", "--relays", "--to", "topology", "-o",
              declared_});
  }
  [[nodiscard]] static std::vector<std::string> synth(const std::string& file,
                                                      const std::vector<std::string>& more) {
    return joined({"synth", file, "-c", "allgather"}, more);
  }

  Scratch scratch_;
  std::string ring_ = scratch_ / "ring.json", declared_ = scratch_ / "declared.json";
  std::string out_ = scratch_ / "out", plan_ = scratch_ / "plan.json";
};

// Each remedy is followed, and is none that the next error takes back.
TEST_F(RelayRemedies, OfMembersLeadToAForest) {
  const std::vector<std::string> members{"--members", "0,2,4"};
  const auto alone = expect_says(2, joined(synth(ring_, members), {"-o", out_}),
                                 "Only GPUs outside of the process group join them: with --relays");
  EXPECT_THAT(alone.err, Not(HasSubstr("Drop the node")));
  const auto relayed = joined(members, {"--relays"});
  const auto program =
      expect_says(2, joined(synth(ring_, relayed), {"-o", out_}), "without relays: compute node");
  EXPECT_THAT(program.err, AllOf(HasSubstr("--format forest -o FILE"), Not(HasSubstr("Drop"))));
  run_well(joined(synth(ring_, relayed), {"--format", "forest", "-o", out_}));
  run_well(joined({"synth", ring_, "-c", "alltoall", "--format", "flows", "-o", out_}, relayed));
}

TEST_F(RelayRemedies, AreNotGivenWhereRelaysDoNotHelp) {
  const auto cut = expect_says(
      2, {"bound", ring_, "--members", "0,2", "--drop", "n0~n1", "--drop", "n0~n5"}, "[E08]");
  EXPECT_THAT(cut.err, Not(HasSubstr("--relays")));
}

TEST_F(RelayRemedies, OfDeclaredOnesLeaveThemIn) {
  run_well({"bound", declared_});
  expect_says(2, {"bound", declared_, "--no-relays"},
              "Only GPUs that relay join them: leave --no-relays out.");
  expect_says(2, {"bound", declared_, "--members", "0,1", "--no-relays"},
              "with --relays in place of --no-relays, these pass data on.");
  run_well({"bound", declared_, "--members", "0,1", "--relays"});
  expect_says(2, joined(synth(declared_, {}), {"-o", out_}), "--format forest -o FILE");
  run_well(joined(synth(declared_, {}), {"--format", "forest", "-o", out_}));
}

TEST_F(RelayRemedies, OfGroupsNameWhatTakesRelays) {
  const std::vector<std::string> groups{"--groups", "MOD 2"},
      relays{"--groups", "MOD 2", "--relays"};
  const std::string ways =
      "write forests with --format forest -o DIR, or one plan of all groups with --format mscclpp "
      "-o FILE.json";
  expect_says(2, joined(synth(ring_, groups), {"-o", out_}), "with --relays, and " + ways + "\n");
  const auto program = expect_says(2, joined(synth(ring_, relays), {"-o", out_}), ways + "\n");
  EXPECT_THAT(program.err, AllOf(HasSubstr("[S04]"), Not(HasSubstr("leave --relays out"))));
  expect_says(2, joined(synth(ring_, relays), {"--deploy", out_}), ways + ", in place of --deploy");
  run_well(joined(synth(ring_, relays), {"--format", "forest", "-o", out_}));
  run_well(joined(synth(ring_, relays), {"--format", "mscclpp", "-o", plan_}));
  // Others take relays without more words, and are told of none.
  expect_says(2, joined({"bound", ring_}, groups), "pass data on with --relays, or choose other");
  run_well(joined({"bound", ring_}, relays));
}

// Neighbours need no relays, and say so; a broadcast of groups has no plan for all of them.
TEST_F(RelayRemedies, OfGroupsNameOnlyWhatThereIs) {
  const std::vector<std::string> thirds{"--groups", "DIV 3"};
  expect_says(2, joined(synth(ring_, thirds), {"--relays", "-o", out_}),
              "leave --relays out, or write forests");
  run_well(joined(synth(ring_, thirds), {"-o", out_}));
  const std::vector<std::string> broadcast{"synth", ring_,      "-c",    "broadcast", "--root",
                                           "0",     "--groups", "MOD 2", "--relays"};
  const auto each = expect_says(2, joined(broadcast, {"-o", scratch_ / "each"}),
                                "write forests with --format forest -o DIR\n");
  EXPECT_THAT(each.err, Not(HasSubstr("mscclpp")));
  expect_says(3, joined(broadcast, {"--format", "mscclpp", "-o", plan_}),
              "name a directory with -o for a schedule of each group, with --format forest");
  run_well(joined(broadcast, {"--format", "forest", "-o", scratch_ / "each"}));
}

// Declared relays are no ranks that could run a plan of all groups.
TEST_F(RelayRemedies, OfDeclaredOnesInAPlanOfGroups) {
  const auto plan = expect_says(
      3, synth(declared_, {"--groups", "[[0,1]]", "--relays", "--format", "mscclpp", "-o", plan_}),
      "  write a forest\n");
  EXPECT_THAT(plan.err, AllOf(HasSubstr("[T06]"), Not(HasSubstr("--no-relays"))));
  run_well(synth(declared_, {"--groups", "[[0,1]]", "--relays", "--format", "forest", "-o", out_}));
}

}  // namespace
}  // namespace forestcoll::testing
