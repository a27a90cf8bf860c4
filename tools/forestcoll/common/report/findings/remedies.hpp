// What a command knows to do about errors of the library, which know nothing of its options.
#pragma once

#include <span>
#include <string_view>

#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli {

/// What to do about errors of one code.
struct Remedy {
  Code code = {};
  std::string_view text = {};
};

/// These remedies in place of the errors' own.
[[nodiscard]] Diagnostics with_remedies(Diagnostics errors, std::span<const Remedy> remedies);
/// These remedies behind the errors' own.
[[nodiscard]] Diagnostics with_more_remedies(Diagnostics errors, std::span<const Remedy> remedies);

}  // namespace forestcoll::cli
