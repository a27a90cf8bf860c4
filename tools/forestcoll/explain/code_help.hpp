// What to do about a code, and an example of what gives it.
#pragma once

#include <string_view>

#include "forestcoll/codes.hpp"

namespace forestcoll::cli {

struct CodeHelp {
  Code code = {};
  /// What to do, as one or more sentences. Settings and functions stand in backquotes.
  std::string_view remedy;
  /// A piece of a file, a command line, or a case in words, that gives the code.
  std::string_view example;
};

/// The help of a code. Every code has one. Cost: constant.
[[nodiscard]] const CodeHelp& help_of_code(Code code);

}  // namespace forestcoll::cli
