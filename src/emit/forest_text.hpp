// What all versions of forest JSON are put together from.
#pragma once

#include <span>
#include <string>

#include "forestcoll/forest.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::emit {

/// Of nodes, as JSON strings.
using Names = IdVector<NodeId, std::string>;
[[nodiscard]] Names quoted_names(const Topology& topology);

/// {"exact":"65/3","value":21.67}
[[nodiscard]] std::string rate(const Ratio& ratio);

void append_list(std::string& out, std::span<const NodeId> nodes, const Names& names);

/// A tree and its edges, in an order in which data can flow. `images`: it stands for its images.
void append_tree(std::string& out, const Forest& forest, TreeId t, const Names& names, bool images);

}  // namespace forestcoll::emit
