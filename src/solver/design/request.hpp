// What wirings can be asked for.
#pragma once

#include "forestcoll/design.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::solver {

/// Errors: K01 where no wiring has such numbers, in words that say why.
[[nodiscard]] Expected<void> check_request(const DirectRequest& request);

}  // namespace forestcoll::solver
