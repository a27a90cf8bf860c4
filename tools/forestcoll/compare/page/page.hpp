// A comparison as a chart, and as one page of HTML that needs nothing else: no network, no other
// file.
#pragma once

#include <string>

#include "common/report/report.hpp"
#include "compare/comparison.hpp"

namespace forestcoll::cli {

/// The page, with the fabric's picture in it. Where that cannot be drawn (P03), the page
/// says so in its place, and `warnings` has the reason. Same input, same bytes.
struct Page {
  std::string html;
  Diagnostics warnings;
};
[[nodiscard]] Page to_page(const Comparison& comparison);

/// What the page's script works on: the report, the links and how busy they are, and trees.
/// {"report", "facts", "bottleneck", "fractionTitle", "optimumBusbw", "nodes": [id], "ranks":
/// [node],
///  "links": {"groups": [{"title", "first", "count"}], "ends": [[node, node]], "bandwidth"},
///  "busy": {ALGORITHM: [per mille]},
///  "trees": {ALGORITHM: [{"phase", "total", "k", "list":
///            [{"root", "multiplicity", "height", "parent": [rank], "via": [[node]]}]}]}}
/// Of each phase only as many trees as a page can hold.
[[nodiscard]] Json page_data(const Comparison& comparison);

/// The chart of algbw over size as an SVG file, `width` pixels wide. REQUIRES: has_times().
[[nodiscard]] std::string to_chart(const Comparison& comparison, int width, bool standalone);
[[nodiscard]] bool has_times(const Comparison& comparison);

}  // namespace forestcoll::cli
