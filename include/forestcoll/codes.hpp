// What every code of a diagnostic means.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "forestcoll/diagnostic.hpp"

namespace forestcoll {

struct CodeInfo {
  std::string_view code;              ///< "E05"
  std::string_view about;             ///< "the topology file"
  std::string_view meaning;           ///< a sentence, without a capital at its beginning
  ErrorKind kind = ErrorKind::input;  ///< of every error of this code
};

/// All codes, by what they are about.
[[nodiscard]] std::span<const CodeInfo> codes();
/// The one of that name, or null.
[[nodiscard]] const CodeInfo* find_code(std::string_view code);
/// The kind of its errors; that of a wrong input where there is no such code. Cost: O(codes).
[[nodiscard]] ErrorKind kind_of(std::string_view code);

/// Where an error is; either may be empty.
struct ErrorPlace {
  std::string file = {};   ///< as the user named it
  std::string where = {};  ///< JSON pointer, or "line:column"
};

/// An error of its code's kind. `message` says what was expected and what was found, a limit with
/// its number; `remedy` what to do about it, and may be empty.
[[nodiscard]] Diagnostic make_error(std::string code, std::string message, std::string remedy = {},
                                    ErrorPlace place = {});

}  // namespace forestcoll
