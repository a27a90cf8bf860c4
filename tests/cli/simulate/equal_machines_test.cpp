// The same machine is equally fast by whatever way it comes: a few lines of JSON, a name of
// `topo gen`, a dump.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {
namespace {

using Json = nlohmann::json;

// Two boxes of eight GPUs on one network switch, as the README writes such files.
std::string by_hand(const std::string& name, const std::string& nodes, const std::string& links,
                    const std::string& nic) {
  return R"({"format":"forestcoll-topology","version":1,"name":")" + name +
         R"(","templates":{"box":{"nodes":[{"id":"gpu[0-7]","type":"compute"})" + nodes +
         R"(],"links":[)" + links + R"(]}},"boxes":[{"id":"box[0-1]","template":"box"}],
           "nodes":[{"id":"ib","type":"switch"}],
           "links":[{"src":"box[0-1]/gpu[0-7]","dst":"ib","bandwidth":)" +
         nic + R"(,"kind":"ib"}]})";
}

std::string on_nvswitch(const std::string& name, const std::string& able, const std::string& nvlink,
                        const std::string& nic) {
  return by_hand(name, R"(,{"id":"nvsw","type":"switch")" + able + "}",
                 R"({"src":"gpu[0-7]","dst":"nvsw","bandwidth":)" + nvlink + R"(,"kind":"nvlink"})",
                 nic);
}

std::string full_mesh() {
  std::string links;
  for (int gpu = 0; gpu < 7; ++gpu) {
    links += (gpu == 0 ? "" : ",") + (R"({"src":"gpu)" + std::to_string(gpu)) + R"(","dst":"gpu[)" +
             std::to_string(gpu + 1) + R"(-7]","bandwidth":64,"kind":"xgmi"})";
  }
  return by_hand("2x MI300X", "", links, "50");
}

// `nvidia-smi topo -m` of eight GPUs on NVSwitches, each with a NIC beside it.
std::string nvidia_smi() {
  std::string text;
  for (const char* part : {"GPU", "NIC"}) {
    for (int i = 0; i < 8; ++i) text += " " + (part + std::to_string(i));
  }
  text += " CPU Affinity\n";
  for (const std::string part : {"GPU", "NIC"}) {
    for (int i = 0; i < 8; ++i) {
      text += part + std::to_string(i);
      for (const std::string other : {"GPU", "NIC"}) {
        for (int j = 0; j < 8; ++j) {
          const bool same_part = part == other;
          text += same_part && i == j          ? " X"
                  : same_part && part == "GPU" ? " NV18"
                  : !same_part && i == j       ? " PIX"
                                               : " SYS";
        }
      }
      text += part == "GPU" ? " 0-55\n" : "\n";
    }
  }
  return text;
}

// What RCCL dumps of eight MI300X, each with a NIC beside it.
std::string rccl_dump() {
  const auto bus = [](int gpu) { return "0000:" + std::to_string(gpu) + "3:00.0"; };
  std::string text = "<system version=\"2\">\n";
  for (int gpu = 0; gpu < 8; ++gpu) {
    const std::string number = std::to_string(gpu);
    text += "<cpu numaid=\"" + number +
            "\" arch=\"x86_64\" vendor=\"AuthenticAMD\" familyid=\"175\" modelid=\"1\">\n"
            "<pci busid=\"" +
            bus(gpu) +
            "\" class=\"0x038000\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\">\n<gpu dev=\"" +
            number + "\" gcn=\"gfx942\" rank=\"" + number + "\">\n";
    for (int other = 0; other < 8; ++other) {
      if (other == gpu) continue;
      text += "<xgmi target=\"" + bus(other) + "\" count=\"1\" tclass=\"0x038000\"/>\n";
    }
    text += "</gpu>\n</pci>\n<pci busid=\"0000:" + number +
            "4:00.0\" class=\"0x020700\" link_speed=\"32.0 GT/s PCIe\" link_width=\"16\"><nic>"
            "<net name=\"mlx5_" +
            number + "\" dev=\"" + number + "\" speed=\"400000\"/></nic></pci>\n</cpu>\n";
  }
  return text + "</system>\n";
}

class EqualMachinesLong : public ::testing::Test {
 protected:
  std::string made(const std::string& name, std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "topo");
    arguments.insert(arguments.end(), {"-o", scratch_ / name});
    const Result result = run(arguments);
    EXPECT_EQ(result.code, 0) << result.err;
    return scratch_ / name;
  }
  std::string generated(const std::string& model) {
    return made(model + ".json", {"gen", model, "--boxes", "2", "--fabric", "single"});
  }
  std::string imported(const std::string& dump, std::vector<std::string> more) {
    std::vector<std::string> arguments = {"import", "auto",     dump,    "--boxes",
                                          "2",      "--fabric", "single"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return made("imported.json", arguments);
  }

  static std::vector<double> times(const std::string& xml, const std::string& fabric,
                                   const std::string& sizes, const std::string& gpu) {
    const Result result =
        run({"simulate", "-", fabric, "--sizes", sizes, "--json"}, {.input = xml});
    EXPECT_EQ(result.code, 0) << result.err;
    const Json report = Json::parse(result.out);
    EXPECT_EQ(report["parameters"]["name"], gpu) << fabric;
    std::vector<double> all;
    for (const Json& time : report["times"]) all.push_back(time["simulated_seconds"]);
    return all;
  }

  // The same programs take the same time on each of them, up to this part.
  static void expect_equal(const std::vector<std::string>& fabrics, const std::string& gpu,
                           double part = 1e-6) {
    for (const std::vector<std::string>& how :
         {std::vector<std::string>{"-c", "allreduce", "--algorithm", "nccl-ring"},
          std::vector<std::string>{"-c", "allgather", "-k", "1", "--proto", "LL"},
          std::vector<std::string>{"-c", "alltoall", "-k", "1"}}) {
      const Result synth = run(joined({"synth", fabrics.front()}, how));
      ASSERT_EQ(synth.code, 0) << synth.err;
      const auto first = times(synth.out, fabrics.front(), "1K,1M,256M", gpu);
      for (const std::string& fabric : fabrics) {
        const auto others = times(synth.out, fabric, "1K,1M,256M", gpu);
        for (std::size_t i = 0; i < first.size(); ++i) {
          EXPECT_NEAR(others.at(i), first[i], (i == 0 ? 1e-4 : part) * first[i])
              << fabric << " " << how[1] << " size " << i;
        }
      }
    }
  }

  Scratch scratch_;
};

TEST_F(EqualMachinesLong, DgxA100) {
  const std::string json = scratch_.write("a100.json", on_nvswitch("2x DGX A100", "", "300", "25"));
  const std::string dump = source_path("topologies/dumps/dgx-a100.xml");
  expect_equal({json, generated("dgx-a100")}, "a100");
  // The dump knows that two GPUs reach two NICs through one PCIe switch: a message takes both, so
  // that large ones meet others' on the way.
  expect_equal({json, imported(dump, {"--bandwidths", "nominal"})}, "a100", 0.03);
}

// Dumps have NCCL's bandwidths where nothing else is asked for; latencies are the same.
TEST_F(EqualMachinesLong, SmallMessagesOnNcclsBandwidths) {
  const std::string json = scratch_.write("a100.json", on_nvswitch("2x DGX A100", "", "300", "25"));
  const std::string dump = source_path("topologies/dumps/dgx-a100.xml");
  const Result synth = run({"synth", json, "-c", "allgather", "-k", "1", "--proto", "LL"});
  ASSERT_EQ(synth.code, 0) << synth.err;
  const double here = times(synth.out, json, "1K", "a100").at(0),
               there = times(synth.out, imported(dump, {}), "1K", "a100").at(0);
  EXPECT_NEAR(here, there, 0.005 * here);
}

TEST_F(EqualMachinesLong, DgxH100) {
  const std::string json = scratch_.write(
      "h100.json", on_nvswitch("2x DGX H100", R"(,"multicast":true,"reduce":true)", "450", "50"));
  const std::string widths = scratch_.write("widths.csv", "pcie,64\n");
  const std::string dump = scratch_.write("smi.txt", nvidia_smi());
  expect_equal({json, generated("dgx-h100"),
                imported(dump, {"--gpu", "h100", "--nic-bandwidth", "50", "--bandwidths", widths})},
               "h100");
}

TEST_F(EqualMachinesLong, Mi300x) {
  const std::string json = scratch_.write("mi300x.json", full_mesh());
  const std::string widths = scratch_.write("widths.csv", "pcie,64\nxgmi,64\n");
  const std::string dump = scratch_.write("rccl.xml", rccl_dump());
  expect_equal({json, generated("mi300x"), imported(dump, {"--bandwidths", widths})}, "mi300x");
}

TEST_F(EqualMachinesLong, Mi250) {
  expect_equal({topology("mi250-x2"), generated("mi250")}, "mi250");
}

TEST_F(EqualMachinesLong, TorusAndFatTree) {
  expect_equal({topology("torus-4x4"), made("torus.json", {"gen", "torus"})}, "a100");
  expect_equal({topology("fat-tree-4"), made("tree.json", {"gen", "fat-tree"})}, "a100");
}

// Which latencies are not the file's own is said once, and --latency sets them.
TEST(LatenciesLong, AreSaidWhereTimesAreGiven) {
  const Scratch scratch;
  const std::string file = scratch.write("a100.json", on_nvswitch("2x DGX A100", "", "300", "25"));
  const std::string said =
      "32 of 32 links have no latency: typical ones are used (ib 2 us, nvlink 0.7 us)";
  const Result synth = run({"synth", file, "--size", "64K", "--json", "-o", scratch / "x.xml"});
  ASSERT_EQ(synth.code, 0) << synth.err;
  EXPECT_THAT(synth.err, HasSubstr(said));
  EXPECT_EQ(synth.err.find("no latency"), synth.err.rfind("no latency"));
  const Json summary = Json::parse(synth.out);
  expect_valid(summary, "forestcoll-synth.schema.json");
  const Json latencies = Json::parse(R"({"link_count": 32, "typical": [
      {"kind": "ib", "us": 2.0, "link_count": 16},
      {"kind": "nvlink", "us": 0.7, "link_count": 16}]})");
  EXPECT_EQ(summary["latencies"], latencies);

