// A page of HTML with pictures and tables, for light and dark screens.
#pragma once

#include <string>
#include <string_view>

#include "common/report/table.hpp"
#include "forestcoll/convert.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli {

/// HTML that needs nothing else: no network, no other file. `body` is markup and follows the title
/// as heading; the title is text. Same input, same bytes.
[[nodiscard]] std::string html_page(std::string_view title, std::string_view body);

/// The table as markup; what is in its cells is text.
[[nodiscard]] std::string html_table(const Table& table);

/// The picture of a fabric as SVG. Error: P03 where it has more nodes than can be read.
[[nodiscard]] Expected<std::string> readable_picture(const Topology& topology,
                                                     const DrawOptions& options);

}  // namespace forestcoll::cli
