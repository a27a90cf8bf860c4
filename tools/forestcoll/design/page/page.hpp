// A page with a chart and a table.
#pragma once

#include <string>
#include <vector>

#include "design/page/scatter.hpp"

namespace forestcoll::cli {

struct DesignPage {
  std::string title;
  Scatter scatter;
  std::vector<std::vector<std::string>> rows;  ///< titles first
  std::string legend;
};

/// HTML that needs nothing else: no network, no other file. Same input, same bytes.
[[nodiscard]] std::string to_html(const DesignPage& page);

}  // namespace forestcoll::cli
