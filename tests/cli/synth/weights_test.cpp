// Unequal shares, in all commands and formats.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

std::string weighted_topology() {
  return R"({"format": "forestcoll-topology", "version": 1, "name": "weighted",
 "nodes": [{"id": "gpu[0-1]", "type": "compute", "weight": "3/2"},
           {"id": "gpu2", "type": "compute", "weight": 0}, {"id": "gpu3", "type": "compute"},
           {"id": "sw", "type": "switch"}],
 "links": [{"src": "gpu[0-3]", "dst": "sw", "bandwidth": 25}]})";
}

TEST(Weights, AllReportsAndFormatsKnowThem) {
  const Scratch scratch;
  const std::string fabric = scratch.write("w.json", weighted_topology());
  const auto json = json_of({"bound", fabric, "--check", "--json"}, "forestcoll-bound.schema.json");
  EXPECT_EQ(json["weights"], nlohmann::json({3, 3, 0, 2}));
  EXPECT_EQ(json["algbw"]["allgather"]["exact"], "25");
  EXPECT_THAT(run({"bound", fabric}).out,
              HasSubstr("weights: 1 rank owns 0, 1 rank owns 2, 2 ranks own 3\n"));
  for (const std::string collective : {"allgather", "reduce_scatter", "allreduce"}) {
    const auto synth = expect_says(0, {"synth", fabric, "-c", collective, "--format", "forest"},
                                   "100 % of the optimum");
    expect_valid(nlohmann::json::parse(synth.out), "forestcoll-forest.schema.json");
    const auto verify = run({"verify", "-", "--topology", fabric}, {.input = synth.out});
    EXPECT_EQ(verify.code, 0) << verify.out;
  }
  EXPECT_THAT(run({"synth", fabric, "--format", "forest-xml"}).out,
              HasSubstr("weights=\"3,3,0,2\""));
  EXPECT_EQ(run({"synth", fabric, "--format", "dot"}).code, 0);
  EXPECT_EQ(run({"topo", "check", fabric}).code, 0);
}

// The same without a GPU that owns nothing, which no plan can have.
std::string weighted_boxes() {
  std::string text = weighted_topology();
  return text.replace(text.find("\"weight\": 0"), 11, "\"weight\": 1");
}

TEST(WeightsLong, ScheduleFilesKnowThem) {
  const Scratch scratch;
  const std::string fabric = scratch.write("w.json", weighted_boxes());
  const auto bound = nlohmann::json::parse(run({"bound", fabric, "--json"}).out);
  for (const std::string collective : {"allgather", "reduce_scatter"}) {
    for (const std::string format : {"msccl", "mscclpp"}) {
      for (const std::string placement : {"--inplace", "--outofplace"}) {
        const std::string file = scratch / "schedule";
        const auto synth = expect_says(0,
                                       {"synth", fabric, "-c", collective, "--format", format,
                                        placement, "--json", "-o", file},
                                       "only if every rank has the part of the data that the "
                                       "file gives it");
        EXPECT_THAT(synth.err, Not(HasSubstr("--deploy")));
        const auto summary = nlohmann::json::parse(synth.out);
        expect_valid(summary, "forestcoll-synth.schema.json");
        EXPECT_EQ(summary["optimum"]["exact"], bound["algbw"][collective]["exact"]);
        const auto verify = run({"verify", file, "--topology", fabric, "--json"});
        ASSERT_EQ(verify.code, 0) << verify.out;
        const auto verdict = nlohmann::json::parse(verify.out);
        expect_valid(verdict, "forestcoll-verify.schema.json");
        EXPECT_EQ(verdict["algbw"], summary["reached"]);
        run_well({"simulate", file, fabric, "--sizes", "9M", "--json"});
      }
    }
  }
}

TEST(Weights, WhatNoCallCouldServeIsRefused) {
  const Scratch scratch;
  const std::string fabric = scratch.write("w.json", weighted_topology());
  const auto refused = [&](std::vector<std::string> more, const std::string& says) {
    const auto synth = run(joined({"synth", fabric, "-c", "allgather"}, more));
    EXPECT_EQ(synth.code, 3) << synth.err;
    EXPECT_EQ(synth.out, "");
    EXPECT_THAT(synth.err, HasSubstr(says));
  };
  refused({"--target", "msccl"},
          "rank 0 has weight 3, rank 2 has 0), and target msccl loads files "
          "of equal shares alone [T09]");
  refused({"--inplace", "--outofplace"}, "make two files, one with --inplace");
  refused({"--format", "mscclpp"}, "no rank without data, as rank 2 is [T09]");
  refused({"--deploy", scratch / "d"}, "NCCL's allgather, which gives all ranks as much");
  run_well({"synth", "-k", "auto", "-", "-c", "broadcast", "--root", "2"},
           {.input = weighted_topology()});
}

// Others' trees, as wide as their roots' shares; those that know equal shares alone say so.
TEST(WeightsLong, AreComparedAndMadeInBatches) {
  const Scratch scratch;
  const std::string fabric = scratch.write("w.json", weighted_boxes());
  const auto compare = run_well({"compare", fabric, "-c", "allgather", "--json"});
  const auto report = nlohmann::json::parse(compare.out);
  expect_valid(report, "forestcoll-compare.schema.json");
  std::size_t with_rate = 0;
  for (const auto& row : report["rows"]) {
    if (!row.contains("algbw")) continue;
    ++with_rate;
    EXPECT_LE(row["algbw"]["value"], report["optimum"]["value"]) << row;
  }
  EXPECT_GT(with_rate, 5U) << compare.out;
  const auto with_none = scratch.write("n.json", weighted_topology());
  EXPECT_THAT(run({"compare", with_none, "-c", "allgather"}).out,
              HasSubstr("nccl-ring is for ranks that all own some"));
  std::filesystem::create_directory(scratch / "in");
  std::filesystem::copy(fabric, scratch / "in/w.json");
  run_well({"batch", scratch / "in", "-o", scratch / "out", "-c", "allgather", "--format", "msccl",
            "--json"});
}

}  // namespace
}  // namespace forestcoll::testing
