// One small file per kind of bad input, in tests/malformed; expected.txt beside them says which
// findings each must give, with their places.
#include <map>
#include <set>
#include <sstream>

#include "forestcoll/network.hpp"
#include "topology/topology_testing.hpp"

namespace forestcoll {
namespace {

using test::read_file;
using test::source_path;

// "file: E05 /links/1; W06 /links/1/x" by file.
std::map<std::string, std::string> expected_findings() {
  std::map<std::string, std::string> expected;
  std::istringstream lines(read_file(source_path("tests/malformed/expected.txt")));
  for (std::string line; std::getline(lines, line);) {
    const std::size_t colon = line.find(": ");
    EXPECT_NE(colon, std::string::npos) << line;
    expected[line.substr(0, colon)] = line.substr(colon + 2);
  }
  return expected;
}

// Of parsing, and of the digraph where the file parses.
Diagnostics all_findings(const std::string& text) {
  const auto parsed = parse_topology(text, "bad.json");
  if (!parsed) return parsed.errors();
  Diagnostics findings = parsed->warnings;
  const auto network = to_digraph(parsed->topology);
  if (!network) {
    findings.insert(findings.end(), network.errors().begin(), network.errors().end());
  }
  return findings;
}

std::string joined(const Diagnostics& findings) {
  std::string line;
  for (const std::string& code : testing::codes_of(findings)) {
    line += (line.empty() ? "" : "; ") + code;
  }
  return line;
}

TEST(Malformed, EachFileGivesItsFindings) {
  auto expected = expected_findings();
  for (const auto& path : test::json_files("tests/malformed")) {
    const std::string name = path.filename().string();
    EXPECT_EQ(joined(all_findings(read_file(path))), expected[name]) << name;
    expected.erase(name);
  }
  for (const auto& [name, findings] : expected) ADD_FAILURE() << name << " is not there";
}

TEST(Malformed, EveryCodeOfTheFormatHasAFile) {
  std::set<std::string> met;
  for (const auto& [name, findings] : expected_findings()) met.insert(findings.substr(0, 3));
  std::set<std::string> codes;
  for (int i = 1; i <= 15; ++i) codes.insert((i < 10 ? "E0" : "E") + std::to_string(i));
  for (int i = 1; i <= 9; ++i) codes.insert("W0" + std::to_string(i));
  codes.insert({"E17", "W12", "W16"});
  EXPECT_EQ(met, codes);
}

TEST(Malformed, FindingsAreCompleteAndBounded) {
  for (const auto& path : test::json_files("tests/malformed")) {
    const Diagnostics findings = all_findings(read_file(path));
    testing::expect_remedies(findings, path);
    for (const Diagnostic& finding : findings) {
      EXPECT_EQ(finding.kind, finding.code == Code::E14 ? ErrorKind::limit : ErrorKind::input)
          << path;
      EXPECT_EQ(finding.severity,
                name_of(finding.code).front() == 'W' ? Severity::warning : Severity::error)
          << path;
      EXPECT_FALSE(finding.message.empty()) << path;
      EXPECT_EQ(finding.file, finding.code == Code::E14 ? "" : "bad.json") << path;
      EXPECT_LT(to_string(finding).size(), 800U) << path;
      EXPECT_EQ(to_string(finding).find('\0'), std::string::npos) << path;
    }
  }
}

// The exact words of a few.
std::string words(const std::string& name) {
  std::string text;
  for (const Diagnostic& finding :
       all_findings(read_file(source_path("tests/malformed/" + name)))) {
    text += to_string(finding) + "\n";
  }
  return text;
}

TEST(Messages, AreForPeople) {
  EXPECT_EQ(words("e01-truncated.json"),
            "bad.json: 2:72: not JSON: the file ends in the middle of a value [E01]\n"
            "  The file looks truncated; write or copy it again.\n");
  EXPECT_EQ(
      words("e01-nan.json"),
      "bad.json: 3:111: not JSON: invalid literal, at \"ndwidth\": NaN }] }\" [E01]\n"
      "  Correct the text there; NaN, Infinity, comments and trailing commas are not JSON.\n");
  EXPECT_EQ(words("e01-duplicate-key.json"),
            "bad.json: /name: the key \"name\" stands twice in one object [E01]\n"
            "  Remove or rename one of the two.\n");
  EXPECT_EQ(words("e04-unknown.json"),
            "bad.json: /links/1/dst: no node has the id \"gup1\" [E04]\n"
            "  Did you mean \"gpu1\"?\n");
  EXPECT_EQ(words("e04-box-node.json"),
            "bad.json: /links/0/src: no node has the id \"gpu0\" [E04]\n"
            "  Did you mean \"b0/gpu0\"? Nodes of a box are named BOX/ID.\n");
  EXPECT_EQ(words("e04-template-link.json"),
            "bad.json: /templates/t/links/0/dst: no node has the id \"sw\" [E04]\n"
            "  The links of a template join its own nodes; link boxes at the top level.\n");
  EXPECT_EQ(words("e05-unit.json"),
            "bad.json: /links/1/bandwidth: expected a bandwidth such as 25 or \"200 Gb/s\", found "
            "\"50GBs\" [E05]\n"
            "  Bits or bytes? Write \"50 Gb/s\" or \"50 GB/s\".\n");
  EXPECT_EQ(words("e08-no-links.json"),
            "bad.json: /nodes/0: compute node \"gpu2\" has no link in and none out (and 1 more of "
            "this entry) [E08]\n"
            "  Link it in both directions, or set \"enabled\": false.\n");
  EXPECT_EQ(
      words("e09-one-way.json"),
      "bad.json: /links: not all compute nodes reach each other: there are 2 "
      "components: \"gpu0\" with 1 more (no way in), \"gpu2\" with 1 more (no way out) [E09]\n"
      "  Add the missing links, or the missing directions of one-way links.\n");
  EXPECT_EQ(words("e14-huge-and-tiny.json"),
            "bad.json: /links/0/bandwidth: warning: 1000000000000000000 GB/s is above 10 TB/s "
            "[W04]\n"
            "  Is it a slip of the unit? Gb/s is an eighth of GB/s.\n"
            "the bandwidths are too large or too fine together for exact arithmetic in 64 bits: "
            "gpu0 to gpu1 at 1/1000000000 GB/s beside gpu0 to sw at 1000000000000000000 GB/s "
            "[E14]\n"
            "  Round them with `quantize=10` (GB/s), or coarser.\n");
  EXPECT_EQ(words("e15-range.json"),
            "bad.json: /nodes/0/id: the file expands to 1000000000 nodes up to here; the limit is "
            "1000000 [E15]\n"
            "  Check the ranges; a fabric that is meant to be so large needs a larger "
            "`max_nodes`.\n");
  EXPECT_EQ(
      words("w05-degraded-box.json"),
      "bad.json: /boxes/0: warning: box \"b2\" has 2 links, 2 boxes of template \"t\" 3 [W05]\n"
      "  Is a link missing from the file? One that failed stays in it with \"enabled\": false.\n");
}

}  // namespace
}  // namespace forestcoll
