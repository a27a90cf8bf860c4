// What people read: the whole text of one run of each command, in tests/golden/cli. Other tests
// look at exit codes, JSON and files. FORESTCOLL_GOLDEN=write writes the files anew, to be read
// before they are committed.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

struct Golden {
  std::string name;
  std::vector<std::string> arguments;
  std::string input = {};
};

// A topology file of four GPUs and a switch.
std::string four_gpus(const std::string& links, const std::string& gpus = "gpu[0-3]",
                      const std::string& type = "compute") {
  return R"({"format": "forestcoll-topology", "version": 1, "name": "four",)"
         R"( "nodes": [{"id": ")" +
         gpus + R"(", "type": ")" + type + R"("}, {"id": "sw", "type": "switch"}], "links": [)" +
         links + "]}";
}

// What people write in their first topology file; the other mistakes are of the command line.
std::vector<Golden> mistakes_of_files() {
  const std::vector<std::string> check = {"topo", "check", "-"};
  const std::string star = R"({"src": "gpu[0-3]", "dst": "sw", "bandwidth": 25})";
  return {
      {"mistake-both-directions", check,
       four_gpus(star + R"(, {"src": "sw", "dst": "gpu[0-3]", "bandwidth": 25})")},
      {"mistake-keys", check,
       four_gpus(R"({"source": "gpu[0-1]", "target": "sw", "bw": 25}, )"
                 R"({"source": "gpu[2-3]", "target": "sw", "bw": 25})")},
      {"mistake-mesh", check,
       four_gpus(star + R"(, {"src": "gpu[0-2]", "dst": "gpu[1-3]", "bandwidth": 50})")},
      {"mistake-order", {"topo", "show", "-"}, four_gpus(star, "gpu[2-3,0-1]")},
      {"mistake-type", check, four_gpus(star, "gpu[0-3]", "host")},
      {"mistake-unit-of-key", check,
       four_gpus(R"({"src": "gpu[0-3]", "dst": "sw", "bandwidth_gbps": 200})")},
      {"mistake-number", check, four_gpus(R"({"src": "gpu[0-4]", "dst": "sw", "bandwidth": 25})")},
      {"mistake-range", check, four_gpus(R"({"src": "gpu0-3", "dst": "sw", "bandwidth": 25})")},
      {"mistake-unit", check,
       four_gpus(R"({"src": "gpu[0-3]", "dst": "sw", "bandwidth": "200 gb"})")}};
}

std::vector<Golden> goldens_of_commands() {
  return {{"bound", {"bound", topology("mi250-x2"), "--root", "0", "--top", "2"}},
          {"bound-error", {"bound", topology("dgx-a100-x2"), "--drop", "kind=ib*1"}},
          {"bound-failure", {"bound", topology("dgx-a100-x2"), "--drop", "box0/nic3~ib1"}},
          {"compare",
           {"compare", topology("dgx-1-v100"), "-c", "allgather", "--sizes", "1M", "--markdown"}},
          {"design-direct", {"design", "direct", "--nodes", "8", "--ports", "2"}},
          {"explain", {"explain", "E14"}},
          {"synth", {"synth", topology("dgx-a100-x2"), "-c", "allgather", "--format", "none"}},
          {"topo-check", {"topo", "check", topology("dgx-a100-x2-degraded")}},
          {"topo-gen", {"topo", "gen", "--list"}},
          {"topo-show", {"topo", "show", topology("dgx-h100-x4-rail-2to1")}},
          {"mistake-command", {"syth", topology("dgx-a100-x1")}},
          {"mistake-option", {"synth", topology("dgx-a100-x1"), "--colective", "allgather"}},
          {"mistake-beginning", {"synth", topology("dgx-a100-x1"), "--out", "a.xml"}},
          {"mistake-synonym", {"topo", "validate", topology("dgx-a100-x1")}},
          {"mistake-nccl", {"synth", topology("dgx-a100-x1"), "--target", "nccl"}},
          {"mistake-required", {"design", "direct", "--node", "8", "--ports", "2"}},
          {"mistake-parameter", {"topo", "gen", "dgx-h100", "--box", "2"}},
          {"mistake-simulate", {"simulate", topology("dgx-a100-x1"), "schedule.xml"}},
          {"mistake-verify", {"verify", topology("dgx-a100-x1")}},
          {"mistake-second-file", {"verify", "schedule.xml", "topology.json"}},
          {"verify-targets",
           {"verify", "-", "--target", "any"},
           read_file(source_path("tests/golden/allreduce-3.xml"))},
          {"verify", {"verify", "-"}, read_file(source_path("tests/golden/allreduce-3.xml"))}};
}

std::vector<Golden> goldens() {
  std::vector<Golden> all = goldens_of_commands();
  for (Golden& golden : mistakes_of_files()) all.push_back(std::move(golden));
  return all;
}

// Without what differs from run to run, and from machine to machine.
std::string told(const Result& result) {
  std::string text = "exit code " + std::to_string(result.code) + "\n\n" + result.out +
                     (result.err.empty() ? "" : "\nstandard error:\n") + result.err;
  const std::string root = source_path("");
  for (std::size_t at = 0; (at = text.find(root, at)) != std::string::npos;) {
    text.erase(at, root.size());
  }
  return std::regex_replace(text, std::regex("  seconds: .*"), "  seconds: …");
}

class Prose : public ::testing::TestWithParam<Golden> {};

TEST_P(Prose, IsAsItWas) {
  const std::string path = source_path("tests/golden/cli/" + GetParam().name + ".txt");
  const std::string text = told(run(GetParam().arguments, {.input = GetParam().input}));
  const char* wanted = std::getenv("FORESTCOLL_GOLDEN");  // NOLINT(concurrency-mt-unsafe)
  if (wanted != nullptr && std::string(wanted) == "write") std::ofstream(path) << text;
  EXPECT_EQ(text, read_file(path));
}

INSTANTIATE_TEST_SUITE_P(Commands, Prose, ::testing::ValuesIn(goldens()), [](const auto& golden) {
  std::string name = golden.param.name;
  std::erase(name, '-');
  return name;
});

}  // namespace
}  // namespace forestcoll::testing
