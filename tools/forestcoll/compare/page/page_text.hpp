// The files of compare/page/, as the build embeds them.
#pragma once

#include <string_view>

namespace forestcoll::cli {

extern const std::string_view kPagePalette;   ///< colours of charts and pages
extern const std::string_view kPageStyle;     ///< of the page
extern const std::string_view kPageScript;    ///< of the page
extern const std::string_view kPageTemplate;  ///< with {{places}} to be filled

}  // namespace forestcoll::cli
