// What validators of options say.
#pragma once

#include <string>
#include <string_view>

#include "forestcoll/codes.hpp"

namespace forestcoll::cli {

/// "expected sizes such as 64K:1G, found nothing [S03]": what is wrong with a word of the command
/// line, for CLI11, as findings end.
[[nodiscard]] std::string validator_text(Code code, std::string_view message);

}  // namespace forestcoll::cli
