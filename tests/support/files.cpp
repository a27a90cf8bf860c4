#include "support/files.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace forestcoll::test {

namespace fs = std::filesystem;

std::string source_path(const std::string& relative) {
  return fs::path(SOURCE_DIR) / relative;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<fs::path> json_files(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(source_path(folder))) {
    if (entry.path().extension() == ".json") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  EXPECT_FALSE(files.empty()) << folder;
  return files;
}

std::vector<std::string> bundled_names() {
  std::vector<std::string> names;
  // Solvers of one collective refuse capacities that links share.
  for (const fs::path& path : json_files("topologies")) {
    if (read_file(path).find("\"limits\"") == std::string::npos) names.push_back(path.stem());
  }
  return names;
}

std::vector<std::string> small_bundled_names() {
  return {"dgx-1-v100",   "dgx-a100-x1", "dgx-a100-x2", "dgx-a100-x2-degraded",
          "hypercube-16", "mi250-x1",    "torus-4x4"};
}

std::vector<std::string> large_bundled_names() {
  std::vector<std::string> names = bundled_names();
  for (const std::string& small : small_bundled_names()) std::erase(names, small);
  return names;
}

std::string bundled_path(const std::string& name) {
  return source_path("topologies/" + name + ".json");
}

std::string bundled_text(const std::string& name) {
  return read_file(bundled_path(name));
}

}  // namespace forestcoll::test
