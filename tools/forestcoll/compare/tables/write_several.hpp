// Comparisons on several fabrics as one report.
#pragma once

#include <string>
#include <vector>

#include "common/report/report.hpp"
#include "compare/comparison.hpp"

namespace forestcoll::cli {

/// A comparison and the file of its topology.
struct NamedComparison {
  std::string file;
  const Comparison* comparison = nullptr;
};

/// One table with a row for every fabric and algorithm, and for every size the fabrics in the order
/// of our times. For a terminal, and in Markdown. REQUIRES: all are of the same collective and
/// sizes.
[[nodiscard]] std::string to_terminal(const std::vector<NamedComparison>& all);
[[nodiscard]] std::string to_markdown(const std::vector<NamedComparison>& all);
/// {"format": "forestcoll-comparisons", "version": 2, "comparisons": […]}, each as `compare` of one
/// fabric writes it.
[[nodiscard]] Json to_json(const std::vector<NamedComparison>& all);
/// The lines of all, with one head.
[[nodiscard]] std::string to_csv(const std::vector<NamedComparison>& all);

}  // namespace forestcoll::cli
