// The forms of JSON reports: one vocabulary now, and the former one with --json-version 1.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "cli/batch.hpp"
#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

using Types = std::set<std::string>;

const Json& referred(const Json& schema, const Json& root) {
  if (!schema.contains("$ref")) return schema;
  return referred(root.at(Json::json_pointer(schema["$ref"].get<std::string>().substr(1))), root);
}

std::string type_of(const Json& value) {
  if (value.is_number_integer()) return "integer";
  return value.is_null() ? "null" : value.is_object() ? "object" : value.type_name();
}

// The JSON types that a schema allows.
Types types_of(const Json& one, const Json& root) {
  const Json& schema = referred(one, root);
  Types types;
  if (schema.contains("type")) {
    const Json& type = schema["type"];
    if (type.is_array()) types = type.get<Types>();
    if (type.is_string()) types.insert(type);
  }
  if (schema.contains("const")) types.insert(type_of(schema["const"]));
  for (const Json& value : schema.value("enum", Json::array())) types.insert(type_of(value));
  for (const char* choice : {"oneOf", "anyOf", "allOf"}) {
    for (const Json& each : schema.value(choice, Json::array())) types.merge(types_of(each, root));
  }
  types.erase("null");  // what is not known
  return types;
}

// Their keys are names of stages, causes, verdicts and kinds.
const std::set<std::string> kMaps = {"counts",        "seconds", "costs_seconds", "step_verdicts",
                                     "time_verdicts", "islands", "switch_counts", "cable_counts"};

using Vocabulary = std::map<std::string, std::map<Types, std::set<std::string>>>;

// The types of all keys of objects in a schema, by the files that have them.
void collect(const Json& schema, const Json& root, const std::string& file, Vocabulary& keys) {
  const Json properties = schema.value("properties", Json::object());
  for (const auto& [key, value] : properties.items()) {
    if (const Types types = types_of(value, root); !types.empty()) keys[key][types].insert(file);
    if (!kMaps.contains(key)) collect(value, root, file, keys);
  }
  for (const char* choice : {"oneOf", "anyOf", "allOf"}) {
    for (const Json& each : schema.value(choice, Json::array())) collect(each, root, file, keys);
  }
  for (const char* inner : {"items", "additionalProperties"}) {
    const Json& each = schema.value(inner, Json());
    if (each.is_object()) collect(each, root, file, keys);
  }
}

// Files that are read again, whose formats stay, and reports of a former version.
bool is_no_present_report(const std::string& name) {
  for (const char* other :
       {"flows", "forest", "job-file", "job", "generators", "simulation-parameters"}) {
    if (name == std::string("forestcoll-") + other + ".schema.json") return true;
  }
  return name.find(".v") != std::string::npos;
}

TEST(JsonVocabulary, AKeyHasOneTypeInAllReports) {
  Vocabulary keys;
  std::size_t files = 0;
  for (const auto& entry : fs::directory_iterator(source_path("tools/schema"))) {
    const std::string name = entry.path().filename().string();
    if (is_no_present_report(name)) continue;
    const Json root = Json::parse(read_file(entry.path().string()));
    collect(root, root, name, keys);
    const Json definitions = root.value("definitions", Json::object());
    for (const auto& [definition, schema] : definitions.items()) {
      if (definition != "counts") collect(schema, root, name, keys);
    }
    ++files;
  }
  EXPECT_GE(files, 20U);
  EXPECT_EQ(keys["compute_nodes"].size(), 1U);
  for (const auto& [key, types] : keys) {
    EXPECT_EQ(types.size(), 1U) << key << ": " << ::testing::PrintToString(types);
  }
}

constexpr const char* kBoxes = R"({"format": "forestcoll-topology", "version": 1, "name": "boxes",
"nodes": [{"id": "a[0-1]", "type": "compute", "box": "a"},
          {"id": "b[0-1]", "type": "compute", "box": "b"}, {"id": "sw", "type": "switch"}],
"links": [{"src": "a0", "dst": "a1", "bandwidth": 100, "kind": "nvlink"},
          {"src": "b0", "dst": "b1", "bandwidth": 100, "kind": "nvlink"},
          {"src": "a[0-1]", "dst": "sw", "bandwidth": 25, "kind": "ib"},
          {"src": "b[0-1]", "dst": "sw", "bandwidth": 25, "kind": "ib"}]})";

// A report, and the version of its former form.
struct Reported {
  std::vector<std::string> words;
  std::string format;
  int former;
};

