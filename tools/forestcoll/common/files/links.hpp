// Symbolic links.
#pragma once

#include <filesystem>

namespace forestcoll::cli {

/// What `path` leads to: links are followed, also to a file that is not there yet. The path as it
/// is where links lead nowhere.
[[nodiscard]] std::filesystem::path end_of_links(const std::filesystem::path& path);

}  // namespace forestcoll::cli
