// Several files that are written into a directory of their own, all of them or none.
#pragma once

#include <string>
#include <vector>

#include "forestcoll/diagnostic.hpp"

namespace forestcoll::cli {

/// The name may lead into a folder, which is made: "plans/allreduce.json".
struct NamedText {
  std::string name, text;
};

/// Why files cannot go there: S04 where `directory` is a file, or a directory with something in it
/// (which a runtime or a simulator would take as well). `option` is what named it.
[[nodiscard]] Expected<void> refuse_directory(const std::string& directory,
                                              const std::string& option);

/// Writes the files into `directory`, which is empty (a link to such a directory is followed) or
/// not there yet; then it appears with all of its files at once. Nothing is removed but what this
/// call has made. Errors, ErrorKind::io: it cannot be made or written; nothing is left behind.
[[nodiscard]] Expected<void> write_files(const std::string& directory,
                                         const std::vector<NamedText>& files);

}  // namespace forestcoll::cli
