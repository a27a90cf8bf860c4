// `forestcoll topo gen`, `show` and `convert`, and `bound --whatif`, from outside.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/program.hpp"
#include "support/svg_picture.hpp"

namespace forestcoll::testing {
namespace {

TEST(TopoGen, WritesAFileThatBoundReads) {
  const Scratch scratch;
  const std::string file = scratch / "a100.json";
  const auto gen =
      run_well({"topo", "gen", "dgx-a100", "--boxes", "4", "--fabric", "odd-even", "-o", file});
  EXPECT_EQ(gen.out, "");
  EXPECT_THAT(gen.err, HasSubstr("32 GPUs"));
  const auto bound = run({"bound", "--json", file});
  EXPECT_EQ(nlohmann::json::parse(bound.out)["algbw"]["allgather"]["exact"], "800/3");
  EXPECT_EQ(run({"topo", "check", "--strict", file}).code, 0);
}

TEST(TopoGen, StandardOutputByDefault) {
  const auto gen = run_well({"topo", "gen", "torus", "--dims", "3x3"});
  const auto bound = run({"bound", "-", "--json"}, {.input = gen.out});
  EXPECT_EQ(nlohmann::json::parse(bound.out)["algbw"]["allgather"]["exact"], "9/2");
}

TEST(TopoGen, ListsWhatThereIs) {
  const auto list = run_well({"topo", "gen", "--list"});
  for (const char* name :
       {"dgx-1v",      "dgx-2",     "dgx-a100", "dgx-h100", "dgx-h200",  "dgx-b200",
        "gb200-nvl72", "mi250",     "mi300x",   "tpu-v4",   "dragonfly", "jellyfish",
        "hypercube",   "torus",     "mesh",     "kautz",    "de-bruijn", "circulant",
        "bcube",       "full-mesh", "ring",     "mixed",    "fat-tree",  "--oversubscription"}) {
    EXPECT_THAT(list.out, HasSubstr(name));
  }
  const auto json = run({"topo", "gen", "--list", "--json"});
  expect_valid(nlohmann::json::parse(json.out), "forestcoll-generators.schema.json");
}

TEST(TopoGen, AMachineOfOnesOwnIsAFile) {
  const Scratch scratch;
  const std::string file = scratch.write(
      "mine.json",
      R"({"format": "forestcoll-machine", "version": 1, "name": "mine", "summary": "x",
          "source": "y", "box": {"nodes": [{"id": "gpu[0-1]", "type": "compute"}],
          "links": [{"src": "gpu0", "dst": "gpu1", "bandwidth": 100}]},
          "nics": {"count": 2, "bandwidth": 25}})");
  const auto gen = expect_says(0, {"topo", "gen", file, "--boxes", "2", "--fabric", "single"},
                               "2x mine, single: 4 GPUs");
  const auto bound = run({"bound", "-", "--json"}, {.input = gen.out});
  EXPECT_EQ(nlohmann::json::parse(bound.out)["algbw"]["allgather"]["exact"], "100");

