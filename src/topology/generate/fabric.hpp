// What joins boxes to a cluster: switches for the ports (NICs) of the boxes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/ratio.hpp"
#include "forestcoll/topology_text.hpp"
#include "topology/generate/boxes.hpp"
#include "topology/generate/parameters.hpp"

namespace forestcoll::topology {

enum class FabricKind {
  none,        ///< the ports lead nowhere
  single,      ///< one switch
  odd_even,    ///< one for the even ports, one for the odd
  rail,        ///< one switch per port number, not joined to the others
  rail_spine,  ///< leaves per unit of boxes and port number, joined by spines
  fat_tree,    ///< leaves per few boxes, for all of their ports, joined by spines
};

/// "single", "odd-even", …; nothing where there is no such fabric.
[[nodiscard]] std::optional<FabricKind> find_fabric(std::string_view name);
[[nodiscard]] std::vector<std::string> fabric_names();

/// Boxes that are alike: PREFIX0 … PREFIX(count − 1).
struct BoxGroup {
  std::string prefix = "box";
  std::size_t count = 1;
  Ports port = {"nic", "nic"};
  std::size_t ports = 8;
  NamedBandwidth bandwidth;  ///< of one port
};

struct FabricOptions {
  FabricKind kind = FabricKind::single;
  std::string link_kind = "ib";
  std::size_t boxes_per_leaf = 32;  ///< rail_spine and fat_tree
  std::size_t spines = 4;           ///< the same
  Ratio oversubscription = 1;       ///< the same: what enters a leaf from below, over its uplinks,
                                    ///< of a leaf that is not full too
  bool in_network = false;          ///< its switches copy and combine, without an echo
};

/// Adds the switches and links of the fabric at the document's top level.
/// REQUIRES: rail_spine and fat_tree have one group; all groups have equally many ports for
/// odd_even and rail.
void add_fabric(TopologyDocument& document, const std::vector<BoxGroup>& groups,
                const FabricOptions& options);

}  // namespace forestcoll::topology
