// Rings that a vendor wrote by hand for its boxes, and that its library takes instead of a search.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "baseline/rings/ring_search.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::baseline {

struct VendorRings {
  std::string_view library;  ///< "RCCL"
  std::string_view box;      ///< "a box of eight MI250 modules"
  RingOrders rings;          ///< positions in the box
};

/// Those for the box with these ranks: where the links from rank to rank are, up to one factor and
/// to the names of the ranks, those of a box that the library knows. GPUs that are linked each with
/// each alike are many things; there the links must be xGMI too. Nothing for any other box.
/// REQUIRES: `network` is the topology's. Cost: O(links) for most boxes; of a box that is nearly
/// alike, that of telling two graphs of 16 nodes apart.
[[nodiscard]] std::optional<VendorRings> vendor_rings(const Topology& topology,
                                                      const Network& network,
                                                      const std::vector<Rank>& box);

}  // namespace forestcoll::baseline