  const std::string broken = scratch.write("broken.json", "{\"format\": \"forestcoll-machine\"}");
  const auto refused = run({"topo", "gen", broken, "-o", scratch / "out.json"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("broken.json: "), HasSubstr("[E02]")));
  EXPECT_EQ(run({"topo", "gen", scratch / "absent.json"}).code, 4);
  EXPECT_THAT(scratch.names(), ElementsAre("broken.json", "mine.json"));
}

TEST(TopoGen, WrongNamesAndParametersAreTwo) {
  for (const auto& [arguments, message] :
       std::vector<std::pair<std::vector<std::string>, std::string>>{
           {{"dgx-a10"}, "[G01]"},
           {{}, "the name of a fabric is missing"},
           {{"torus", "--boxes", "3"}, "[G02]"},
           {{"torus", "--dims", "x"}, "[G03]"},
           {{"dgx-h100", "--boxes", "99999"}, "Ask for a smaller fabric."},
           {{"dgx-h100", "--boxes", "99999", "--fabric", "single", "--bogus", "1"}, "--bogus"}}) {
    const auto gen = expect_says(2, joined({"topo", "gen"}, arguments), message);
    EXPECT_EQ(gen.out, "");
  }
  EXPECT_EQ(run({"topo", "gen", "ring", "-o", "/nonexistent/x.json"}).code, 4);
}

TEST(TopoShowLong, SummaryInWords) {
  const auto show = run_well({"topo", "show", topology("dgx-a100-x2")});
  EXPECT_THAT(show.out, HasSubstr("switches     box0/nvsw, box0/nic[0-7], and so in each such box\n"
                                  "  switches     ib[0-1]\n"));
  EXPECT_THAT(show.out, StartsWith("2x DGX A100\n"));
  EXPECT_THAT(show.out, HasSubstr("16 GPUs, 20 switch nodes"));
  EXPECT_THAT(show.out, HasSubstr("2 of 8 GPUs and 9 switch nodes: box[0-1]"));
  EXPECT_THAT(show.out, HasSubstr("16 of 300 GB/s = 12 x 25, nvlink"));
  EXPECT_THAT(show.out, HasSubstr("nvlink: 2 domains"));
  EXPECT_THAT(show.out, HasSubstr("200 GB/s from the first half of the ranks"));
  EXPECT_THAT(show.out, HasSubstr("346.667 (1040/3) GB/s allgather"));
}

TEST(TopoShowLong, JsonFollowsItsSchema) {
  for (const std::string name : {"dgx-a100-x2", "torus-4x4", "mi250-x2"}) {
    const auto show =
        json_of({"topo", "show", "--json", topology(name)}, "forestcoll-topo-show.schema.json");
  }
}

TEST(TopoShowLong, PicturesByGraphviz) {
  const Scratch scratch;
  const auto show = run_well({"topo", "show", topology("dgx-a100-x2"), "--svg", scratch / "a.svg",
                              "--png", scratch / "a.png", "--dot", scratch / "a.dot"});
  EXPECT_THAT(show.out, HasSubstr("16 GPUs"));
  EXPECT_THAT(read_file(scratch / "a.svg"), HasSubstr("</svg>"));
  EXPECT_THAT(read_file(scratch / "a.svg"), HasSubstr("data for box0/gpu0 enters"));
  EXPECT_THAT(read_file(scratch / "a.png"), StartsWith("\x89PNG"));
  EXPECT_THAT(read_file(scratch / "a.dot"), StartsWith("graph "));
}

test::SvgPicture drawn(const std::vector<std::string>& fabric) {
  const Scratch scratch;
  const std::string topology = run(fabric).out;
  run_well({"topo", "show", "-", "--svg", scratch / "a.svg"}, {.input = topology});
  return test::read_svg(read_file(scratch / "a.svg"));
}

// At 1,600 pixels, with text of at least 80 % of its 11 pixels.
TEST(TopoShowLong, PicturesInRowsCanBeRead) {
  for (const std::vector<std::string>& fabric :
       {std::vector<std::string>{"gb200-nvl72", "--boxes", "2"},
        {"gb200-nvl72"},
        {"fat-tree", "--ports", "6"},
        {"dgx-h100", "--boxes", "4", "--fabric", "rail-spine"},
        {"mi250", "--boxes", "2"},
        {"dgx-a100", "--boxes", "128", "--fabric", "fat-tree"}}) {
    std::vector<std::string> words = {"topo", "gen"};
    words.insert(words.end(), fabric.begin(), fabric.end());
    EXPECT_LE(drawn(words).width, 2000) << fabric[0];
  }
}

TEST(TopoShowLong, TheWidthIsAnOption) {
  const std::string rack = run({"topo", "gen", "gb200-nvl72"}).out;
  const auto dot = [&](const std::string& width) {
    return run({"topo", "show", "-", "--dot", "-", "--width", width}, {.input = rack});
  };
  EXPECT_THAT(dot("1600").out, HasSubstr("71 GPUs\\n"));
  EXPECT_THAT(dot("9000").out, AllOf(HasSubstr("gpu71"), Not(HasSubstr("71 GPUs\\n"))));
  for (const std::string wrong : {"0", "-1", "x", "1e9"}) EXPECT_EQ(dot(wrong).code, 2) << wrong;
}

TEST(TopoShowLong, APictureOnStandardOutputStandsAlone) {
  const auto show = run_well({"topo", "show", topology("torus-4x4"), "--dot", "-"});
  EXPECT_THAT(show.out, StartsWith("graph "));
  EXPECT_THAT(show.out, Not(HasSubstr("optimum ")));
}

// The environment of a program dot that does what `script` says.
std::vector<std::string> with_dot(const Scratch& scratch, const std::string& script) {
  const std::string dot = scratch.write("dot", "#!/bin/sh\n" + script + "\n");
  std::filesystem::permissions(dot, std::filesystem::perms::owner_all);
  return {"PATH=" + (scratch / ".") + ":/usr/bin:/bin"};
}

TEST(TopoShowLong, WithoutGraphvizItSaysSo) {
  const Scratch scratch;
  const auto show =
      expect_says(4, {"topo", "show", topology("torus-4x4"), "--png", scratch / "a.png"}, "[P01]",
                  {.environment = {"PATH=/nonexistent"}});
  EXPECT_THAT(show.err, HasSubstr("install Graphviz"));
  EXPECT_THAT(scratch.names(), IsEmpty());
}

TEST(TopoShowLong, AFailingGraphvizIsQuoted) {
  const Scratch scratch;
  const auto show = expect_says(
      4, {"topo", "show", topology("torus-4x4"), "--png", scratch / "a.png"}, "out of ink",
      {.environment = with_dot(scratch, "echo 'out of ink' >&2\nexit 3")});
  EXPECT_THAT(show.err, HasSubstr("[P02]"));
  EXPECT_THAT(scratch.names(), ElementsAre("dot"));
}

TEST(TopoShowLong, AGraphvizThatDoesNotEndIsEnded) {
  const Scratch scratch;
  const auto show = run(
      {"topo", "show", topology("torus-4x4"), "--png", scratch / "a.png", "--time-limit", "0.1"},
      {.environment = with_dot(scratch, "exec sleep 50")});
  EXPECT_EQ(show.code, 4);
  EXPECT_THAT(show.err, AllOf(HasSubstr("[P04]"), HasSubstr("after 0.1 s"), HasSubstr("--dot")));
  EXPECT_THAT(scratch.names(), ElementsAre("dot"));
  for (const std::string seconds : {"0", "-1", "nan", "1e9", "x", "1s"}) {
    EXPECT_EQ(run({"topo", "show", topology("torus-4x4"), "--time-limit", seconds}).code, 2)
        << seconds;
  }
}

// The largest bundled picture, within the standard limit.
TEST(TopoShowLong, ALargeTorusIsDrawnInTime) {
  const Scratch scratch;
  run_well({"topo", "show", topology("torus-8x8x8"), "--svg", scratch / "a.svg"});
  EXPECT_THAT(read_file(scratch / "a.svg"), HasSubstr("<title>n7x7x7</title>"));
}

TEST(TopoShowLong, APictureOfTooMuchIsRefused) {
  const Scratch scratch;
  const auto gen = run({"topo", "gen", "torus", "--dims", "40x40"});
  expect_says(2, {"topo", "show", "-", "--svg", scratch / "a.svg"}, "[P03]", {.input = gen.out});
  EXPECT_EQ(run({"topo", "show", "-", "--dot", "-"}, {.input = gen.out}).code, 0);
}

TEST(TopoShowLong, FailuresAreShown) {
  const auto show = run_well({"topo", "show", topology("dgx-a100-x2"), "--drop", "box0/nic[0-3]"});
  EXPECT_THAT(show.out, HasSubstr("100 GB/s from the first half"));
}

// Of the collectives that make forests.
nlohmann::json algbw_of(const std::string& file) {
  const auto bound = json_of({"bound", "--json", "-c", "allgather", file});
  return bound["algbw"];
}

TEST(TopoConvertLong, RoundTripsGiveTheSameBound) {
  const Scratch scratch;
  for (const std::string name :
       {"dgx-a100-x2-degraded", "mi250-x2", "dragonfly-72", "mixed-a100-h100"}) {
    const auto exact = algbw_of(topology(name));
    for (const std::string format :
         {"topology", "networkx", "json-graph", "graphml", "dot", "csv"}) {
      const std::string there = scratch / (name + "." + format);
      const std::string back = scratch / (name + "-" + format + ".json");
      EXPECT_EQ(run({"topo", "convert", topology(name), "--to", format, "-o", there}).code, 0);
      const auto convert = run({"topo", "convert", there, "-o", back});
      EXPECT_EQ(convert.code, 0) << format << convert.err;
      EXPECT_EQ(algbw_of(back), exact) << name << format;
    }
  }
}

TEST(TopoConvert, TheMetadataStaysOrIsNamed) {
  const Scratch scratch;
  const std::string file = scratch / "gen.json", graph = scratch / "gen.dot";
  EXPECT_EQ(run({"topo", "gen", "mi250", "-o", file}).code, 0);
  const auto metadata = [](const std::string& text) {
    return nlohmann::json::parse(text).value("metadata", nlohmann::json());
  };
  EXPECT_FALSE(metadata(read_file(file)).empty());
  EXPECT_EQ(metadata(run({"topo", "convert", file, "--to", "topology"}).out),
            metadata(read_file(file)));
  const auto dot = run({"topo", "convert", file, "-o", graph});
  EXPECT_THAT(dot.err, HasSubstr("no place for it: the metadata"));
  // What an import guessed stands in the file that it becomes.
  const std::string list = scratch.write("list.csv", "src,dst,bandwidth\na,b,1\n");
  EXPECT_THAT(run({"topo", "convert", list, "--to", "topology"}).out, HasSubstr("\"guess 1\""));
}

TEST(TopoConvert, NotesStayAtTheTopAndAreNamedElsewhere) {
  const Scratch scratch;
  const std::string file = scratch.write("t.json", R"({"format": "forestcoll-topology",
 "version": 1, "x-owner": {"who": "ops", "x-since": 2.50}, "x-rack": null,
 "nodes": [{"id": "gpu[0-1]", "type": "compute", "x-slot": 4}],
 "links": [{"src": "gpu0", "dst": "gpu1", "bandwidth": 25, "x-cable": "red"}]})");
  const auto ours = run_well({"topo", "convert", file, "--to", "topology"});
  EXPECT_THAT(ours.out, HasSubstr("\n  \"x-owner\": {\"who\": \"ops\", \"x-since\": 2.50},\n"
                                  "  \"x-rack\": null,\n"));
  EXPECT_THAT(ours.err, HasSubstr("no place for it: 2 notes, such as /nodes/0/x-slot\n"));
  const auto again = run({"topo", "convert", "-", "--to", "topology"}, {.input = ours.out});
  EXPECT_EQ(again.out, ours.out);
  EXPECT_THAT(again.err, Not(HasSubstr("no place")));
  const auto dot = run({"topo", "convert", file, "--to", "dot"});
  EXPECT_THAT(dot.err, HasSubstr("no place for it: 4 notes, such as /x-owner\n"));
}

