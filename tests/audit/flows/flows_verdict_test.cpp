// `verify` of flows: right ones, and one change for every kind of finding.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "forestcoll/topology.hpp"
#include "forestcoll/verify.hpp"
#include "support/explain.hpp"

namespace forestcoll::testing {
namespace {

using Json = nlohmann::ordered_json;
using ::testing::HasSubstr;

// a - b - c, 10 GB/s each.
Topology line() {
  const auto parsed = parse_topology(
      R"({"format": "forestcoll-topology", "version": 1, "name": "line",
          "nodes": [{"id": "a", "type": "compute"}, {"id": "b", "type": "compute"},
                    {"id": "c", "type": "compute"}],
          "links": [{"src": "a", "dst": "b", "bandwidth": 10},
                    {"src": "b", "dst": "c", "bandwidth": 10}]})",
      "line");
  EXPECT_TRUE(parsed);
  return parsed->topology;
}

Json pair(const std::string& src, const std::string& dst, const std::vector<std::string>& path,
          const std::vector<int>& rounds) {
  return {{"src", src},
          {"dst", dst},
          {"paths", {{{"share", "1"}, {"rounds", rounds}, {"path", path}}}}};
}

// Every link carries two blocks; the buffer is three: 15 GB/s. Two rounds of one block a link, in
// both directions: 15 GB/s too.
Json right() {
  return {{"format", "forestcoll-flows"},
          {"version", 1},
          {"topology", "line"},
          {"collective", "alltoall"},
          {"k", 1},
          {"algbw", {{"exact", "15"}, {"value", 15}}},
          {"algbw_in_rounds", {{"exact", "15"}, {"value", 15}}},
          {"optimum", {{"exact", "15"}, {"value", 15}}},
          {"rounds", 2},
          {"ranks", {"a", "b", "c"}},
          {"pairs",
           {pair("a", "b", {"a", "b"}, {1}), pair("a", "c", {"a", "b", "c"}, {0, 1}),
            pair("b", "a", {"b", "a"}, {0}), pair("b", "c", {"b", "c"}, {0}),
            pair("c", "a", {"c", "b", "a"}, {0, 1}), pair("c", "b", {"c", "b"}, {1})}}};
}

Verdict judge(const Json& flows, const Topology* topology) {
  const auto verdict = verify(flows.dump(), "flows.json", topology, {});
  EXPECT_TRUE(verdict) << flows.dump();
  return verdict ? *verdict : Verdict{};
}

std::string findings(const Json& flows, bool with_topology = true) {
  const Topology topology = line();
  const Verdict verdict = judge(flows, with_topology ? &topology : nullptr);
  EXPECT_EQ(verdict.ok, verdict.findings.empty());
  return test::explain(verdict);
}

TEST(FlowsVerdict, RightOnesAreRight) {
  const Topology topology = line();
  const Verdict verdict = judge(right(), &topology);
  EXPECT_TRUE(verdict.ok) << to_string(verdict.findings.front());
  EXPECT_EQ(verdict.format, "forestcoll-flows");
  EXPECT_EQ(verdict.collective_name, "alltoall");
  EXPECT_EQ(verdict.ranks, 3);
  EXPECT_EQ(verdict.algbw, Ratio(15));
  EXPECT_EQ(verdict.loads.size(), 4U);
  EXPECT_EQ(findings(right(), false), "");
}

Json with_bytes() {
  Json flows = right();
  flows["collective"] = "alltoallv";
  flows["own_bytes"] = 12;
  for (Json& each : flows["pairs"]) each["bytes"] = 4;
  flows["pairs"].erase(5);  // c has nothing for b: 16 or 20 less 4 bytes cross
  // a to b carries 8 bytes in 0.8 ns; a rank has (20 + 12) / 3 bytes.
  flows["algbw"] = flows["algbw_in_rounds"] = flows["optimum"] = {{"exact", "40/3"}};
  return flows;
}

TEST(FlowsVerdict, BytesAreCounted) {
  EXPECT_EQ(findings(with_bytes()), "");
  Json flows = with_bytes();
  flows["pairs"][0]["bytes"] = 5;
  EXPECT_THAT(findings(flows), HasSubstr("V25"));
  flows = with_bytes();
  flows["pairs"][0].erase("bytes");
  EXPECT_THAT(findings(flows), AllOf(HasSubstr("pair 0: bytes"), HasSubstr("V03")));
  flows = with_bytes();
  flows["pairs"][0]["bytes"] = 0;
  EXPECT_THAT(findings(flows), HasSubstr("V03"));
  flows = with_bytes();
  flows["pairs"][0]["bytes"] = flows["pairs"][1]["bytes"] = INT64_MAX / 2;
  EXPECT_THAT(findings(flows), HasSubstr("exact arithmetic holds"));
  flows = with_bytes();
  flows["own_bytes"] = -1;
  EXPECT_THAT(findings(flows), HasSubstr("own_bytes"));
}

