// Capacities that links share: what they hold collectives to, in all reports.
#include "cli/common/shared_limits.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/stub_path.hpp"

namespace forestcoll::testing {
namespace {

// One box of docs/shared-limits.md: two ports behind one host bridge, or each behind its own.
std::string two_ports(bool one_bridge) {
  const std::string limits = one_bridge ? R"("links": ["gpu->port[0-1]"], "bandwidth": "234 Gb/s"},
               {"name": "in", "links": ["port[0-1]->gpu"], "bandwidth": "234 Gb/s"})"
                                        : R"("links": ["gpu->port0"], "bandwidth": "234 Gb/s"})";
  return R"({"format": "forestcoll-topology", "version": 1, "name": "ports",
    "templates": {"box": {"nodes": [{"id": "gpu", "type": "compute"},
                                    {"id": "port[0-1]", "type": "switch"}],
      "links": [{"src": "gpu", "dst": "port[0-1]", "bandwidth": "234 Gb/s", "kind": "pcie"}],
      "limits": [{"name": "out", )" +
         limits + R"(]}},
    "boxes": [{"id": "box[0-1]", "template": "box"}],
    "nodes": [{"id": "rail[0-1]", "type": "switch"}],
    "links": [{"src": "box[0-1]/port0", "dst": "rail0", "bandwidth": 50, "kind": "ib"},
              {"src": "box[0-1]/port1", "dst": "rail1", "bandwidth": 50, "kind": "ib"}]})";
}

class SharedLimitsLong : public SharedLimits {};

// The same form of report as without limits.
TEST_F(SharedLimitsLong, AreBoundExactly) {
  const auto report = json_of({"bound", file("t.json"), "--check", "--json"});
  expect_valid(report, "forestcoll-bound.schema.json");
  EXPECT_EQ(report["checked"], true);
  const auto rate_of = [&](const char* name) { return report["optimum"][name]["exact"]; };
  EXPECT_EQ(rate_of("allgather"), "8");
  EXPECT_EQ(rate_of("reduce_scatter"), "56/9");
  EXPECT_EQ(rate_of("allreduce"), "7/2");
  EXPECT_EQ(rate_of("alltoall"), "16/3");
  EXPECT_EQ(report["two_phases"]["exact"], "7/2");
  EXPECT_EQ(report["rate_per_root"]["exact"], "2");
  EXPECT_EQ(report["algbw"]["allgather"]["exact"], "8");
  EXPECT_EQ(report["busbw"]["allgather"]["exact"], "6");
  const auto& proof = report["bottleneck"];
  EXPECT_EQ(proof, report["bottlenecks"]["allgather"]);
  EXPECT_EQ(proof["shared_limits"][0]["name"], "bus");
  EXPECT_TRUE(proof["lengths"].empty()) << "no link binds by itself";
  const auto former =
      json_of({"bound", file("t.json"), "--check", "--json", "--json-version", "1"});
  expect_valid(former, "forestcoll-bound.v2.schema.json");
  const auto rooted = try_run("bound", {"-c", "broadcast", "--root", "g2"});
  EXPECT_EQ(rooted.code, 0) << rooted.err;
  EXPECT_THAT(rooted.out, HasSubstr("broadcast                          6"));
}

// Another program, which knows no more than the files, finds that the lengths prove the rates.
TEST_F(SharedLimitsLong, AreProvedByLengths) {
  scratch_.write("ports.json", two_ports(true));
  for (const std::string& fabric :
       {file("t.json"), file("ports.json"), topology("dgx-a100-pcie-x1")}) {
    run_well({"topo", "convert", fabric, "--to", "topology", "-o", file("flat.json")});
    scratch_.write("report.json", run_well({"bound", fabric, "--root", "1", "--json"}).out);
    const auto checked =
        run({tool("scripts/check-lengths"), file("flat.json"), file("report.json")},
            {.program = "/usr/bin/python3"});
    EXPECT_EQ(checked.code, 0) << checked.out << checked.err;
    EXPECT_THAT(checked.out, HasSubstr("allreduce: "));
    EXPECT_THAT(checked.out, HasSubstr("broadcast: "));
    EXPECT_THAT(checked.out, HasSubstr("reduce: "));
  }
}

// Of collectives along paths, too: each GPU of the bridge receives half of what enters through it.
TEST_F(SharedLimitsLong, HoldUpPaths) {
  const auto report = json_of({"bound", file("t.json"), "-c", "alltoall", "--check", "--json"});
  expect_valid(report, "forestcoll-bound.schema.json");
  EXPECT_EQ(report["alltoall"]["pair"]["exact"], "4/3");
  EXPECT_EQ(report["alltoall"]["shared_limits"][0]["name"], "bus");
  scratch_.write("d.csv", "0,0,0,0\n0,0,0,0\n6,6,0,0\n0,0,0,0\n");
  const auto demand = json_of(
      {"bound", file("t.json"), "-c", "alltoall", "--demand", file("d.csv"), "--check", "--json"});
  expect_valid(demand, "forestcoll-bound.schema.json");
  // 12 bytes through the link of g2, of 10 GB/s; the bridge would take 12.
  EXPECT_NEAR(demand["alltoall"]["least_seconds"].get<double>(), 1.2e-9, 1e-15);
  const auto scatter =
      json_of({"bound", file("t.json"), "-c", "scatter", "--root", "g2", "--check", "--json"});
  expect_valid(scatter, "forestcoll-bound.schema.json");
  EXPECT_EQ(scatter["algbw"]["scatter"]["exact"], "40/3") << "3/4 leave g2 by 10 GB/s";
}

// NCCL issue 2310: 234 Gb/s by one port, and by both. Two GPUs each send half of the buffer.
TEST_F(SharedLimitsLong, OfAHostBridgeHoldTwoPortsToTheRateOfOne) {
  scratch_.write("one.json", two_ports(true));
  scratch_.write("two.json", two_ports(false));
  const auto bound = [&](const std::string& name, std::vector<std::string> more) {
    more.insert(more.begin(), {"bound", file(name), "-c", "allgather", "--json", "--check"});
    const auto report = json_of(more);
    expect_valid(report, "forestcoll-bound.schema.json");
    return report;
  };
  const auto price = [&](const std::string& name) {
    return bound(name, {"--drop", "box[0-1]/port1~rail1"})["failure"]["allgather"]["optimum"];
  };
  EXPECT_EQ(bound("one.json", {})["optimum"]["allgather"]["value"], 58.5);
  EXPECT_EQ(bound("two.json", {})["optimum"]["allgather"]["value"], 117);
  EXPECT_EQ(price("one.json")["after"]["value"], 58.5);
  EXPECT_EQ(price("one.json")["change"], 0);
  EXPECT_EQ(price("two.json")["before"]["value"], 117);
  EXPECT_EQ(price("two.json")["change"], -0.5);
}

// Of a bus of one link the two halves of an allgather share 16 GB/s.
TEST_F(SharedLimitsLong, OfABusHoldBothDirections) {
  scratch_.write("bus.json", R"({"format": "forestcoll-topology", "version": 1, "name": "bus",
    "nodes": [{"id": "g[0-1]", "type": "compute"}],
    "links": [{"src": "g0", "dst": "g1", "bandwidth": 16}],
    "limits": [{"links": ["g0~g1"], "bandwidth": 16}]})");
  const auto ran = run({"bound", file("bus.json"), "-c", "allgather"});
  EXPECT_THAT(ran.out, HasSubstr("allgather                         16"));
  EXPECT_THAT(ran.out, HasSubstr("limit on g0 -> g1, … of 16 GB/s, shared by 2 directions"));
}

// All that is below has the names and the bandwidths of the file.
TEST_F(SharedLimitsLong, AreNamedWhereTheyBind) {
  const auto bound = try_run("bound", {"-c", "allgather"});
  EXPECT_THAT(bound.out,
              HasSubstr("bottleneck of allgather: limit bus of 16 GB/s, shared by 4 directions\n"));
  const auto words = try_run("compare", {"-c", "allgather", "--sizes", "1M", "--algorithms",
                                         "forestcoll", "--gpu", "ideal"});
  EXPECT_THAT(words.out, HasSubstr("bottleneck: limit bus of 16 GB/s, shared by 4 directions\n"));
  const auto report = json_of({"compare", file("t.json"), "-c", "allgather", "--sizes", "1M",
                               "--algorithms", "forestcoll", "--gpu", "ideal", "--json"});
  expect_valid(report, "forestcoll-compare.schema.json");
  EXPECT_EQ(report["bottleneck"]["shared_limits"][0]["name"], "bus");
  EXPECT_EQ(report["bottleneck"]["shared_limits"][0]["bandwidth"]["exact"], "16");
}

// With a GPU less, of all that are left; with half of the bus, of its links.
TEST_F(SharedLimitsLong, ArePricedWhereLinksFail) {
  const auto report =
      json_of({"bound", file("t.json"), "-c", "allgather", "--drop", "g3", "--json", "--check"});
  expect_valid(report, "forestcoll-bound.schema.json");
  EXPECT_EQ(report["failure"]["allgather"]["optimum"]["before"]["exact"], "8");
  EXPECT_EQ(report["failure"]["allgather"]["optimum"]["after"]["exact"], "9")
      << "2 · 2/3 · x through the bridge";
  const auto derated =
      json_of({"bound", file("t.json"), "-c", "allgather", "--derate", "g2~sw1=1/4", "--json"});
  EXPECT_EQ(derated["failure"]["allgather"]["optimum"]["after"]["exact"], "10/3")
      << "g2 receives 3/4 · x by a link of 2.5";
}

// Whatever is divided for schedules, of the whole fabric all commands say the same.
TEST_F(SharedLimitsLong, HaveOneOptimum) {
  scratch_.write("weighed.json", kWeighed);
  scratch_.write("able.json", kAble);
  for (const std::string fabric : {"weighed.json", "able.json"}) {
    for (const std::string collective : {"allgather", "allreduce", "alltoall"}) {
      SCOPED_TRACE(fabric + " " + collective);
      const auto bound = json_of({"bound", file(fabric), "-c", collective, "--json"});
      expect_valid(bound, "forestcoll-bound.schema.json");
      const auto compared = json_of({"compare", file(fabric), "-c", collective, "--sizes", "1M",
                                     "--algorithms", "forestcoll", "--gpu", "ideal", "--json"});
      expect_valid(compared, "forestcoll-compare.schema.json");
      const auto made =
          json_of({"synth", file(fabric), "-c", collective, "-o", file("s.xml"), "--json"});
      expect_valid(made, "forestcoll-synth.schema.json");
      for (const auto* report : {&compared, &made}) {
        EXPECT_EQ((*report)["optimum"], bound["optimum"][collective]);
        EXPECT_EQ((*report)["optimum_by_trees"], bound["optimum_by_trees"][collective]);
        if (report->contains("two_phases")) {
          EXPECT_EQ((*report)["two_phases"], bound["two_phases"]);
        }
      }
      if (collective == "alltoall") continue;
      const auto changed = json_of({"bound", file(fabric), "-c", collective, "--whatif", "--json"});
      EXPECT_EQ(changed["what_if"]["algbw"], bound["algbw"][collective]);
    }
  }
  const auto weighed = json_of({"bound", file("weighed.json"), "-c", "allreduce", "--json"});
  EXPECT_EQ(weighed["two_phases"]["exact"], "28/9");
  // Four GPUs that send and receive 10 together: each 1/4 to be copied, and all of it back.
  const auto able = json_of({"bound", file("able.json"), "-c", "allreduce", "--json"});
  EXPECT_EQ(able["optimum"]["allreduce"]["exact"], "4");
  EXPECT_EQ(able["optimum_by_trees"]["allreduce"]["exact"], "10/3");
}

// Two pairs of GPUs, each behind a capacity up to the CPU: a GPU's slot of 12 GB/s has all that it
// exchanges with its pair and with the CPU.
std::string pairs_with_limits(const std::string& bridge) {
  std::string limits;
  for (const char* ends : {"gpu0 local0", "gpu1 local0", "gpu2 local1", "gpu3 local1"}) {
    const std::string gpu(ends, 4), local(ends + 5);
    limits += R"({"links": [")" + gpu + "->" + local + R"(", ")" + gpu +
              R"(->cpu"], "bandwidth": 12},)" + R"({"links": [")" + local + "->" + gpu +
              R"(", "cpu->)" + gpu + R"("], "bandwidth": 12},)";
  }
  for (const char* way : {"gpu[0-1]->cpu", "cpu->gpu[0-1]", "gpu[2-3]->cpu", "cpu->gpu[2-3]"}) {
    limits += std::string(R"({"links": [")") + way + R"("], "bandwidth": )" + bridge + "},";
  }
  limits.pop_back();
  return R"({"format": "forestcoll-topology", "version": 1,
    "nodes": [{"id": "gpu[0-3]", "type": "compute"}, {"id": "local[0-1]", "type": "switch"},
              {"id": "cpu", "type": "switch"}],
    "links": [{"src": "gpu[0-1]", "dst": "local0", "bandwidth": 12},
              {"src": "gpu[2-3]", "dst": "local1", "bandwidth": 12},
              {"src": "gpu[0-3]", "dst": "cpu", "bandwidth": 12}],
    "limits": [)" +
         limits + "]}";
}

