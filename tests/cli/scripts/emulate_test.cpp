// tools/scripts/emulate: what it would set up, and, with stand-ins for iproute2, that it says what
// is missing and takes everything down however it ends.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "cli/program.hpp"
#include "cli/stub_path.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::testing {
namespace {

// What the plan of a fabric says, read from its text.
struct EmulatedFabric {
  std::map<std::pair<std::string, std::string>, std::string> other_end;  // by namespace, device
  std::map<std::pair<std::string, std::string>, double> rate;            // bit/s, likewise
  std::map<std::string, std::string> node_of;                            // by the fabric's address
  std::map<std::string, std::map<std::string, std::string>> routes;  // namespace, target: device
};

EmulatedFabric read_plan(const std::string& text) {
  EmulatedFabric fabric;
  std::istringstream lines(text);
  std::string line, where;
  while (std::getline(lines, line)) {
    std::vector<std::string> words;
    std::istringstream stream(line);
    for (std::string word; stream >> word;) words.push_back(word);
    if (words.size() > 2 && words[1] == "-n") where = words[2];
    const auto after = [&](const std::string& key, std::size_t skip = 1) {
      for (std::size_t i = 0; i + skip < words.size(); ++i) {
        if (words[i] == key) return words[i + skip];
      }
      return std::string();
    };
    if (line.starts_with("link add netns") && !after("address").empty()) {
      const std::string near = words[3], near_device = after("name");
      const std::string far = words.back(), far_device = after("peer", 2);
      fabric.other_end[{near, near_device}] = far;
      fabric.other_end[{far, far_device}] = near;
    }
    if (line.starts_with("qdisc")) fabric.rate[{where, after("dev")}] = std::stod(after("rate"));
    if (line.starts_with("address add 10.78.")) fabric.node_of[after("add")] = where;
    if (line.starts_with("route add")) fabric.routes[where][after("add")] = after("dev");
  }
  return fabric;
}

EmulatedFabric planned(const std::string& name, const std::string& scale) {
  const auto result = run_well(
      {tool("scripts/emulate"), topology(name), "-p", program_path(), "--scale", scale, "--plan"},
      {.program = "/usr/bin/python3"});
  return read_plan(result.out);
}

TEST(EmulateLong, ShapesEveryLinkAndLeadsEveryPairThroughTheFabric) {
  for (const std::string name : {"dgx-a100-x2", "mi250-x1", "torus-4x4", "fat-tree-4"}) {
    const auto parsed = parse_topology(test::bundled_text(name), name);
    const std::size_t gpus = parsed->topology.ranks.size();
    double expected = 0, shaped = 0;
    for (const TopologyLink& link : parsed->topology.links) {
      expected += link.bandwidth.to_double() * (link.full_duplex ? 2 : 1);
    }
    const EmulatedFabric fabric = planned(name, "0.05");
    for (const auto& [device, rate] : fabric.rate) shaped += rate;
    EXPECT_NEAR(shaped, expected * 0.05e6, 1e-6 * shaped) << name;
    const bool needs_relays = name != "fat-tree-4";  // rails are joined by GPUs alone
    for (const auto& [address, target] : fabric.node_of) {
      for (std::size_t from = 0; from < gpus; ++from) {
        std::string at = fmt::format("fcPID-{}", from);
        if (std::stoul(target.substr(6)) >= gpus || target == at) continue;
        for (int hops = 0; at != target; ++hops) {
          ASSERT_LT(hops, 16) << name << ": " << address << " from " << from;
          at = fabric.other_end.at({at, fabric.routes.at(at).at(address)});
          const bool is_gpu = std::stoul(at.substr(6)) < gpus;
          EXPECT_TRUE(needs_relays || !is_gpu || at == target) << "a GPU in between relays";
        }
      }
    }
  }
}

TEST(EmulateLong, TheScaleIsMbitForAGigabyteASecond) {
  const auto slow = planned("dgx-1-v100", "0.01"), fast = planned("dgx-1-v100", "0.4");
  ASSERT_FALSE(slow.rate.empty());
  for (const auto& [device, rate] : slow.rate) EXPECT_NEAR(fast.rate.at(device), 40 * rate, 1);
}

// iproute2 in a directory: a namespace is a file.
class StubbedMachine {
 public:
  StubbedMachine()
      : path_({"env", "python3", "bash", "sh", "sed", "basename", "rm", "touch", "ls", "sleep"}) {
    std::filesystem::create_directory(namespaces());
    path_.add_program();
    path_.add_script("tc", "while read -r line; do :; done\n");
    // The host's name is not a stand-in's to change: the last words are the command.
    path_.add_script("unshare", "[[ $2 == sh ]] || exit 0\nshift 5\nexec \"$@\"\n");
    set_ip("");
  }
  // `first`: what it does before anything else.
  void set_ip(const std::string& first) const {
    path_.add_script("ip", first + "cd " + namespaces() + R"(
[[ "$*" == "netns list" ]] && exec ls
[[ "$1 $2" == "netns add" ]] && exec touch "$3"
[[ "$1 $2" == "netns del" ]] && exec rm "$3"
[[ "$1 $2" == "netns pids" ]] && exit 0
if [[ "$1 $2" == "netns exec" ]]; then
  [[ $4 == sh ]] && exit 0
  shift 3
  exec "$@"
fi
while read -r line; do [[ $line == "netns add "* ]] && touch "${line##* }"; done
exit 0
)");
  }
  void drop_tc() const { path_.add_script("tc", "exit 127\n"); }
  [[nodiscard]] Result emulate(const std::vector<std::string>& command) const {
    return run(joined({tool("scripts/emulate"), topology("dgx-1-v100"), "-p", program_path(), "--"},
                      command),
               {.environment = {path_.setting(), "TMPDIR=" + (scratch_ / "")},
                .program = "/usr/bin/python3"});
  }
  // The guard may still be at work.
  [[nodiscard]] bool is_clean_soon() const {
    for (int tries = 0; tries < 200; ++tries) {
      if (std::filesystem::is_empty(namespaces()) && scratch_.names().size() == 1) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(25));
    }
    return false;
  }
  [[nodiscard]] std::string namespaces() const { return scratch_ / "namespaces"; }