class JsonVersion : public ::testing::Test {
 protected:
  Json made(std::vector<std::string> words, const std::string& schema) const {
    fs::remove_all(scratch_ / "files");  // --tune writes into a new directory
    words.emplace_back("--json");
    const auto result = run(words);
    EXPECT_LE(result.code, 1) << ::testing::PrintToString(words)
                              << result.err;  // 1: of some target
    const Json report = Json::parse(result.out, nullptr, false);
    if (report.is_discarded()) return Json::object();
    SCOPED_TRACE(::testing::PrintToString(words));
    expect_valid(report, schema);
    return report;
  }
  Json present(const Reported& one) const {
    return made(one.words, "forestcoll-" + one.format + ".schema.json");
  }
  Json former(const Reported& one) const {
    std::vector<std::string> words = one.words;
    words.insert(words.end(), {"--json-version", "1"});
    return made(words,
                "forestcoll-" + one.format + ".v" + std::to_string(one.former) + ".schema.json");
  }
  // Both forms follow their schemas; a report that none of its keys changed in is the same.
  void expect_both(const std::vector<Reported>& reports) const {
    for (const Reported& one : reports) {
      SCOPED_TRACE(one.format);
      const Json now = present(one), before = former(one);
      EXPECT_EQ(now["version"], one.former + 1);
      EXPECT_EQ(before["version"], one.former);
      EXPECT_EQ(now["format"], before["format"]);
    }
  }
  std::string written(const std::string& name, std::vector<std::string> words) const {
    words.insert(words.end(), {"-o", scratch_ / name});
    EXPECT_EQ(run(words).code, 0) << name;
    return scratch_ / name;
  }

  Scratch scratch_;
  std::string file_ = scratch_.write("boxes.json", kBoxes);
};

using JsonVersionLong = JsonVersion;

TEST_F(JsonVersion, OfBoundHasItsFormerForm) {
  const std::string demand = scratch_.write("demand.csv", "0,8,8,8\n8,0,8,8\n8,8,0,8\n8,8,8,0\n");
  expect_both({{{"bound", file_}, "bound", 2},
               {{"bound", file_, "-c", "alltoall"}, "bound", 2},
               {{"bound", file_, "-c", "scatter", "--root", "a0"}, "bound", 2},
               {{"bound", file_, "-c", "alltoall", "--demand", demand}, "bound", 2},
               {{"bound", file_, "--whatif", "--drop", "b1"}, "bound", 2},
               {{"bound", topology("dgx-a100-pcie-x1")}, "bound", 2},
               {{"bound", topology("dgx-a100-pcie-x1"), "-c", "alltoall"}, "bound", 2}});
  const Reported whole = {{"bound", file_}, "bound", 2};
  EXPECT_EQ(former(whole)["allreduce_optimum"]["reached"],
            present(whole)["allreduce_optimum"]["at_least"]);
  const Reported asked = {{"bound", file_, "-c", "alltoall", "--demand", demand}, "bound", 2};
  const Json now = present(asked)["alltoall"], before = former(asked)["alltoall"];
  EXPECT_EQ(before["seconds"]["reached"], now["reached_seconds"]);
  EXPECT_EQ(before["seconds"]["at_least"], now["least_seconds"]);
  EXPECT_EQ(before["lengths"][0]["length"], now["lengths"][0]["length"]["exact"]);
}

TEST_F(JsonVersion, OfTopologiesHasItsFormerForm) {
  const std::string graph = scratch_ / "graph.graphml";
  ASSERT_EQ(run({"topo", "convert", file_, "-o", graph}).code, 0);
  expect_both({{{"topo", "show", file_}, "topo-show", 1},
               {{"topo", "import", "auto", graph, "-o", scratch_ / "t.json"}, "import", 1}});
  const Reported shown = {{"topo", "show", file_}, "topo-show", 1};
  EXPECT_EQ(former(shown)["gpus"], present(shown)["compute_nodes"]);
  EXPECT_EQ(former(shown)["allgather"], present(shown)["algbw"]["allgather"]);
  // Nothing was renamed in these.
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"topo", "check", file_, "--json"},
        {"topo", "gen", "--list", "--json"},
        {"bound", file_, "-c", "allgather", "--groups", "MOD 2", "--json"}}) {
    std::vector<std::string> asked = words;
    asked.insert(asked.end(), {"--json-version", "1"});
    EXPECT_EQ(run(asked).out, run(words).out) << words.front();
  }
}