// b, in the middle, to both ends: a link carries one block, and the root has three: 30 GB/s.
Json scatter() {
  Json flows = right();
  flows["collective"] = "scatter";
  flows["root"] = "b";
  flows["rounds"] = 1;
  flows["pairs"] = {pair("b", "a", {"b", "a"}, {0}), pair("b", "c", {"b", "c"}, {0})};
  flows["algbw"] = flows["algbw_in_rounds"] = flows["optimum"] = {{"exact", "30"}, {"value", 30}};
  return flows;
}

Json gather() {
  Json flows = scatter();
  flows["collective"] = "gather";
  flows["pairs"] = {pair("a", "b", {"a", "b"}, {0}), pair("c", "b", {"c", "b"}, {0})};
  return flows;
}

TEST(FlowsVerdict, ScattersAndGathersAreOfTheRoot) {
  for (const Json& flows : {scatter(), gather()}) {
    EXPECT_EQ(findings(flows), "");
    EXPECT_EQ(findings(flows, false), "");
    const Verdict verdict = judge(flows, nullptr);
    EXPECT_EQ(verdict.collective_name, flows["collective"].get<std::string>());
    EXPECT_EQ(verdict.root, Rank(1));
    Json changed = flows;
    changed.erase("root");
    EXPECT_THAT(findings(changed), AllOf(HasSubstr("/root"), HasSubstr("V03")));
    changed = flows;
    changed["root"] = "x";
    EXPECT_THAT(findings(changed), HasSubstr("not in the list of ranks"));
    changed = flows;
    changed["root"] = "a";
    EXPECT_THAT(findings(changed), HasSubstr("has nothing for"));
    changed = flows;
    changed["pairs"].erase(1);
    EXPECT_THAT(findings(changed), AllOf(HasSubstr("gets nothing of what"), HasSubstr("V17")));
    changed = flows;
    changed["algbw"] = {{"exact", "31"}};
    EXPECT_THAT(findings(changed), HasSubstr("V2"));
  }
  Json alltoall = right();
  alltoall["root"] = "a";
  EXPECT_THAT(findings(alltoall), HasSubstr("/root"));
}

struct Change {
  std::function<void(Json&)> apply;
  std::string says;
  Code code = {};
};