 private:
  Scratch scratch_;
  Path path_;
};

TEST(EmulateLong, RunsTheCommandWithItsExitCodeAndTakesAllDown) {
  const StubbedMachine machine;
  const auto result = machine.emulate(
      {"bash", "-c",
       "ls " + machine.namespaces() + "; echo $OMPI_MCA_btl; echo $FORESTCOLL_ORIGIN; exit 7"});
  EXPECT_EQ(result.code, 7) << result.err;
  EXPECT_THAT(result.out, HasSubstr("-7\n"));  // the last GPU's namespace
  EXPECT_THAT(result.out, HasSubstr("tcp,self\nan emulated fabric, 160000 times slower\n"));
  EXPECT_THAT(result.err, HasSubstr("processors idle"));
  EXPECT_TRUE(machine.is_clean_soon());
}

TEST(EmulateLong, IsTakenDownWhenItIsKilled) {
  const std::string pid = "$(basename $TMPDIR | sed 's/fc\\([0-9]*\\)-.*/\\1/')";
  for (const auto& [signal, code] : {std::pair("KILL", 137), {"TERM", 143}, {"INT", 130}}) {
    const StubbedMachine machine;
    const auto result = machine.emulate(
        {"bash", "-c", fmt::format("trap '' INT; kill -{} {}; exit 0", signal, pid)});
    EXPECT_EQ(result.code, code) << signal << result.err;
    EXPECT_TRUE(machine.is_clean_soon()) << signal;
  }
}

// A command of its own outlives it by a moment, and makes a namespace after its end.
TEST(EmulateLong, IsTakenDownWhenItIsKilledWhileItSetsUp) {
  for (const std::string what : {"netns add", "-batch -"}) {
    const StubbedMachine machine;
    machine.set_ip(
        fmt::format("[[ \"$1 $2\" == \"{}\" ]] && {{ kill -KILL $PPID; sleep 0.3; }}\n", what));
    EXPECT_EQ(machine.emulate({"true"}).code, 137) << what;
    EXPECT_TRUE(machine.is_clean_soon()) << what;
  }
}

TEST(EmulateLong, SaysWhatTheMachineLacks) {
  const StubbedMachine machine;
  const auto refused = [&](const std::string& words) {
    const auto result = machine.emulate({"true"});
    EXPECT_EQ(result.code, 4);
    EXPECT_THAT(result.err, HasSubstr(words));
    EXPECT_THAT(result.err, ::testing::Not(HasSubstr("Traceback")));
    EXPECT_TRUE(machine.is_clean_soon());
  };
  const auto failing = [&](const std::string& word, const std::string& message) {
    machine.set_ip(
        fmt::format("[[ \"$*\" == *\"{}\"* ]] && {{ echo '{}' >&2; exit 2; }}\n", word, message));
  };
  failing("netns add", "mkdir /run/netns failed: Operation not permitted");
  refused("need root");
  failing("type veth", "Error: Unknown device type.");
  refused("veth pairs: Error: Unknown device type.: this kernel or iproute2 lacks it");
  failing("type bridge", "Error: Unknown device type.");
  refused("bridges: ");
  machine.set_ip("");
  machine.drop_tc();
  refused("the token bucket filter (tc tbf): ");
}

}  // namespace
}  // namespace forestcoll::testing