TEST_F(JsonVersionLong, OfSynthHasItsFormerForm) {
  const std::string out = scratch_ / "out";
  expect_both(
      {{{"synth", file_, "-o", out}, "synth", 2},
       {{"synth", file_, "-c", "alltoall", "--sizes", "1M", "-o", out}, "synth", 2},
       {{"synth", file_, "--algorithm", "nccl-ring", "-o", out}, "synth", 2},
       {{"synth", file_, "-c", "allgather", "--tradeoff", "--format", "none"}, "synth", 2},
       {{"synth", file_, "-c", "allgather", "--drop", "b1", "-o", out}, "synth", 2},
       {{"synth", file_, "--tune", "64K,1M", "-o", scratch_ / "files/"}, "tune", 1},
       {{"synth", topology("hypercube-16"), "--format", "nccl-graph", "-o", out}, "nccl-graph", 1},
       {{"synth", file_, "--format", "nccl-tuner", "--tune", "64K", "-o", out}, "nccl-tuner", 1}});
  const Reported sized = {{"synth", file_, "--size", "1M", "-o", out}, "synth", 2};
  const Json now = present(sized), before = former(sized);
  EXPECT_EQ(before["fastest"]["seconds"], now["fastest"]["simulated_seconds"]);
  EXPECT_EQ(before["fastest"]["least"]["by"], now["fastest"]["least_by"]);
  EXPECT_EQ(before["steps"], now["threadblock_steps"]);
  EXPECT_EQ(before["latencies"]["links"], now["latencies"]["link_count"]);
  // The sentence, and the numbers in it.
  const auto multiple = now["usable"]["count_multiple"].get<std::int64_t>();
  EXPECT_THAT(now["usable_counts"].get<std::string>(),
              HasSubstr(multiple == 1 ? "any count" : "divisible by " + std::to_string(multiple)));
}

TEST_F(JsonVersionLong, OfSchedulesHasItsFormerForm) {
  const std::string xml = written("a.xml", {"synth", file_});
  const std::string plan = written("plan.json", {"synth", file_, "--format", "mscclpp"});
  const std::string job = scratch_ / "job";
  ASSERT_EQ(run({"synth", file_, "-c", "allgather", "--groups", "MOD 2", "-o", job + "/"}).code, 0);
  expect_both({{{"verify", xml}, "verify", 1},
               {{"verify", xml, "--topology", file_}, "verify", 1},
               {{"verify", plan, "--topology", file_}, "verify", 1},
               {{"verify", xml, "--target", "all"}, "verify-targets", 1},
               {{"verify", job + "/job.json"}, "verify-job", 1},
               {{"simulate", xml, file_, "--sizes", "1K,1M"}, "simulation", 1},
               {{"simulate", job + "/job.json", file_, "--sizes", "1M"}, "simulation-job", 1}});
  // What a file does not have was 0 or empty.
  const std::string forest = written("f.json", {"synth", file_, "--format", "forest"});
  const std::string rules =
      written("t.conf", {"synth", file_, "--format", "nccl-tuner", "--tune", "64K"});
  const Reported trees = {{"verify", forest}, "verify", 1},
                 tuner = {{"verify", rules}, "verify", 1};
  expect_both({trees, tuner});
  EXPECT_FALSE(present(trees).contains("threadblocks"));
  EXPECT_FALSE(present(trees).contains("usable_counts"));
  EXPECT_EQ(former(trees)["threadblocks"], 0);
  EXPECT_EQ(former(trees)["usable_counts"], "");
  EXPECT_FALSE(present(tuner).contains("chunks"));
  EXPECT_EQ(former(tuner)["chunks"], present(tuner)["row_count"]);
  const Reported judged = {{"verify", xml, "--topology", file_}, "verify", 1};
  EXPECT_EQ(former(judged)["busiest"], present(judged)["busiest_link"]);
  EXPECT_EQ(present(judged)["topology"], "boxes");
  const Reported all = {{"verify", xml, "--target", "all"}, "verify-targets", 1};
  EXPECT_EQ(former(all)["targets"][0]["ranks"], present(all)["targets"][0]["compute_nodes"]);
  EXPECT_EQ(former(all)["targets"][0]["version"], 1);
}

