// A page with a chart, points in a plane, and a table.
#pragma once

#include <string>
#include <vector>

#include "common/report/table.hpp"

namespace forestcoll::cli {

struct ScatterPoint {
  double x = 0, y = 0;
  std::string name;     ///< shown beside the point where it is marked, and over it always
  bool marked = false;  ///< on the Pareto front
  bool hollow = false;  ///< drawn as a ring
};

struct Scatter {
  std::string title, x_title, y_title;
  std::vector<ScatterPoint> points;
  bool more_is_better = false;  ///< on the y axis; less is on the x axis
  /// What filled points and rings are; empty where there are no rings.
  std::string filled_name = {}, hollow_name = {};
};

/// With a line along the front. The axes hold all points, and are logarithmic where the range is
/// wide. Same input, same bytes. REQUIRES: there is a point, and no value below 0.
[[nodiscard]] std::string to_svg(const Scatter& scatter);

struct DesignPage {
  std::string title;
  Scatter scatter;
  Table table;
  std::string legend;
};

/// HTML that needs nothing else: no network, no other file. Same input, same bytes.
[[nodiscard]] std::string to_html(const DesignPage& page);

}  // namespace forestcoll::cli