// What an importer draws as a node between says the same as limits by hand.
TEST_F(SharedLimitsLong, AreWhatImportedBridgesSay) {
  const std::string slot = R"(link_speed="8.0 GT/s PCIe" link_width="16">)";
  std::string xml =
      "<system version=\"1\"><cpu numaid=\"0\" affinity=\"ff\" arch=\"x86_64\" "
      "vendor=\"GenuineIntel\" familyid=\"6\" modelid=\"85\">";
  for (int bridge = 0; bridge < 2; ++bridge) {
    xml += fmt::format(R"(<pci busid="0000:{}0:00.0" class="0x060400" )", bridge + 1) + slot;
    for (int i = 2 * bridge; i < 2 * bridge + 2; ++i) {
      xml += fmt::format(R"(<pci busid="0000:{}{}:00.0" class="0x030200" )", bridge + 1, i + 1) +
             slot + fmt::format(R"(<gpu dev="{0}" sm="89" rank="{0}" gdr="1"/></pci>)", i);
    }
    xml += "</pci>";
  }
  scratch_.write("nccl.xml", xml + "</cpu></system>");
  scratch_.write("smi.txt",
                 "\tGPU0\tGPU1\tGPU2\tGPU3\tCPU Affinity\tNUMA Affinity\n"
                 "GPU0\t X \tPHB\tNODE\tNODE\t0-15\t0\nGPU1\tPHB\t X \tNODE\tNODE\t0-15\t0\n"
                 "GPU2\tNODE\tNODE\t X \tPHB\t0-15\t0\nGPU3\tNODE\tNODE\tPHB\t X \t0-15\t0\n");
  scratch_.write("bandwidths.csv", "pcie,12\nhost-bridge,5\n");
  run_well({"topo", "import", "nccl", file("nccl.xml"), "-o", file("switches.json")});
  run_well({"topo", "import", "nvidia-smi", file("smi.txt"), "--gpu", "l40s", "--bandwidths",
            file("bandwidths.csv"), "-o", file("bridges.json")});
  for (const auto& [imported, bridge] :
       {std::pair("switches.json", "12"), std::pair("bridges.json", "5")}) {
    SCOPED_TRACE(imported);
    scratch_.write("by-hand.json", pairs_with_limits(bridge));
    EXPECT_EQ(json_of({"bound", file(imported), "--json"})["algbw"],
              json_of({"bound", file("by-hand.json"), "--json"})["algbw"]);
  }
  // By hand: half of the buffer goes through a bridge each way.
  EXPECT_EQ(json_of({"bound", file("bridges.json"), "--json"})["algbw"]["allgather"]["exact"],
            "10");
}

