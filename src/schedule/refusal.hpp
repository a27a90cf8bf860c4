// Refusals: what does not fit a target.
#pragma once

#include <string>
#include <utility>

#include "forestcoll/codes.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::schedule {

/// An error of its code's kind. `message` has the number, the limit and the target; `remedy` says
/// what would make it fit.
[[nodiscard]] inline Diagnostic refusal(std::string code, std::string message, std::string remedy) {
  const ErrorKind kind = kind_of(code);
  return {.code = std::move(code),
          .severity = Severity::error,
          .kind = kind,
          .file = "",
          .where = "",
          .message = std::move(message),
          .remedy = std::move(remedy)};
}

}  // namespace forestcoll::schedule