TEST(TopoConvert, FormatByExtension) {
  const Scratch scratch;
  EXPECT_EQ(run({"topo", "convert", topology("torus-4x4"), "-o", scratch / "t.graphml"}).code, 0);
  EXPECT_THAT(read_file(scratch / "t.graphml"), HasSubstr("<graphml"));
  expect_says(2, {"topo", "convert", topology("torus-4x4"), "-o", scratch / "t.xyz"}, "[C01]");
  EXPECT_EQ(run({"topo", "convert", topology("torus-4x4")}).code, 2);
  EXPECT_EQ(run({"topo", "convert", topology("torus-4x4"), "--to", "yaml"}).code, 2);
}

TEST(TopoCheck, OfWhatFailuresLeave) {
  const std::string a100 = topology("dgx-a100-x2");
  const auto check =
      run_well({"topo", "check", a100, "--drop", "box1/nic[0-3]", "--derate", "kind=nvlink=1/2"});
  EXPECT_THAT(check.out, HasSubstr("ok: 16 GPUs, 16 switch nodes, "));
  EXPECT_THAT(check.err, HasSubstr("dropped box1/nic[0-3] (4 nodes)"));
  EXPECT_THAT(check.err, HasSubstr("derated kind=nvlink to 1/2"));
  const auto ranks = run({"topo", "check", a100, "--ranks", "box0"});
  EXPECT_THAT(ranks.out, HasSubstr("ok: 8 GPUs"));
  // An empty variable of a shell is not all GPUs.
  EXPECT_EQ(run({"topo", "check", a100, "--ranks", ""}).code, 2);
  const Scratch scratch;
  const std::string small = scratch.write("small.json", small_topology());
  const auto cut = run({"topo", "check", "--json", a100, small, "--drop", "kind=ib"});
  EXPECT_EQ(cut.code, 2);
  const auto report = nlohmann::json::parse(cut.out);
  expect_valid(report, "forestcoll-topo-check.schema.json");
  EXPECT_EQ(report["files"][0]["findings"][0]["code"], "E09");
  EXPECT_EQ(report["files"][0]["findings"][0]["file"], a100);
  EXPECT_EQ(report["files"][1]["findings"][0]["code"], "D01");
}