// NVLink and PCIe use one link of 32 GB/s between POWER CPUs. By hand: the GPUs of the second get
// three quarters of the buffer over it, from the first and from the NICs there.
TEST_F(SharedLimitsLong, AreOfALinkBetweenCpusThatNvlinkUsesToo) {
  const std::string slot = R"(link_speed="16.0 GT/s PCIe" link_width="16">)";
  std::string xml = R"(<system version="1">)";
  for (int gpu = 0; gpu < 4; ++gpu) {
    if (gpu % 2 == 0) xml += fmt::format(R"(<cpu numaid="{}" affinity="ff" arch="ppc64">)", gpu);
    xml += fmt::format(R"(<pci busid="000{}:01:00.0" class="0x030200" )", gpu) + slot +
           fmt::format(R"(<gpu dev="{0}" sm="70" rank="{0}" gdr="1">)", gpu) +
           R"(<nvlink target="00cc:00:00.0" count="3" tclass="0x068001"/></gpu></pci>)";
    if (gpu == 1) {
      for (int nic = 0; nic < 2; ++nic) {
        xml += fmt::format(R"(<pci busid="000a:0{}:00.0" class="0x020700" )", nic + 1) + slot +
               fmt::format(R"(<nic><net name="mlx5_{0}" dev="{0}" speed="200000" port="1" )"
                           R"(guid="0x{0}" maxconn="100" gdr="1"/></nic></pci>)",
                           nic);
      }
    }
    if (gpu % 2 == 1) xml += "</cpu>";
  }
  scratch_.write("power.xml", xml + "</system>");
  run_well({"topo", "import", "nccl", file("power.xml"), "--boxes", "2", "--fabric", "rail", "-o",
            file("power.json")});
  const auto report = json_of({"bound", file("power.json"), "-c", "allgather", "--json"});
  EXPECT_EQ(report["algbw"]["allgather"]["exact"], "128/3");
  EXPECT_EQ(report["bottleneck"]["shared_limits"][0]["name"], "box0/socket0 to socket1");
  run_well({"topo", "import", "nccl", file("power.xml"), "--boxes", "2", "--fabric", "rail",
            "--pcie-p2p", "-o", file("p2p.json")});
  EXPECT_EQ(json_of({"bound", file("p2p.json"), "-c", "allgather",
                     "--json"})["algbw"]["allgather"]["exact"],
            "128/3");
}

