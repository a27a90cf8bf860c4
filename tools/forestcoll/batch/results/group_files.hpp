// The directory of schedules that a batch writes for groups at once.
#pragma once

#include <string>
#include <vector>

#include "common/files/file_set.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli::batch {

/// Writes files into a directory of outputs, as `write_files` does, in place of those that an
/// earlier run has written there. Errors: S04 where it has other files, those of writing.
[[nodiscard]] Expected<void> replace_files(const std::string& directory,
                                           const std::vector<NamedText>& files);

}  // namespace forestcoll::cli::batch
