// Values that a shell offers for an option or an operand.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace forestcoll::cli {

/// The names that an option takes, of every command that has it: those of the collectives for
/// "--collective". An operand is asked for with its command before it: "explain CODE". Empty where
/// it takes something else.
[[nodiscard]] std::vector<std::string> offered_values(std::string_view option);

}  // namespace forestcoll::cli
