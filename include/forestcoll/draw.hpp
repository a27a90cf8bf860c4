// Pictures of fabrics, in Graphviz's language.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "forestcoll/id.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

struct DrawOptions {
  std::vector<NodeId> sending = {};  ///< the side of a cut that sends; empty: no cut is shown
  std::string caption = {};          ///< below the picture
  /// With more nodes than this, boxes are drawn as one node each, and what is linked alike as one;
  /// up to four boxes that the cut divides are still drawn whole.
  std::size_t detail = 150;
  /// In pixels. Where rows would be wider, so that their text could not be read, what is linked
  /// alike is drawn as one inside boxes too, and rows that are still too wide are broken.
  std::size_t width = 1600;
};

struct Drawing {
  std::string dot;        ///< a graph with the layout program of its own
  std::size_t items = 0;  ///< nodes drawn
};

/// Boxes as clusters, width by bandwidth, colour by kind of link, the sending side filled and the
/// links of the cut in red. Disabled parts are left out. Same input, same bytes.
/// Cost: O((nodes + links) log links), times a few rounds where boxes are drawn as one.
[[nodiscard]] Drawing draw(const Topology& topology, const DrawOptions& options = {});

}  // namespace forestcoll
