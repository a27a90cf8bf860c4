// Plans that MSCCL++'s shim loads by itself, from $MSCCLPP_CACHE_DIR/default.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "forestcoll/collective.hpp"

namespace forestcoll::cli {

/// The names that the shim of that release knows for so many ranks; where it knows none, empty. It
/// takes sizes, placement and collective from the file, and asks for no chunks.
/// Empty, too, of collectives of which it takes calls in place for calls out of place, or any root.
[[nodiscard]] std::vector<std::string_view> shim_files(std::string_view target,
                                                       Collective collective, std::size_t ranks,
                                                       std::size_t ranks_per_host);

}  // namespace forestcoll::cli
