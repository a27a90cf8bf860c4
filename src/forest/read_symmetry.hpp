// The symmetry of a forest in version 2, from its cycles.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "forest/document.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/symmetry.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::emit {

/// The nodes and ranks of a fabric, by the names of a file.
struct NamedNodes {
  const Topology& topology;
  std::span<const NodeId> nodes;  ///< by name
  std::span<const Rank> ranks;    ///< by name; invalid: none
};

/// What `Symmetry` requires is tested here. Where it does not hold, nothing, and `flaw` says why.
/// Cost: linear in the fabric per pair of generators.
[[nodiscard]] std::optional<Symmetry> make_symmetry(
    const std::vector<DocumentGenerator>& generators, const NamedNodes& named, std::string& flaw);

}  // namespace forestcoll::emit
