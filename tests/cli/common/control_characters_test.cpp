// Names from a file steer no terminal and break no XML.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <pugixml.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

constexpr char kEscape = '\x1b';

// With `head` among the keys of the top level, and `link` among those of the link.
std::string fabric_with(const std::string& head, const std::string& link = "") {
  return R"({"format": "forestcoll-topology", "version": 1, )" + head + R"(
 "nodes": [{"id": "gpu[0-1]", "type": "compute"}, {"id": "sw", "type": "switch"}],
 "links": [{"src": "gpu[0-1]", "dst": "sw", )" +
         link + R"("bandwidth": 25}]})";
}

TEST(ControlCharacters, AreRefusedByEveryCommand) {
  const Scratch scratch;
  for (const auto& [text, place] :
       {std::pair(fabric_with(R"("name": "evil \u001b[31m",)"), "/name"),
        std::pair(fabric_with(R"("name": "two\nlines",)"), "/name"),
        std::pair(fabric_with(R"("name": "\u009b31m",)"), "/name"),
        std::pair(fabric_with(R"("description": "bell \u0007",)"), "/description"),
        std::pair(fabric_with("", R"("kind": "\uffff",)"), "/links/0/kind")}) {
    const std::string file = scratch.write("t.json", text);
    for (const std::vector<std::string>& words :
         std::vector<std::vector<std::string>>{{"bound", file},
                                               {"synth", "-k", "auto", file},
                                               {"topo", "show", file},
                                               {"topo", "convert", file, "--to", "graphml"},
                                               {"compare", file, "--trees", "--svg", "-"}}) {
      const auto result = run(words);
      EXPECT_EQ(result.code, 2) << place;
      EXPECT_EQ(result.out, "");
      EXPECT_THAT(result.err, HasSubstr(std::string(place) + ": "));
      EXPECT_THAT(result.err, HasSubstr("control character U+"));
      EXPECT_THAT(result.err, HasSubstr("[E02]"));
      EXPECT_THAT(result.err, Not(HasSubstr("\x1b")));
      EXPECT_THAT(result.err, Not(HasSubstr("\xc2\x9b")));
    }
  }
}

TEST(ControlCharacters, OfAKeyAreEscapedInItsPlace) {
  const Scratch scratch;
  const auto bound =
      expect_says(0, {"bound", scratch.write("t.json", fabric_with(R"("\u001b[31m": 1,)"))},
                  "/\\u001b[31m: warning");
  EXPECT_EQ(bound.err.find(kEscape), std::string::npos);
}

TEST(ControlCharacters, OfForeignGraphsAreTakenOutOrRefused) {
  const Scratch scratch;
  const auto graph = [&](const std::string& name, const std::string& kind) {
    return scratch.write("g.json", R"({"directed": false, "multigraph": false,
 "graph": {"name": ")" + name + R"("},
 "nodes": [{"id": "a", "type": "compute"}, {"id": "b", "type": "compute"}],
 "edges": [{"source": "a", "target": "b", "bandwidth": 1, "kind": ")" +
                                       kind + R"("}]})");
  };
  const auto named = run_well(
      {"topo", "convert", graph(R"(an \u001b\u0007 evil\u001b name)", "nv"), "--to", "graphml"});
  pugi::xml_document document;
  EXPECT_TRUE(document.load_string(named.out.c_str()));
  EXPECT_THAT(named.out, HasSubstr(">an   evil  name<"));
  EXPECT_EQ(named.out.find(kEscape), std::string::npos);
  expect_says(2, {"bound", graph("plain", R"(nv\u001b)")},
              "/edges/0: the kind \"nv\\u001b\" has the control character "
              "U+001B [I03]");
}

TEST(ControlCharacters, OfAFileNameStayOutOfTheFabricsName) {
  const Scratch scratch;
  const auto show = run_well({"topo", "show", scratch.write("a\x1b[31mb.json", fabric_with(""))});
  EXPECT_THAT(show.out, HasSubstr("a_[31mb"));
  EXPECT_EQ(show.out.find(kEscape), std::string::npos);
}

}  // namespace
}  // namespace forestcoll::testing