// GPU 0 and a NIC below a PCIe switch, GPU 1 and a NIC at the CPU. Without the ways past it, one
// broadcast comes down the link of 12 GB/s to a NIC and the other from a NIC: 6 GB/s each. What
// goes to NICs and what comes from them are drawn apart.
TEST_F(SharedLimitsLong, AreOfAPcieLinkThatIsDrawnTwice) {
  const std::string slot = R"(link_speed="8.0 GT/s PCIe" link_width="16">)";
  const auto gpu = [&](int number) {
    return fmt::format(R"(<pci busid="0000:0{}:00.0" class="0x030200" )", number + 1) + slot +
           fmt::format(R"(<gpu dev="{0}" sm="80" rank="{0}" gdr="1">)", number) +
           fmt::format(R"(<nvlink target="0000:0{}:00.0" count="4" tclass="0x030200"/>)",
                       2 - number) +
           "</gpu></pci>";
  };
  const auto nic = [&](int number) {
    return fmt::format(R"(<pci busid="0000:1{}:00.0" class="0x020700" )", number) + slot +
           fmt::format(R"(<nic><net name="mlx5_{0}" dev="{0}" speed="200000" port="1" )"
                       R"(guid="0x{1}" maxconn="100" gdr="1"/></nic></pci>)",
                       number, number + 1);
  };
  scratch_.write("mixed.xml", R"(<system version="1"><cpu numaid="0" affinity="ff" arch="x86_64">)"
                              R"(<pci busid="0000:30:00.0" class="0x060400" )" +
                                  slot + gpu(0) + nic(0) + "</pci>" + gpu(1) + nic(1) +
                                  "</cpu></system>");
  run_well({"topo", "import", "nccl", file("mixed.xml"), "--boxes", "2", "--fabric", "rail", "-o",
            file("mixed.json")});
  const auto limits =
      nlohmann::json::parse(read_file(file("mixed.json")))["templates"]["machine"]["limits"];
  ASSERT_EQ(limits.size(), 2U);
  EXPECT_EQ(limits[1]["name"], "cpu0 to pcie0");
  EXPECT_EQ(limits[1]["links"],
            nlohmann::json::array({"cpu_out0->pcie_out0", "cpu_in0->pcie_in0"}));
  const auto report =
      json_of({"bound", file("mixed.json"), "--drop", "box0/nic_out1->rail1", "--drop",
               "rail0->box0/nic_in0", "--at-once", "broadcast [[1,3]] 1G root=0", "--at-once",
               "broadcast [[2,0]] 1G root=0", "--json"});
  EXPECT_EQ(report["steps"][0]["rate"]["exact"], "6");
  // NCCL's rings are not held up by it, and the two nodes of a NIC are one.
  EXPECT_EQ(json_of({"synth", file("mixed.json"), "--format", "nccl-graph", "-o", file("graph.xml"),
                     "--json"})["nics_per_box"],
            2);
}

