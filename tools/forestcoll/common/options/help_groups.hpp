// The titles that options stand under in a command's help, by what people want of them.
#pragma once

#include <initializer_list>

namespace CLI {
class App;
}

namespace forestcoll::cli {

/// The title of the options that `--help` explains; of the others it lists the names.
inline constexpr const char* kCommonOptions = "Common options";

/// Puts the options of a command under titles: those in `common`, such as "--output", under
/// `kCommonOptions`, and of the others those that have no title yet, under that of their purpose.
/// REQUIRES: all options of the command were added, and it has those in `common`.
void group_options(CLI::App& command, std::initializer_list<const char*> common);

}  // namespace forestcoll::cli
