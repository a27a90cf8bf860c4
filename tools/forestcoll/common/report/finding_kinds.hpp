// Errors of a schedule, of which one mistake makes thousands: one of every kind, and how many.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli {

struct FindingKind {
  Diagnostic first;
  std::size_t count = 0;
};

/// In the order of the first of each. Findings are of one kind where their codes are the same, and
/// their messages but for the numbers.
[[nodiscard]] std::vector<FindingKind> kinds_of(const Diagnostics& findings);

/// The first of every kind as a message, and a line with the number of those like it.
[[nodiscard]] std::string text_of_kinds(const Diagnostics& findings);

}  // namespace forestcoll::cli