// Two GPUs of a line reach one another through the third alone.
TEST_F(SharedLimitsLong, LeaveNoTreesOfHeightOneOfALine) {
  scratch_.write("line.json", R"({"format": "forestcoll-topology", "version": 1, "name": "line",
    "nodes": [{"id": "g[0-2]", "type": "compute"}],
    "links": [{"src": "g0", "dst": "g1", "bandwidth": 10},
              {"src": "g1", "dst": "g2", "bandwidth": 10}],
    "limits": [{"links": ["g0~g1"], "bandwidth": 12}]})");
  const auto made = run(
      {"synth", file("line.json"), "-c", "allgather", "--max-height", "1", "-o", file("s.xml")});
  EXPECT_EQ(made.code, 2);
  EXPECT_THAT(made.err, HasSubstr("no tree of height 1"));
  EXPECT_THAT(made.err, HasSubstr("[E16]"));
}

TEST_F(SharedLimitsLong, AreLeftOutOfOtherFormatsWithAWarning) {
  const auto converted = run({"topo", "convert", file("t.json"), "--to", "csv"});
  EXPECT_EQ(converted.code, 0);
  EXPECT_THAT(converted.err, HasSubstr("2 limits are left out"));
  EXPECT_THAT(converted.err, HasSubstr("[I24]"));
  for (const char* kept : {"topology", "simgrid"}) {
    EXPECT_THAT(run({"topo", "convert", file("t.json"), "--to", kept}).err,
                ::testing::Not(HasSubstr("I24")));
  }
}

