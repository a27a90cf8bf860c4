// The JSON Schema and the parser must agree: what the schema refuses, the parser reports.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <valijson/adapters/nlohmann_json_adapter.hpp>
#include <valijson/schema.hpp>
#include <valijson/schema_parser.hpp>
#include <valijson/validator.hpp>

#include "topology/topology_testing.hpp"

namespace forestcoll {
namespace {

using nlohmann::json;
using test::read_file;
using test::source_path;

class SchemaTest : public ::testing::Test {
 protected:
  SchemaTest() {
    const json document =
        json::parse(read_file(source_path("topologies/schema/forestcoll-topology.schema.json")));
    valijson::SchemaParser parser(valijson::SchemaParser::kDraft7);
    parser.populateSchema(valijson::adapters::NlohmannJsonAdapter(document), schema_);
  }

  bool is_valid(const json& document) {
    valijson::Validator validator;
    return validator.validate(schema_, valijson::adapters::NlohmannJsonAdapter(document), nullptr);
  }

  // A schema says what a document is made of; a parser that reports an unknown key has seen it too.
  static bool parser_accepts(const std::string& text) {
    const auto parsed = parse_topology(text, "test.json");
    return parsed && std::ranges::count(parsed->warnings, Code::W06, &Diagnostic::code) == 0;
  }

  valijson::Schema schema_;
};
using SchemaTestLong = SchemaTest;

TEST_F(SchemaTest, BundledFilesAreValid) {
  for (const auto& path : test::json_files("topologies")) {
    EXPECT_TRUE(is_valid(json::parse(read_file(path)))) << path;
  }
}

// What is wrong in these files, a schema can say.
bool can_be_expressed(const std::string& name) {
  static const std::set<std::string> beyond = {
      "e02-template.json",  // the name of another part of the document
      "e05-by-zero.json",   "e05-huge.json",    "e05-nineteen-digits.json",
      "e05-product.json",   "e05-tiny.json",     // the range of exact arithmetic
      "e11-backwards.json", "e11-padding.json",  // arithmetic on digits
      "e11-long-id.json",                        // the length after expansion
  };
  const std::string code = name.substr(0, 3);
  const bool is_of_values = code == "e02" || code == "e05" || code == "e11" || code == "e12";
  return (is_of_values || code == "w06") && !beyond.contains(name);
}

TEST_F(SchemaTest, MalformedFilesAreRefusedWhereASchemaCan) {
  std::size_t refused = 0;
  for (const auto& path : test::json_files("tests/malformed")) {
    const std::string name = path.filename().string();
    const json document = json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
    if (document.is_discarded()) continue;
    const bool valid = is_valid(document);
    if (!valid) {
      ++refused;
      EXPECT_FALSE(parser_accepts(read_file(path))) << name;
    }
    if (name == "several.json") {
      EXPECT_FALSE(valid);
    } else {
      EXPECT_EQ(!valid, can_be_expressed(name)) << name;
    }
  }
  EXPECT_GT(refused, 40U);
}

// Every value of a document in turn is replaced by every one of a list of values, or removed.
class Mutations {
 public:
  explicit Mutations(json document) : document_(std::move(document)) {}

  template <class Visit>
  void for_each(Visit visit) {
    mutate(document_, "", visit);
  }

 private:
  template <class Visit>
  void mutate(json& value, const std::string& where, Visit& visit) {
    static const std::vector<json> replacements = {nullptr,
                                                   true,
                                                   -1,
                                                   0,
                                                   7,
                                                   2.5,
                                                   "",
                                                   "gpu[0-7",
                                                   "25 GB/s",
                                                   "zip",
                                                   json::array(),
                                                   json::array({1}),
                                                   json::object(),
                                                   json::object({{"x-note", 1}}),
                                                   json::object({{"note", 1}})};
    const json original = value;
    for (const json& replacement : replacements) {
      value = replacement;
      visit(document_, where + " := " + replacement.dump());
    }
    value = original;
    if (!value.is_structured()) return;
    const bool is_object = value.is_object();
    std::vector<std::string> keys;
    if (is_object) {
      for (const auto& [key, item] : value.items()) keys.push_back(key);
    } else {
      for (std::size_t i = 0; i < value.size(); ++i) keys.push_back(std::to_string(i));
    }
    for (const std::string& key : keys) {
      json& child = is_object ? value[key] : value[std::stoul(key)];
      mutate(child, where + "/" + key, visit);
      if (!is_object) continue;
      const json kept = child;
      value.erase(key);
      visit(document_, where + "/" + key + " removed");
      value[key] = kept;
    }
    if (!is_object) return;
    value["surprise"] = 1;
    visit(document_, where + "/surprise added");
    value.erase("surprise");
  }

  json document_;
};

TEST_F(SchemaTestLong, MutatedFilesAreJudgedAlike) {
  // Every key of the format, once.
  const json full = json::parse(R"({
    "format": "forestcoll-topology", "version": 1, "name": "n", "description": "d",
    "metadata": 1, "x-note": 1, "units": { "bandwidth": "GB/s", "latency": "us" },
    "templates": { "t": { "nodes": [ { "id": "gpu[0-1]", "type": "compute", "weight": 2 },
                                     { "id": "sw", "type": "switch", "reduce": true, "echo": false } ],
                          "links": [ { "src": "gpu[0-1]", "dst": "sw", "bandwidth": 25 } ] } },
    "boxes": [ { "id": "box[0-1]", "template": "t" } ],
    "nodes": [ { "id": "spine", "type": "switch", "multicast": true, "box": "s", "enabled": true },
               { "id": "guest", "type": "relay", "reduce": false },
               { "id": "host", "type": "compute", "weight": "1/3", "multicast": false } ],
    "links": [ { "src": "box[0-1]/sw", "dst": "spine", "bandwidth": "200 Gb/s", "count": 2,
                 "duplex": "full", "latency": 1.5, "kind": "ib", "enabled": true, "derate": 0.5,
                 "pair": "product" },
               { "src": "host", "dst": "spine", "bandwidth": "1000/3", "latency": "700 ns",
                 "derate": "1/2" } ],
    "rank_order": [ "host", "box[0-1]/gpu[0-1]" ] })");
  ASSERT_TRUE(is_valid(full));
  ASSERT_TRUE(parser_accepts(full.dump()));
  std::size_t refused_by_schema = 0, refused_by_parser = 0;
  Mutations(full).for_each([&](const json& document, const std::string& what) {
    const std::string text = document.dump();
    const bool valid = is_valid(document);
    if (!valid) {
      ++refused_by_schema;
      EXPECT_FALSE(parser_accepts(text)) << "the schema alone refuses: " << what;
    }
    const auto parsed = parse_topology(text, "test.json");
    if (parsed) return;
    ++refused_by_parser;
    // Of the errors that a schema can express, these two it can in every case here.
    for (const Diagnostic& error : parsed.errors()) {
      const bool names_a_template = error.where.ends_with("/template");
      if ((error.code == Code::E02 && !names_a_template) || error.code == Code::E12) {
        EXPECT_FALSE(valid) << "the parser alone refuses: " << what << ": " << to_string(error);
      }
    }
  });
  EXPECT_GT(refused_by_schema, 500U);
  EXPECT_GT(refused_by_parser, refused_by_schema / 2);
}

}  // namespace
}  // namespace forestcoll