// `times` are of routings alone; before, programs without a routing had theirs there.
TEST_F(JsonVersionLong, OfCompareHasItsFormerForm) {
  const std::string xml = written("a.xml", {"synth", file_});
  const std::vector<std::string> words = {
      "compare", file_,    "--algorithms", "forestcoll,nccl-ring,one-shot,nccl-pick",
      "--sizes", "64K,1M", "--schedule",   xml};
  const Reported one = {words, "compare", 1};
  expect_both(
      {one,
       {{"compare", file_, "--trees", "--sizes", "1M"}, "compare", 1},
       {{"compare", file_, "-c", "alltoall", "--sizes", "1M"}, "compare", 1},
       {{"compare", file_, topology("torus-4x4"), "--trees", "--sizes", "1M"}, "comparisons", 1}});
  const Json now = present(one), before = former(one);
  ASSERT_EQ(now["rows"].size(), before["rows"].size());
  std::size_t programs = 0;
  for (std::size_t i = 0; i < now["rows"].size(); ++i) {
    const Json &row = now["rows"][i], &of_before = before["rows"][i];
    if (row.contains("error")) continue;
    const bool is_program = row.value("simulated", "") == "program";
    programs += is_program ? 1 : 0;
    EXPECT_NE(row.contains("times"), is_program) << row;
    ASSERT_TRUE(row.contains("program_times")) << row;
    const Json& times = of_before[is_program ? "times" : "program_times"];
    ASSERT_EQ(times.size(), 2U) << of_before;
    EXPECT_EQ(times[0]["seconds"], row["program_times"][0]["simulated_seconds"]);
  }
  EXPECT_GE(programs, 2U);
  EXPECT_EQ(before["model"]["gpu"], now["parameters"]["name"]);
  EXPECT_EQ(before["model"]["measured"], false);
  ASSERT_FALSE(now["wins"].empty());
  EXPECT_EQ(now["wins"].back()["max_bytes"], 1 << 20);
}

TEST_F(JsonVersionLong, OfDesignsHasItsFormerForm) {
  const std::string costs = scratch_.write(
      "costs.json",
      R"({"format": "forestcoll-costs", "version": 1, "currency": "units", "note": "Made up.",
  "switches": [{"name": "large", "ports": 64, "bandwidth": 50, "price": 60.5}],
  "cables": {"box": {"price": 1}, "row": {"price": 2}, "hall": {"price": 4}}})");
  expect_both({{{"design", "direct", "-n", "8", "--ports", "2"}, "design-direct", 1},
               {{"design", "search", "torus(3,3)", "--moves", "5"}, "design-search", 1},
               {{"design", "formulas", "-n", "9", "--ports", "4"}, "design-formulas", 1},
               {{"design", "cluster", "--gpus", "16", "--costs", costs}, "design-cluster", 1}});
}

// A baseline may be of either form: what CI kept is of the former.
TEST(JsonVersionOfBatchLong, HasItsFormerFormAndBothAreBaselines) {
  const BatchDirectories batch;
  batch.add("a.json", pair_topology("10"));
  EXPECT_EQ(batch.run({"--json-version", "1"}).code, 0);
  Json before = Json::parse(read_file(batch.out() + "/report.json"));
  expect_valid(before, "forestcoll-batch.v3.schema.json");
  EXPECT_EQ(before["items"][0]["k"], "auto");
  before["items"][0]["algbw"]["exact"] = "8";
  std::ofstream(batch / "baseline.json") << before;
  const std::vector<std::string> words = {"--baseline", batch / "baseline.json"};
  EXPECT_THAT(batch.run(words).err, HasSubstr("1 better"));
  const Json now = batch.report();
  EXPECT_EQ(now["version"], 4);
  EXPECT_EQ(now["other_differences"][0]["before"]["value"], 8);
  std::vector<std::string> again = words;
  again.insert(again.end(), {"--json-version", "1"});
  EXPECT_EQ(batch.run(again).code, 0);
  const Json difference = Json::parse(read_file(batch.out() + "/report.json"))["changes"][0];
  EXPECT_EQ(difference["change"], "8.00 -> 10.00 GB/s (+25.0 %)");
  EXPECT_EQ(difference["before"], "8");
  EXPECT_EQ(difference["now"], "10");
}

TEST_F(JsonVersion, RefusesOtherNumbersAndReportsThatAreNoJson) {
  EXPECT_EQ(run({"bound", file_, "--json", "--json-version", "3"}).code, 2);
  const auto alone = run({"bound", file_, "--json-version", "1"});
  EXPECT_EQ(alone.code, 2);
  EXPECT_THAT(alone.err, HasSubstr("--json-version requires --json"));
}

}  // namespace
}  // namespace forestcoll::testing