TEST_F(SharedLimitsLong, AreRoundedAsLinksAre) {
  const auto report =
      json_of({"bound", file("t.json"), "-c", "allgather", "--quantize", "5", "--json"});
  const auto& limit = report["bottleneck"]["shared_limits"][0];
  EXPECT_EQ(limit["name"], "bridge");
  EXPECT_EQ(limit["bandwidth"]["exact"], "10");
  EXPECT_EQ(report["optimum"]["allgather"]["exact"], "20/3") << "g0 and g1 each receive 3/4 of all";
}

// What `bound` says of a fabric without a part is what --whatif says of the part.
TEST_F(SharedLimitsLong, HoldInWhatIf) {
  const auto report = json_of({"bound", file("t.json"), "-c", "allgather", "--whatif", "--json"});
  expect_valid(report, "forestcoll-bound.schema.json");
  const auto& what_if = report["what_if"];
  EXPECT_EQ(what_if["algbw"]["exact"], "8");
  std::size_t compared = 0;
  for (const char* list : {"failures", "node_failures"}) {
    for (const auto& failure : what_if[list]) {
      if (failure["algbw"]["exact"] == "0") continue;
      const std::string drop = failure.contains("drop") ? failure["drop"].get<std::string>()
                                                        : failure["nodes"][0].get<std::string>();
      const auto left =
          json_of({"bound", file("t.json"), "-c", "allgather", "--drop", drop, "--json"});
      EXPECT_EQ(left["optimum"]["allgather"]["exact"], failure["algbw"]["exact"]) << drop;
      ++compared;
    }
  }
  EXPECT_GT(compared, 1);
  EXPECT_TRUE(what_if["upgrades"].empty()) << "wider links do not widen the bus";
  EXPECT_THAT(try_run("bound", {"--whatif"}).out, HasSubstr("what if one node fails"));
}