TEST(TopoConvert, SaysWhatIsLost) {
  const auto convert =
      run({"topo", "convert", topology("dgx-a100-x2"), "--drop", "box1/nic3", "--to", "csv"});
  EXPECT_THAT(convert.err, HasSubstr("left out"));
  EXPECT_THAT(convert.out, StartsWith("src,dst,bandwidth"));
}

TEST(BoundWhatIf, TextAndJson) {
  const auto text =
      run_well({"bound", topology("dgx-a100-x4"), "--whatif", "--top", "3", "-c", "allgather"});
  EXPECT_THAT(
      text.out,
      HasSubstr(
          "what if one link fails, with all of its cables (allgather at 266.667 (800/3) GB/s)"));
  EXPECT_THAT(text.out, HasSubstr("box0/gpu0~box0/nvsw (nvlink 300 GB/s = 12 x 25), or another"));
  EXPECT_THAT(text.out, HasSubstr("what if one cable fails, of a link that has several:\n"
                                  "  no cost:  32 links"));
  EXPECT_THAT(text.out, HasSubstr("or another of 32"));
  EXPECT_THAT(text.out, HasSubstr("what if one node fails (among the GPUs that are left)"));
  EXPECT_THAT(text.out, HasSubstr("box0/nvsw (switch), or another of 4"));
  EXPECT_THAT(text.out, HasSubstr("what if one box fails (among the GPUs that are left)"));
  EXPECT_THAT(text.out, HasSubstr("box0, or another of 4"));
  EXPECT_THAT(text.out, HasSubstr("what if links were 2 times as wide"));
  const auto json =
      run({"bound", "--json", topology("dgx-a100-x4"), "--whatif", "-c", "allgather"});
  const auto report = nlohmann::json::parse(json.out);
  expect_valid(report, "forestcoll-bound.schema.json");
  std::size_t links = 0;
  for (const auto& failure : report["what_if"]["failures"]) links += failure["links"].size();
  EXPECT_EQ(links, 96U);
  EXPECT_EQ(report["what_if"]["cable_failures"][0]["links"].size(), 32U);
  EXPECT_EQ(report["what_if"]["cable_failures"][0]["links"][0]["count"], 12);
  EXPECT_EQ(report["what_if"]["cable_failures"][0]["drop"], "box0/gpu0~box0/nvsw*1");
  EXPECT_EQ(report["what_if"]["box_failures"][0]["boxes"].size(), 4U);
  std::size_t nodes = 0;
  for (const auto& failure : report["what_if"]["node_failures"]) nodes += failure["nodes"].size();
  EXPECT_EQ(nodes, 32U + 4 * 9 + 2);
  // A GPU without NVLink has its NIC left; a box without a NIC seven of eight.
  EXPECT_EQ(report["what_if"]["failures"][0]["algbw"]["exact"], "800/31");
  EXPECT_EQ(report["what_if"]["failures"][1]["algbw"]["exact"], "700/3");
}

