// A small fabric for tests of failures, and what is left of it.
#pragma once

#include <string>

#include "forestcoll/failures.hpp"
#include "forestcoll/network.hpp"
#include "support/valid.hpp"
#include "topology/topology_testing.hpp"

namespace forestcoll::testing {

/// Two boxes of two GPUs behind a switch, their NICs on one switch, and one one-way link.
inline Topology two_boxes() {
  return parse_valid(R"({"format":"forestcoll-topology","version":1,
    "templates":{"t":{"nodes":[{"id":"gpu[0-1]","type":"compute"},{"id":"sw","type":"switch"},
                               {"id":"nic","type":"switch"}],
      "links":[{"src":"gpu[0-1]","dst":"sw","bandwidth":100,"kind":"nvlink"},
               {"src":"gpu[0-1]","dst":"nic","bandwidth":20,"kind":"pcie"}]}},
    "boxes":[{"id":"box[0-1]","template":"t"}],
    "nodes":[{"id":"ib","type":"switch"}],
    "links":[{"src":"box[0-1]/nic","dst":"ib","bandwidth":25,"kind":"ib"},
             {"src":"box0/gpu0","dst":"box1/gpu0","bandwidth":5,"duplex":"simplex"}]})");
}

inline DegradedTopology degrade_well(const Failures& failures) {
  return test::valid(degrade(two_boxes(), failures));
}

/// What an arc carries, in GB/s; 0 where there is none.
inline Ratio bandwidth(const Topology& topology, const std::string& from, const std::string& to) {
  const auto network = to_digraph(topology);
  for (std::size_t a = 0; a < network->graph.arc_count(); ++a) {
    const ArcId arc(a);
    if (topology.nodes[network->graph.tail(arc)].id == from &&
        topology.nodes[network->graph.head(arc)].id == to) {
      return Ratio(network->capacity[arc]) * network->unit;
    }
  }
  return 0;
}

}  // namespace forestcoll::testing
