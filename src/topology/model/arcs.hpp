// The directions in which a topology's links carry data.
#pragma once

#include <vector>

#include "forestcoll/digraph.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::topology {

struct DirectedLink {
  Arc arc;
  LinkId link;
};

/// One arc per direction of every enabled link between enabled nodes, in the order of the links.
[[nodiscard]] std::vector<DirectedLink> enabled_arcs(const Topology& topology);

}  // namespace forestcoll::topology
