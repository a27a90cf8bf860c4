// What is written on the items and edges of a picture.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "topology/draw/picture.hpp"

namespace forestcoll::topology {

/// "gpu0", or "71 GPUs" and "gpu[1-71]": one or two lines. Ids as within the box around them.
[[nodiscard]] std::vector<std::string> label_of(const Item& item);

/// Whether an edge has a text; the legend says the rest.
[[nodiscard]] bool has_label(const Edge& edge);
/// "32 links, 800 GB/s", or "7 / 3 GB/s" where the directions differ, from the end `from`.
[[nodiscard]] std::string label_of(const Edge& edge, std::size_t from);
/// "800", "7 / 3": without the links.
[[nodiscard]] std::string bandwidth_of(const Edge& edge, std::size_t from);

/// "346.667": six digits.
[[nodiscard]] std::string short_number(const Ratio& value);

}  // namespace forestcoll::topology
