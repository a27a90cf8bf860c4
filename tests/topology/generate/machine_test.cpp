// Machines as data: the bundled ones are complete, a user's own is read or refused in place.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>
#include <vector>

#include "forestcoll/generate.hpp"
#include "topology/topology_testing.hpp"

namespace forestcoll::testing {
namespace {

using nlohmann::json;

// Four GPUs behind two bridges, which share a bus, and a NIC at each.
const char* const kMachine = R"({
  "format": "forestcoll-machine", "version": 1, "name": "mine", "summary": "Two bridges",
  "source": "a ruler", "date": "2026-01", "gpu_parameters": "h100",
  "box": {
    "nodes": [{ "id": "gpu[0-3]", "type": "compute" }, { "id": "sw[0-1]", "type": "switch" }],
    "links": [
      { "src": "gpu[0-3]", "dst": "sw[0,0,1,1]", "pair": "zip", "bandwidth": 32, "kind": "pcie" },
      { "src": "sw0", "dst": "sw1", "bandwidth": "128 Gb/s", "derate": 0.5, "kind": "cpu" }],
    "limits": [{ "name": "bus", "links": ["gpu[0-1]~sw0"], "bandwidth": 40 }]
  },
  "nics": { "count": 2, "bandwidth": "200 Gb/s", "pcie": 32, "kind": "roce", "at": "sw[0-1]" }
})";

using MachineValues = std::map<std::string, std::string>;

Topology made_of(const std::string& text, const MachineValues& values = {}) {
  const auto machine = generate_machine(text, "mine.json", values);
  if (!machine) {
    ADD_FAILURE() << to_string(machine.errors().front());
    return {};
  }
  EXPECT_THAT(machine->warnings, IsEmpty());
  return parse_valid(to_topology_json(machine->document));
}

// The schema, with what it takes of that of topologies put in.
class MachineSchema {
 public:
  MachineSchema() {
    const json topology =
        json::parse(read_file(source_path("topologies/schema/forestcoll-topology.schema.json")));
    std::string text = read_file(source_path("topologies/schema/forestcoll-machine.schema.json"));
    const std::string other = "forestcoll-topology.schema.json#";
    for (auto at = text.find(other); at != std::string::npos; at = text.find(other)) {
      text.replace(at, other.size(), "#");
    }
    json document = json::parse(text);
    document["definitions"] = topology["definitions"];
    valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
    parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(document), schema_);
  }
  bool accepts(const json& document) {
    valijson::Validator validator;
    return validator.validate(schema_, valijson::adapters::NlohmannJsonAdapter(document), nullptr);
  }

 private:
  valijson::Schema schema_;
};

TEST(Machine, BundledOnesAreCompleteAndInTheDocument) {
  MachineSchema schema;
  const std::string page = read_file(source_path("docs/machine-sources.md"));
  std::size_t count = 0;
  for (const auto& path : json_files("topologies/machines")) {
    const json machine = json::parse(read_file(path));
    EXPECT_TRUE(schema.accepts(machine)) << path;
    const std::string name = machine["name"];
    EXPECT_EQ(name, path.stem()) << path;
    EXPECT_THAT(page, HasSubstr("| `" + name + "` |")) << "tools/scripts/machine-table";
    for (const json& url : machine.value("urls", json::array())) {
      EXPECT_THAT(page, HasSubstr(url.get<std::string>())) << name;
    }
    // A file of one's own of the same content is the same machine.
    const auto own = generate_machine(read_file(path), path.string());
    ASSERT_TRUE(own) << to_string(own.errors().front());
    EXPECT_THAT(own->warnings, IsEmpty());
    EXPECT_EQ(to_topology_json(own->document), to_topology_json(*generate(name))) << name;
    ++count;
  }
  EXPECT_GE(count, 32U);
}

TEST(Machine, OfOnesOwnHasItsLimitsAndNics) {
  const Topology box = made_of(kMachine);
  EXPECT_EQ(box.ranks.size(), 4U);
  ASSERT_EQ(box.limits.size(), 1U);
  EXPECT_EQ(box.limits[0].bandwidth, Ratio(40));
  EXPECT_EQ(box.limits[0].uses.size(), 4U);
  EXPECT_EQ(box.links[LinkId(box.links.size() - 1)].bandwidth, Ratio(8));

  const Topology two = made_of(kMachine, {{"boxes", "2"}, {"fabric", "single"}});
  EXPECT_EQ(two.ranks.size(), 8U);
  EXPECT_EQ(two.limits.size(), 2U);
  std::map<std::string, int> kinds;
  for (const TopologyLink& link : two.links) ++kinds[link.kind];
  EXPECT_EQ(kinds, (std::map<std::string, int>{{"pcie", 12}, {"cpu", 2}, {"roce", 4}}));
}

