// Capacities that links share, told apart by what they are called within their boxes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "forestcoll/topology.hpp"

namespace forestcoll::topology {

/// What reports call it, without the box: "mem" of "box0/mem". REQUIRES: it holds a link.
[[nodiscard]] std::string name_within_box(const SharedLimit& limit, const Topology& topology);

/// Indices of limits of one name within their boxes, one bandwidth and as many links, in the order
/// of the first of each; those that hold no link are left out. Cost: O(limits · log limits).
[[nodiscard]] std::vector<std::vector<std::size_t>> alike_limits(const Topology& topology);

}  // namespace forestcoll::topology
