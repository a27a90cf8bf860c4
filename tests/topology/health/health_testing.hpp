// Machines, and what a dump of their health takes from them, for its tests. The dumps are written
// by hand, as the tools' documentation shows them.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/generate.hpp"
#include "forestcoll/health.hpp"
#include "support/valid.hpp"
#include "topology/topology_testing.hpp"

namespace forestcoll::testing {

using Counts = std::map<std::size_t, std::set<std::int64_t>>;

inline Topology machine(const std::string& name, const std::string& boxes = "1") {
  const auto document = generate(name, {{"boxes", boxes}});
  EXPECT_TRUE(document) << name;
  return parse_valid(to_topology_json(*document));
}

/// `nvidia-smi nvlink -s` of GPUs with so many links, of which some are inactive.
inline std::string nvlink_status(std::size_t gpus, std::int64_t links, const Counts& inactive,
                                 const std::string& speed = "26.562 GB/s") {
  std::string text;
  for (std::size_t gpu = 0; gpu < gpus; ++gpu) {
    text += fmt::format("GPU {}: NVIDIA Something (UUID: GPU-0000000{})\n", gpu, gpu);
    for (std::int64_t link = 0; link < links; ++link) {
      const auto of_gpu = inactive.find(gpu);
      const bool down = of_gpu != inactive.end() && of_gpu->second.contains(link);
      text += fmt::format("\t Link {}: {}\n", link, down ? "<inactive>" : speed);
    }
  }
  return text;
}

inline HealthReport report_of(const Topology& topology, const std::string& text,
                              const std::string& gpus = "") {
  return test::valid(read_health(topology, text, "dump.txt", gpus));
}

/// What is left is a fabric; every failure is one that `degrade` takes.
inline Topology left_of(const Topology& topology, const HealthReport& report) {
  auto left = degrade(topology, report.failures);
  if (!left) {
    ADD_FAILURE() << to_string(left.errors().front());
    return topology;
  }
  return std::move(left->topology);
}

inline std::string error_of(const Topology& topology, const std::string& text,
                            const std::string& gpus = "") {
  const auto report = read_health(topology, text, "dump.txt", gpus);
  if (report) return "accepted";
  expect_remedies(report.errors(), text);
  return to_string(report.errors().front());
}

inline std::vector<std::string> messages_of(const Diagnostics& warnings) {
  std::vector<std::string> messages;
  for (const Diagnostic& warning : warnings) {
    EXPECT_EQ(warning.code, Code::I21);
    messages.push_back(warning.message);
  }
  return messages;
}

/// Two hosts of two adapters, each cabled with 25 GB/s.
inline Topology two_hosts() {
  return parse_valid(R"({"format": "forestcoll-topology", "version": 1,
    "templates": {"machine": {
      "nodes": [{"id": "gpu[0-1]", "type": "compute"}, {"id": "nic[0-1]", "type": "switch"}],
      "links": [{"src": "gpu0", "dst": "gpu1", "bandwidth": 100, "kind": "nvlink"},
                {"src": "gpu[0-1]", "dst": "nic[0-1]", "pair": "zip", "bandwidth": 32, "kind": "pcie"}]}},
    "boxes": [{"id": "node[1-3]", "template": "machine"}],
    "nodes": [{"id": "sw[0-1]", "type": "switch"}],
    "links": [{"src": "node[1-3]/nic0", "dst": "sw0", "bandwidth": 25, "kind": "ib"},
              {"src": "node[1-3]/nic1", "dst": "sw1", "bandwidth": 25, "kind": "ib"}]})");
}

}  // namespace forestcoll::testing
