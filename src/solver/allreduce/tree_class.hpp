// Trees that span the same switches.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "solver/symmetry/network_orbits.hpp"

namespace forestcoll::solver {

/// Which trees: an allreduce broadcasts down out-trees and reduces up in-trees.
enum class TreePhases {
  broadcast,
  reduce,
  both  ///< in-trees are the out-trees turned round
};

/// Trees that branch at the same switches, and with them those at the switches' images under a
/// group: a linear program has an optimum in which all images do the same.
struct TreeClass {
  TreePhases phases = TreePhases::both;
  std::vector<NodeId> spanned;  ///< by id
  std::vector<NodeImage>
      images;            ///< an automorphism for every image of `spanned`; the identity first
  NetworkOrbits orbits;  ///< under what maps `spanned` onto itself
};

/// By Schreier's lemma, from generators of the group. Nothing where there are too many images.
/// Cost: O(images · generators · m log m).
[[nodiscard]] std::optional<TreeClass> make_tree_class(const Network& network,
                                                       std::span<const NodeImage> generators,
                                                       std::vector<NodeId> spanned,
                                                       TreePhases phases);

}  // namespace forestcoll::solver
