// Fingerprints of contents.
#pragma once

#include <string>
#include <string_view>

namespace forestcoll::cli::batch {

/// The same for the same bytes, on every machine: a UUID of version 5 (SHA-1) in a name space of
/// this project's own. Cost: linear.
[[nodiscard]] std::string content_hash(std::string_view bytes);

}  // namespace forestcoll::cli::batch
