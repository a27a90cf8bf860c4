// What `design formulas` writes.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/report/report.hpp"
#include "forestcoll/design.hpp"

namespace forestcoll::cli {

struct FormulaStudy {
  std::size_t nodes = 0, ports = 0;
  std::vector<FormulaCheck> checks;  ///< the smallest first
};

/// A line per construction: how many formulas are equal to what is computed, and how the others
/// differ; then those that are wrong.
[[nodiscard]] std::string table_of(const FormulaStudy& study);
/// The format forestcoll-design-formulas, version 1: the same counts, and every difference.
[[nodiscard]] Json to_json(const FormulaStudy& study);
/// A line per wiring, after a line of titles; fractions as they are.
[[nodiscard]] std::string to_csv(const FormulaStudy& study);

}  // namespace forestcoll::cli
