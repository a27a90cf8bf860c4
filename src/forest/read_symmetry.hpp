// The symmetry of a forest in version 2, from its cycles.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "forest/document.hpp"
#include "forest/symmetry.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::forest {

/// What `Symmetry` requires is tested here. Errors, at `where` in `file`: F02 it does not hold.
/// Cost: linear in the fabric per pair of generators.
[[nodiscard]] Expected<Symmetry> make_symmetry(const std::vector<audit::Generator>& generators,
                                               const DocumentNodes& nodes, const Topology& topology,
                                               std::string_view file, const std::string& where);

}  // namespace forestcoll::forest
