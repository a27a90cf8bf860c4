// The files that a command line names: none may be written over another.
#pragma once

#include <string>
#include <vector>

#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli {

/// A file as the command line names it, and what named it: "topology file", "--svg".
struct NamedFile {
  std::string role;
  std::string path;  ///< "-" is a standard stream; empty: not asked for
};

/// S04 where an output is one of the inputs, where two outputs are one file or both standard
/// output, or where two inputs are standard input. Files are compared by what they are (device and
/// inode, so links and redirections count), those that do not exist yet by where they would be
/// made. Terminals and other character devices may be named twice. Call it before anything is
/// computed; nothing is opened.
[[nodiscard]] Expected<void> refuse_clashes(const std::vector<NamedFile>& inputs,
                                            const std::vector<NamedFile>& outputs);

}  // namespace forestcoll::cli
