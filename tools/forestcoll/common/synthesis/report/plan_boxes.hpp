// What a plan of MSCCL++ takes for boxes.
#pragma once

#include <string>

#include "forestcoll/topology.hpp"

namespace forestcoll::cli {

/// A line of the summary, without its end.
[[nodiscard]] std::string boxes_line(const Topology& topology);

}  // namespace forestcoll::cli