  const std::vector<std::string> simulate = {"simulate", scratch / "x.xml", file, "--sizes",
                                             "1K",       "--json"};
  const Result plain = run(simulate);
  EXPECT_THAT(plain.err, HasSubstr(said));
  const Json report = Json::parse(plain.out);
  expect_valid(report, "forestcoll-simulation.schema.json");
  EXPECT_EQ(report["latencies"], latencies);

  auto set = simulate;
  set.insert(set.end(), {"--latency", "ib=20", "--latency", "nvlink=700ns"});
  const Result slower = run(set);
  ASSERT_EQ(slower.code, 0) << slower.err;
  EXPECT_THAT(slower.err, HasSubstr("links of kind ib take 20 us (16 links)"));
  EXPECT_THAT(slower.err, Not(HasSubstr("no latency")));
  EXPECT_GT(Json::parse(slower.out)["times"][0]["simulated_seconds"].get<double>(),
            report["times"][0]["simulated_seconds"].get<double>() + 30e-6);

  const Result compare = run({"compare", file, "--sizes", "1K", "--trees", "--json"});
  ASSERT_EQ(compare.code, 0) << compare.err;
  EXPECT_THAT(compare.err, HasSubstr(said));
  expect_valid(Json::parse(compare.out), "forestcoll-compare.schema.json");
  EXPECT_EQ(Json::parse(compare.out)["latencies"], latencies);
}