TEST(Machine, UnknownKeysAreWarnings) {
  json machine = json::parse(kMachine);
  machine["sumary"] = "x";
  machine["x-note"] = "kept";
  const auto made = generate_machine(machine.dump(), "mine.json");
  ASSERT_TRUE(made);
  ASSERT_EQ(made->warnings.size(), 1U);
  EXPECT_THAT(to_string(made->warnings[0]),
              AllOf(HasSubstr("mine.json: /sumary"), HasSubstr("W06"), HasSubstr("\"summary\"")));
}

// `pointer` of the machine is `value`; what is said of it.
TEST(Machine, WhatIsWrongIsSaidInPlace) {
  const std::vector<std::tuple<std::string, json, std::string>> cases = {
      {"/format", "forestcoll-topology", "/format: expected \"forestcoll-machine\""},
      {"/version", 2, "/version: expected 1"},
      {"/name", "", "/name: expected a text"},
      {"/source", 7, "/source: expected a text"},
      {"/urls", "x", "/urls: expected an array of addresses"},
      {"/urls", json::array({"ftp://x"}), "/urls: expected an array of addresses"},
      {"/box", 1, "/box: expected an object with nodes and links"},
      {"/box/nodes/0/id", "gpu[1-4]", "/box/nodes/0: expected the compute nodes in one entry"},
      {"/box/nodes/0/id", "gpu[0-999999999]", "/box/nodes/0: expected the compute nodes"},
      {"/box/nodes/0/type", "relay", "/box/nodes/0: expected the compute nodes in one entry"},
      {"/box/nodes/1/type", "compute", "/box/nodes/1: expected the compute nodes in one entry"},
      {"/box/nodes/1/type", "bridge", "/box/nodes/1/type: expected"},
      {"/box/links/0/bandwidth", "fast", "/box/links/0/bandwidth: expected a bandwidth"},
      {"/box/limits/0/bandwidth", 0, "/box/limits/0/bandwidth: expected a bandwidth"},
      {"/nics", 8, "/nics: expected an object"},
      {"/nics/bandwidth", "x", "/nics/bandwidth: expected a bandwidth"},
      {"/nics/count", 0, "/nics/count: expected a number of NICs"},
      {"/nics/count", 1.5, "/nics/count: expected a number of NICs"},
      {"/nics/at", "sw0", "/nics/at: 1 places of 2 NICs"},
      {"/nics/at", "sw[", "/nics/at: "},
      {"/torus", 1, "/torus: expected an object"},
      {"/torus", json{{"dims", "2x2"}}, "/torus/bandwidth: expected a bandwidth"},
  };
  for (const auto& [pointer, value, message] : cases) {
    json machine = json::parse(kMachine);
    machine[json::json_pointer(pointer)] = value;
    const auto made = generate_machine(machine.dump(), "mine.json");
    ASSERT_FALSE(made) << pointer << value;
    EXPECT_THAT(to_string(made.errors().front()), HasSubstr("mine.json: " + message))
        << pointer << value;
    expect_remedies(made.errors(), pointer);
  }
  for (const char* text : {"", "[]", "{", "7", "{\"format\": \"forestcoll-machine\"}"}) {
    EXPECT_FALSE(generate_machine(text, "mine.json")) << text;
  }
  const auto parameter = generate_machine(kMachine, "mine.json", {{"dims", "4"}});
  ASSERT_FALSE(parameter);
  EXPECT_THAT(to_string(parameter.errors().front()), HasSubstr("mine has no parameter"));
}

TEST(Machine, WithoutNicsIsOneBoxAndATorusHasDimensions) {
  json alone = json::parse(kMachine);
  alone.erase("nics");
  EXPECT_EQ(made_of(alone.dump()).ranks.size(), 4U);
  EXPECT_FALSE(generate_machine(alone.dump(), "mine.json", {{"boxes", "2"}}));

  alone.erase("box");
  alone["torus"] = {{"dims", "3x3"}, {"bandwidth", "400 Gb/s"}};
  const Topology torus = made_of(alone.dump(), {{"dims", "2x3"}});
  EXPECT_EQ(torus.ranks.size(), 6U);
  EXPECT_EQ(torus.links[LinkId(0)].bandwidth, Ratio(50));
}

}  // namespace
}  // namespace forestcoll::testing
