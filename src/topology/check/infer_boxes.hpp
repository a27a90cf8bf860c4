// Boxes for the GPUs that a file leaves without one.
#pragma once

#include <string>
#include <vector>

#include "forestcoll/topology.hpp"
#include "topology/check/box_evidence.hpp"

namespace forestcoll::topology {

struct InferredBoxes {
  std::vector<std::string> names;  ///< of the boxes that GPUs were put in, by their first GPU
  std::string evidence;            ///< in words; empty where there are no names
  std::optional<BoxDoubt> doubt;   ///< what is not certain, whether or not there are names
};

/// Gives `box` to nodes that have none, as far as the fabric shows where they are (`propose_boxes`
/// says how). A declared box stays as it is; nodes that the fabric shows to be with its GPUs join
/// it. Where all GPUs have a box, or where they are all in one, nothing is changed: a fabric
/// without boxes is one box. Everything that knows of boxes reads `TopologyNode::box`. Cost: O(n +
/// m log m); O(n) where every GPU has a box.
[[nodiscard]] InferredBoxes infer_boxes(Topology& topology);

}  // namespace forestcoll::topology
