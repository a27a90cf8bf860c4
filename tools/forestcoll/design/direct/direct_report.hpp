// What `design direct` and `design search` write.
#pragma once

#include <string>

#include "common/report/report.hpp"
#include "design/direct/direct_study.hpp"

namespace forestcoll::cli {

/// A table for people; with `front_only`, of those on a front alone.
[[nodiscard]] std::string table_of(const DirectStudy& study, bool front_only);
/// The format forestcoll-design-direct, version 1.
[[nodiscard]] Json to_json(const DirectStudy& study);
/// A line per wiring, after a line of titles; fractions as they are.
[[nodiscard]] std::string to_csv(const DirectStudy& study);
/// Times over steps, as SVG.
[[nodiscard]] std::string chart_of(const DirectStudy& study);
/// A page of HTML that needs nothing else: the chart and the table.
[[nodiscard]] std::string page_of(const DirectStudy& study);

/// The figures of one wiring, in words.
[[nodiscard]] std::string in_words(const WiringFigures& figures);
/// The same, exactly, as a wiring of that format has them.
[[nodiscard]] Json to_json(const WiringFigures& figures);

}  // namespace forestcoll::cli
