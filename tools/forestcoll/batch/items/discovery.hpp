// Which files of a directory are topologies, by their names.
#pragma once

#include <string>
#include <vector>

#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli::batch {

struct DiscoveryOptions {
  std::string directory;
  std::string left_out;                       ///< a directory that is not looked into; may be empty
  bool all = false;                           ///< not *.json alone
  std::vector<std::string> include, exclude;  ///< see `matches`
};

/// Paths relative to `directory`, sorted by their bytes. Links to directories are followed; each
/// directory is entered once, by its own path if it has one there, so that circles end. Hidden
/// files and directories, JSON Schemas (*.schema.json), and what a batch made (a file NAME beside
/// its record .NAME.batch), are left out. Errors (ErrorKind::io): a directory that cannot be read.
[[nodiscard]] Expected<std::vector<std::string>> discover(const DiscoveryOptions& options);

/// A pattern with a "/" is for the whole relative path, one without for its last part. `*`, `?` and
/// `[…]` as in fnmatch(3); they match "/" as well.
[[nodiscard]] bool matches(const std::string& pattern, const std::string& path);

/// `directory` and `relative`, in a form that no command takes for an option.
[[nodiscard]] std::string path_in(const std::string& directory, const std::string& relative);

}  // namespace forestcoll::cli::batch