// What links share is among what is busy.
TEST_F(SharedLimitsLong, AreNamedAmongTheBusiest) {
  const std::string forest = file("f.json");
  ASSERT_EQ(
      try_run("synth", {"-c", "allgather", "-k", "optimal", "--format", "forest", "-o", forest})
          .code,
      0);
  const std::vector<std::string> words = {"simulate", forest,  file("t.json"), "--sizes",
                                          "1G",       "--gpu", "ideal"};
  EXPECT_THAT(run(words).out,
              HasSubstr("busiest links and limits: limit bus of 16 GB/s, shared by 4 directions is "
                        "busy 99.9 % of the time"));
  auto with_json = words;
  with_json.emplace_back("--json");
  const auto report = json_of(with_json);
  expect_valid(report, "forestcoll-simulation.schema.json");
  ASSERT_EQ(report["shared_limits"].size(), 2);
  for (const auto& limit : report["shared_limits"]) {
    if (limit["name"] == "bus") {
      EXPECT_NEAR(limit["busy"].get<double>(), 1, 5e-3);
    }
    EXPECT_LE(limit["busy"].get<double>(), 1);
  }
  with_json.insert(with_json.end(), {"--json-version", "1"});
  expect_valid(json_of(with_json), "forestcoll-simulation.v1.schema.json");
}

// Limits of any size are refused or kept; nothing breaks.
TEST_F(SharedLimitsLong, MayBeHugeOrTiny) {
  for (const char* bandwidth : {"9223372036854775807", "0.000000001", "\"1/100000000\""}) {
    std::string text = kBridges;
    text.replace(text.find("\"bandwidth\": 12"), 15, std::string("\"bandwidth\": ") + bandwidth);
    scratch_.write("u.json", text);
    for (const char* collective : {"allgather", "alltoall"}) {
      const auto made =
          run({"synth", file("u.json"), "-c", collective, "--format", "none", "-k", "1"});
      EXPECT_TRUE(made.code == 0 || made.code == 3) << bandwidth << collective << made.err;
    }
    const auto checked = run({"topo", "check", file("u.json")});
    EXPECT_TRUE(checked.code == 0 || checked.code == 3) << bandwidth << checked.err;
  }
}

TEST_F(SharedLimitsLong, AreShownAndChecked) {
  const auto shown = run_well({"topo", "show", file("t.json")});
  EXPECT_THAT(shown.out, HasSubstr("limits       2 on several links"));
  const auto report = json_of({"topo", "show", file("t.json"), "--json"});
  expect_valid(report, "forestcoll-topo-show.schema.json");
  EXPECT_EQ(report["limit_count"], 2);
  EXPECT_EQ(report["shared_limits"][1]["name"], "bus");
  EXPECT_EQ(report["shared_limits"][1]["links"].size(), 4);
  EXPECT_EQ(report["algbw"]["allgather"]["exact"], "8") << "what bound says";
  EXPECT_THAT(shown.out, HasSubstr("optimum      8 GB/s allgather algbw"));
  EXPECT_THAT(shown.out, HasSubstr("bottleneck   limit bus of 16 GB/s"));
  EXPECT_THAT(shown.out, HasSubstr("limit bus of 16 GB/s, shared by 4 directions"));
  EXPECT_EQ(run({"topo", "check", file("t.json")}).code, 0);
  const auto left = json_of({"topo", "show", file("t.json"), "--drop", "g3", "--json"});
  EXPECT_EQ(left["shared_limits"][1]["links"].size(), 2) << "those of g2";
}

// NVLink and PCIe bring 332 GB/s to each of 8 GPUs, and the limits of CPUs are wide enough for it:
// the optimum that the README names, of the bundled file and of the machine.
TEST_F(SharedLimitsLong, OfADgxA100LeaveItsGpusTheirLinks) {
  const std::string made = file("made.json");
  ASSERT_EQ(run({"topo", "gen", "dgx-a100-pcie", "-o", made}).code, 0);
  for (const std::string& fabric : {topology("dgx-a100-pcie-x1"), made}) {
    const auto report = json_of({"bound", fabric, "-c", "allgather", "--json"});
    EXPECT_EQ(report["optimum"]["allgather"]["exact"], "2656/7") << fabric;
    EXPECT_TRUE(report["bottleneck"]["shared_limits"].empty()) << fabric;
  }
  EXPECT_THAT(test::read_file(test::source_path("topologies/README.md")),
              HasSubstr("| 2656/7 | 379.429 |"));
}

}  // namespace
}  // namespace forestcoll::testing
