// The files of compare/page/, as the build embeds them.
#pragma once

#include <string_view>

namespace forestcoll::cli {

extern const std::string_view page_palette;   ///< colours of charts and pages
extern const std::string_view page_style;     ///< of the page
extern const std::string_view page_script;    ///< of the page
extern const std::string_view page_template;  ///< with {{places}} to be filled

}  // namespace forestcoll::cli