// One GPU of a box without NICs is as good as its cables.
TEST(BoundWhatIf, OneCableOfABundle) {
  const auto text = run({"bound", topology("dgx-a100-x1"), "--whatif", "-c", "allgather"});
  EXPECT_THAT(text.out,
              HasSubstr("gpu0~nvsw*1 (one of 12 cables, nvlink 25 GB/s), or another of 8"));
  const auto report = nlohmann::json::parse(
      run({"bound", "--json", topology("dgx-a100-x1"), "--whatif", "-c", "allgather"}).out);
  expect_valid(report, "forestcoll-bound.schema.json");
  const auto& cable = report["what_if"]["cable_failures"][0];
  const auto dropped = expect_says(
      0, {"bound", "--json", topology("dgx-a100-x1"), "--drop", cable["drop"].get<std::string>()},
      "dropped 1 cable of gpu0~nvsw (1 link)");
  EXPECT_EQ(nlohmann::json::parse(dropped.out)["algbw"]["allgather"], cable["algbw"]);
  EXPECT_EQ(cable["algbw"]["exact"], "2200/7");
}

TEST(BoundWhatIf, OfOneCollective) {
  const auto json = nlohmann::json::parse(run({"bound", "--json", topology("dgx-a100-x2"),
                                               "--whatif", "-c", "broadcast", "--root", "3"})
                                              .out);
  expect_valid(json, "forestcoll-bound.schema.json");
  EXPECT_EQ(json["what_if"]["collective"], "broadcast");
  EXPECT_EQ(json["what_if"]["algbw"]["exact"], "200");
}

}  // namespace
}  // namespace forestcoll::testing
