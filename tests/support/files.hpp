// The files of the repository that tests read.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace forestcoll::test {

/// The path of a file of the repository, of which `relative` is the path in it.
std::string source_path(const std::string& relative);

/// The bytes of a file. Fails the test where it cannot be read.
std::string read_file(const std::filesystem::path& path);

/// The JSON files of a folder of the repository, by name. Fails the test where there is none.
std::vector<std::filesystem::path> json_files(const std::string& folder);

/// The names of the bundled topologies, sorted, and the path and the text of one.
std::vector<std::string> bundled_names();
std::vector<std::string> small_bundled_names();  ///< of them, with up to 16 GPUs that are alike
std::vector<std::string> large_bundled_names();  ///< the others
std::string bundled_path(const std::string& name);
std::string bundled_text(const std::string& name);

}  // namespace forestcoll::test