TEST(Latencies, AreNotSaidWhereNoTimesAreGivenOrAllAreWritten) {
  const Scratch scratch;
  const std::string file = scratch.write("a100.json", on_nvswitch("2x DGX A100", "", "300", "25"));
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"bound", file},
        {"topo", "convert", file, "--to", "csv"},
        {"synth", file, "--format", "forest"},
        {"compare", topology("dgx-a100-x1"), "--trees", "--sizes", "1M"}}) {
    const Result result = run(words);
    EXPECT_EQ(result.code, 0) << result.err;
    EXPECT_THAT(result.err, Not(HasSubstr("no latency"))) << words.front();
  }
  const Result platform = run({"topo", "convert", file, "--to", "simgrid"});
  EXPECT_THAT(platform.err, HasSubstr("32 of 32 links have no latency"));
}

TEST(Latencies, ThatAreNoneAreRefused) {
  for (const std::string wrong : {"ib", "nvlink=-1", "nvlonk=1"}) {
    const Result result =
        run({"synth", topology("dgx-a100-x1"), "--size", "1M", "--latency", wrong});
    EXPECT_EQ(result.code, 2) << wrong;
    EXPECT_THAT(result.err, HasSubstr("--latency: ")) << wrong;
  }
}

}  // namespace
}  // namespace forestcoll::testing
