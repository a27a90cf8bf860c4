// Fabrics for the tests of this folder.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "forestcoll/fabric.hpp"
#include "forestcoll/topology_text.hpp"
#include "support/files.hpp"

namespace forestcoll::test {

inline Fabric fabric_of(const std::string& text) {
  auto parsed = parse_topology(text, "test");
  EXPECT_TRUE(parsed);
  auto fabric = make_fabric(std::move(parsed->topology), metadata_of(text));
  EXPECT_TRUE(fabric);
  return *std::move(fabric);
}

inline Fabric bundled_fabric(const std::string& name) {
  return fabric_of(bundled_text(name));
}

/// GPUs on a switch, by NVLink of an A100, 0.7 µs a link.
inline Fabric star_of(std::size_t gpus) {
  return fabric_of(fmt::format(
      R"({{"format": "forestcoll-topology", "version": 1, "name": "star of A100",
    "nodes": [{{"id": "gpu[0-{0}]", "type": "compute"}}, {{"id": "sw", "type": "switch"}}],
    "links": [{{"src": "gpu[0-{0}]", "dst": "sw", "bandwidth": 300, "latency": "0.7us"}}]}})",
      gpus - 1));
}

/// Boxes of two GPUs of an A100, by NVLink in them, and a switch between all.
inline Fabric boxes_of_two(std::size_t boxes) {
  return fabric_of(fmt::format(
      R"({{"format": "forestcoll-topology", "version": 1, "name": "boxes of two",
    "templates": {{"box": {{"nodes": [{{"id": "gpu[0-1]", "type": "compute"}}],
                            "links": [{{"src": "gpu0", "dst": "gpu1", "bandwidth": 100,
                                        "latency": "0.7us"}}]}}}},
    "boxes": [{{"id": "box[0-{0}]", "template": "box"}}],
    "nodes": [{{"id": "ib", "type": "switch"}}],
    "links": [{{"src": "box[0-{0}]/gpu[0-1]", "dst": "ib", "bandwidth": 25,
                "latency": "1us"}}]}})",
      boxes - 1));
}

}  // namespace forestcoll::test
