// Text made safe for XML and HTML.
#pragma once

#include <string>
#include <string_view>

namespace forestcoll {

/// For contents and attribute values: & < > " escaped, control characters replaced by '?'.
[[nodiscard]] std::string xml_escaped(std::string_view text);

}  // namespace forestcoll
