// What failures cost and upgrades bring, as people and programs want to read it.
#pragma once

#include <cstddef>
#include <string>

#include "common/report/report.hpp"
#include "forestcoll/topology.hpp"
#include "forestcoll/whatif.hpp"

namespace forestcoll::cli {

/// The `count` dearest failures and best upgrades, a line each.
[[nodiscard]] std::string in_words(const WhatIf& what_if, const Topology& topology,
                                   const WhatIfOptions& options, std::size_t count);

/// The "what_if" of the bound report: everything.
[[nodiscard]] Json to_json(const WhatIf& what_if, const Topology& topology,
                           const WhatIfOptions& options);

/// The same of switches that lose a role: `count` lines, and "role_failures".
[[nodiscard]] std::string in_words(const RoleFailures& roles, const Topology& topology,
                                   std::size_t count);
[[nodiscard]] Json to_json(const RoleFailures& roles, const Topology& topology);

}  // namespace forestcoll::cli
