#include "common/synthesis/report/plan_boxes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "forestcoll/text.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {

std::string boxes_line(const Topology& topology) {
  constexpr std::size_t kMostNamed = 4;
  const std::vector<std::string> boxes = names_of_boxes(topology);
  if (boxes.empty()) {
    return "  taken for one box, as the topology names none: memory channels between all GPUs";
  }
  const auto alone = std::ranges::count_if(
      topology.ranks, [&](NodeId node) { return topology.nodes[node].box.empty(); });
  const std::size_t named = std::min(boxes.size(), kMostNamed);
  std::string text =
      fmt::format("  taken for boxes: {}", fmt::join(std::span(boxes).first(named), ", "));
  if (named < boxes.size()) text += fmt::format(" and {} more", boxes.size() - named);
  text += ": memory channels within each, port channels between";
  if (alone > 0) {
    text += fmt::format("; {} of no box", counted(static_cast<std::size_t>(alone), "GPU"));
  }
  return text;
}

}  // namespace forestcoll::cli
