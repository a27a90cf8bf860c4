// Many findings of one kind in a few lines.
#pragma once

#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli {

/// The findings as people read them: of the warnings about a topology file, the first three of each
/// code, and a line that counts the others and names some of their places. What an import guessed
/// and left out is another thing each time, and stays.
[[nodiscard]] Diagnostics condensed(const Diagnostics& findings);

}  // namespace forestcoll::cli
