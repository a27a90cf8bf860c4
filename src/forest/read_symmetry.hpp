// The symmetry of a forest in version 2, from its cycles.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "forest/document.hpp"
#include "forest/symmetry.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::forest {

/// The nodes and ranks of a fabric, by the names of a file.
struct NamedNodes {
  const Topology& topology;
  std::span<const NodeId> nodes;  ///< by name
  std::span<const Rank> ranks;    ///< by name; invalid: none
};

/// What `Symmetry` requires is tested here. Errors, at `where` in `file`: F02 it does not hold.
/// Cost: linear in the fabric per pair of generators.
[[nodiscard]] Expected<Symmetry> make_symmetry(const std::vector<DocumentGenerator>& generators,
                                               const NamedNodes& named, std::string_view file,
                                               const std::string& where);

}  // namespace forestcoll::forest
