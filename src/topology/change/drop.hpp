// Nodes, links, cables and roles of switches that are gone.
#pragma once

#include <string>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/topology.hpp"
#include "topology/format/select.hpp"

namespace forestcoll::topology {

/// Takes out of `after` all that the items name (see `Failures::drop`), and says so in `changes`.
/// `after` has the nodes and links of `before`, in which the items are looked up. Errors, of the
/// first item that is wrong: D01, D02, D03, E14. Cost: O(n + m) for each item.
[[nodiscard]] Expected<void> drop(const std::vector<std::string>& items, const Topology& before,
                                  Topology& after, std::vector<std::string>& changes);

}  // namespace forestcoll::topology
