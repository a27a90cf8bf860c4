// Options that a file has no use for: whoever gives one expects something of it.
#pragma once

#include <vector>

#include "topology/import/box.hpp"
#include "topology/readers/context.hpp"

namespace forestcoll::importing {

/// False, and I08 for each, where options are given that no file of this source has a use for.
[[nodiscard]] bool check_options(const Context& context);

/// False, and I08, where a bandwidth was given for NICs and none of the boxes' took it.
[[nodiscard]] bool check_nic_bandwidth(const Context& context, const std::vector<Box>& boxes);

}  // namespace forestcoll::importing
