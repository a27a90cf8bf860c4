// What a runtime would do with a file, in a few words.
#pragma once

#include <string>

#include "audit/common/findings.hpp"

namespace forestcoll::audit {

/// The worst that the findings mean, the way a runtime meets it: what does not load never hangs,
/// what is never selected never goes wrong.
[[nodiscard]] std::string outcome(const Findings& findings);

}  // namespace forestcoll::audit
