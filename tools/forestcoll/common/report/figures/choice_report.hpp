// What was chosen for a size, for programs.
#pragma once

#include "common/report/report.hpp"
#include "forestcoll/fastest.hpp"

namespace forestcoll::cli {

/// What every report says of a choice: its size in bytes, what it is, and its seconds.
[[nodiscard]] Json choice_json(const FastestChoice& choice);

/// "latency" or "links": which of the two bounds a time that no schedule is below.
[[nodiscard]] const char* bounding(const LeastTime& least);

}  // namespace forestcoll::cli
