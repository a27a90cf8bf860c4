// Which program this is: outputs of another one are not reused, whatever its version says.
#pragma once

#include <string>

#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli::batch {

/// The hash of the running program's bytes, and of libforestcoll's where that is shared: the same
/// on every machine that has the same build. Errors: those of reading. Cost: linear in the file.
[[nodiscard]] Expected<std::string> program_fingerprint();

}  // namespace forestcoll::cli::batch
