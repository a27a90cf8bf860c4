// One tree of a schedule on its fabric, as a picture.
#pragma once

#include <string>

#include "forestcoll/compile.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {

inline constexpr const char* kPictureFormat = "svg";

/// The first tree of the last phase, of the root if there is one: links have the colours of the
/// rounds in which they carry its data, and arrows in the direction of it. SVG; same input, same
/// bytes. REQUIRES: a forest was made. Cost: that of `draw`, and linear in the tree.
[[nodiscard]] std::string tree_picture(const Compilation& made, const Topology& topology);

}  // namespace forestcoll::cli