TEST(FlowsVerdict, EveryChangeIsFound) {
  const std::vector<Change> changes = {
      {[](Json& f) { f["version"] = 2; }, "expected 1, found 2", Code::V03},
      {[](Json& f) { f["version"] = "1"; }, "expected an integer", Code::V03},
      {[](Json& f) { f["collective"] = "allgather"; },
       "expected alltoall, alltoallv, scatter or gather", Code::V03},
      {[](Json& f) { f["k"] = 0; }, "/k", Code::V03},
      {[](Json& f) { f["rounds"] = 0; }, "/rounds", Code::V03},
      {[](Json& f) { f.erase("pairs"); }, "the list of pairs is missing", Code::V03},
      {[](Json& f) { f["pairs"] = Json::array(); }, "missing or empty", Code::V03},
      {[](Json& f) { f.erase("algbw"); }, "/algbw", Code::V03},
      {[](Json& f) { f["algbw"]["exact"] = "fast"; }, "found \"fast\"", Code::V03},
      {[](Json& f) { f["own_bytes"] = 1; }, "of an alltoallv alone", Code::V03},
      {[](Json& f) { f["ranks"][2] = "a"; }, "a stands twice", Code::V03},
      {[](Json& f) {
         f["ranks"] = {"b", "a", "c"};
       },
       "not those of the topology", Code::V20},
      {[](Json& f) {
         f["algbw"] = {{"exact", "14"}};
       },
       "its paths reach 15 GB/s", Code::V25},
      {[](Json& f) {
         f["algbw_in_rounds"] = {{"exact", "14"}};
       },
       "round by round", Code::V25},
      {[](Json& f) {
         f["optimum"] = {{"exact", "14"}};
       },
       "above the 14 GB/s", Code::V25},
      {[](Json& f) { f["pairs"].erase(3); }, "c gets nothing of what b has for it", Code::V17},
      {[](Json& f) { f["pairs"].erase(5); }, "b gets nothing of what c has for it", Code::V17},
      {[](Json& f) { f["pairs"].push_back(f["pairs"][0]); }, "stands twice", Code::V03},
      {[](Json& f) { f["pairs"][0]["dst"] = "a"; }, "two different GPUs", Code::V03},
      {[](Json& f) { f["pairs"][0]["dst"] = "x"; }, "two different GPUs", Code::V03},
      {[](Json& f) { f["pairs"][0]["bytes"] = 3; }, "do not belong to an alltoall", Code::V03},
      {[](Json& f) { f["pairs"][0]["paths"] = Json::array(); }, "b gets 0 of what a has",
       Code::V17},
      {[](Json& f) { f["pairs"][0]["paths"].push_back(f["pairs"][0]["paths"][0]); },
       "b gets 2 of what a has", Code::V17},
      {[](Json& f) { f["pairs"][0]["paths"][0]["share"] = "1/2"; }, "a multiple of 1/1", Code::V03},
      {[](Json& f) { f["k"] = 2, f["pairs"][0]["paths"][0]["share"] = "1/2"; },
       "b gets 1/2 of what a has", Code::V17},
      {[](Json& f) { f["pairs"][0]["paths"][0]["share"] = 1; }, "expected a string", Code::V03},
      {[](Json& f) {
         f["pairs"][0]["paths"][0]["path"] = {"b", "a"};
       },
       "does not lead from a to b", Code::V24},
      {[](Json& f) {
         f["pairs"][0]["paths"][0]["path"] = {"a", "c", "b"};
       },
       "there is no link from a to c", Code::V24},
      {[](Json& f) { f["pairs"][1]["paths"][0]["path"] = {"a", "x", "y", "x", "b", "c"}; },
       "a leg passes x twice", Code::V24},
      {[](Json& f) { f["algbw"]["value"] = 15.1; }, "value: 15.1 is not 15", Code::V03},
      {[](Json& f) { f["algbw"]["value"] = "15"; }, "value: expected a number", Code::V03},
      {[](Json& f) { f["notes"] = 1; }, "flows have no key \"notes\"", Code::V03},
      {[](Json& f) { f["optimum"]["unit"] = "GB/s"; }, "no key \"unit\"", Code::V03},
      {[](Json& f) { f["pairs"][0]["size"] = 1; }, "no key \"size\"", Code::V03},
      {[](Json& f) { f["pairs"][0]["paths"][0]["weight"] = 1; }, "no key \"weight\"", Code::V03},
      {[](Json& f) {
         f["optimum"] = {{"exact", "151/10"}};
       },
       "the file claims 151/10 GB/s; what a can send allows 15 GB/s", Code::V25},
      {[](Json& f) { f["pairs"][1]["paths"][0]["path"][1] = "x"; }, "no link from a to x",
       Code::V24},
      {[](Json& f) { f["pairs"][1]["paths"][0]["rounds"] = {0}; }, "one for each of 2 legs",
       Code::V03},
      {[](Json& f) {
         f["pairs"][1]["paths"][0]["rounds"] = {1, 1};
       },
       "leg 1 is in round 1", Code::V15},
      {[](Json& f) {
         f["pairs"][1]["paths"][0]["rounds"] = {0, 2};
       },
       "expected 0 to 1, found 2", Code::V03},
      {[](Json& f) { f["pairs"][0]["paths"][0]["rounds"][0] = 0; }, "round by round", Code::V25},
  };
  for (const Change& change : changes) {
    Json flows = right();
    change.apply(flows);
    EXPECT_THAT(findings(flows),
                AllOf(HasSubstr(change.says), HasSubstr(std::string(name_of(change.code)))))
        << flows.dump();
  }
}

TEST(FlowsVerdict, WhatIsNoJsonIsAnError) {
  const std::string text = right().dump();
  for (const std::string& broken :
       {text.substr(0, text.size() - 3), text + "}",
        std::string(R"({"format": "forestcoll-flows", "k": 1, "k": 2})")}) {
    const auto verdict = verify(broken, "flows.json", nullptr, {});
    ASSERT_FALSE(verdict);
    EXPECT_EQ(verdict.errors().front().code, Code::V01);
  }
}

}  // namespace
}  // namespace forestcoll::testing
