// Options that name a file.
#pragma once

#include <string>

namespace forestcoll::cli {

/// A check for CLI11: an empty name, as of a variable of a shell that is not set, would read as no
/// option at all.
[[nodiscard]] inline std::string refuse_no_name(const std::string& path) {
  return path.empty() ? "expected the name of a file, found nothing [S03]" : "";
}

}  // namespace forestcoll::cli
