// Fabrics whose links share capacities, for tests from outside.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "cli/program.hpp"

namespace forestcoll::testing {

// Two pairs of GPUs: what g0 and g1 receive goes through a bridge of 12 GB/s, and g2 and g3 are on
// a bus of 16. By hand, of an allgather x: the bus carries 2 · 3/4 · x in and at least 2/4 · x out,
// so 2x ≤ 16.
inline constexpr const char* kBridges =
    R"({"format": "forestcoll-topology", "version": 1, "name": "bridges",
  "nodes": [{"id": "g[0-3]", "type": "compute"}, {"id": "sw[0-1]", "type": "switch"}],
  "links": [{"src": "g[0-1]", "dst": "sw0", "bandwidth": 10, "kind": "pcie"},
            {"src": "g[2-3]", "dst": "sw1", "bandwidth": 10, "kind": "pcie"},
            {"src": "sw0", "dst": "sw1", "bandwidth": 16, "kind": "upi"}],
  "limits": [{"name": "bridge", "links": ["sw0->g[0-1]"], "bandwidth": 12},
             {"name": "bus", "links": ["g2~sw1", "g3~sw1"], "bandwidth": 16}]})";

// A limit with weights, and switches that could do more than trees.
inline constexpr const char* kWeighed =
    R"({"format": "forestcoll-topology", "version": 1, "name": "weighed",
  "nodes": [{"id": "g[0-3]", "type": "compute"}, {"id": "sw[0-1]", "type": "switch"}],
  "links": [{"src": "g[0-1]", "dst": "sw0", "bandwidth": 10, "kind": "nv"},
            {"src": "g[2-3]", "dst": "sw1", "bandwidth": 10, "kind": "pcie"},
            {"src": "sw0", "dst": "sw1", "bandwidth": 10, "kind": "ib"}],
  "limits": [{"name": "mem", "links": ["sw0->g0", "sw0->g1"], "weights": [1, 1.5],
              "bandwidth": 12},
             {"links": ["g2~sw1", "g3~sw1"], "bandwidth": 16}]})";
inline constexpr const char* kAble =
    R"({"format": "forestcoll-topology", "version": 1, "name": "able",
  "nodes": [{"id": "g[0-3]", "type": "compute"},
            {"id": "sw", "type": "switch", "multicast": true, "reduce": true}],
  "links": [{"src": "g[0-3]", "dst": "sw", "bandwidth": 10, "kind": "nvlink"}],
  "limits": [{"links": ["g0~sw"], "bandwidth": 10}, {"links": ["g1~sw"], "bandwidth": 10},
             {"links": ["g2~sw"], "bandwidth": 10}, {"links": ["g3~sw"], "bandwidth": 10}]})";

// What g1 and g3 receive goes through one bridge, of 12 GB/s.
inline constexpr const char* kSharedWayIn =
    R"({"format": "forestcoll-topology", "version": 1, "name": "way-in",
  "nodes": [{"id": "g[0-3]", "type": "compute"}, {"id": "sw", "type": "switch"}],
  "links": [{"src": "g[0-3]", "dst": "sw", "bandwidth": 10}],
  "limits": [{"name": "bridge", "links": ["sw->g1", "sw->g3"], "bandwidth": 12}]})";

class SharedLimits : public ::testing::Test {
 protected:
  SharedLimits() { scratch_.write("t.json", kBridges); }

  Result try_run(const std::string& command, const std::vector<std::string>& words) {
    return run(joined({command, file("t.json")}, words));
  }
  std::string file(const std::string& name) { return scratch_ / name; }

  Scratch scratch_;
};

}  // namespace forestcoll::testing
