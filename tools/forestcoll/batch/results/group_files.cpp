#include "batch/results/group_files.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <regex>
#include <set>
#include <system_error>

#include "forestcoll/codes.hpp"

namespace forestcoll::cli::batch {
namespace {

namespace fs = std::filesystem;

// Whether `synth` of groups at once calls a file so: "job.json", "1/0-allreduce-3.topology.json".
bool is_name_of_job(const std::string& name) {
  static const std::regex written(
      R"(job\.json|([0-9]+/)?[0-9]+-[a-z_]+-[0-9]+\.(topology\.json|xml|json|dot|svg))");
  return std::regex_match(name, written);
}

// ".XXXXXX", where `write_files` begins, and a run may have ended.
constexpr std::size_t kStageName = 7;

// What an earlier run has written there, and folders that are empty then.
void remove_written(const std::string& directory) {
  std::error_code ignored;
  if (!fs::is_directory(directory, ignored)) return;
  std::set<fs::path> folders;
  for (const auto& entry : fs::directory_iterator(directory, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with('.') && name.size() == kStageName) fs::remove_all(entry.path(), ignored);
  }
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(directory, ignored)) {
    const fs::path name = entry.path().lexically_relative(directory);
    if (is_name_of_job(name.generic_string())) files.push_back(name);
  }
  for (const fs::path& name : files) {
    fs::remove(fs::path(directory) / name, ignored);
    if (name.has_parent_path()) folders.insert(name.parent_path());
  }
  for (const fs::path& folder : folders) fs::remove(fs::path(directory) / folder, ignored);
}

}  // namespace

Expected<void> replace_files(const std::string& directory, const std::vector<NamedText>& files) {
  remove_written(directory);
  if (auto done = refuse_directory(directory, "-o"); !done) {
    return make_error(Code::S04, fmt::format("{} has other files than those of a batch", directory),
                      "remove them, or name another directory with -o");
  }
  std::error_code ignored;  // so that what is left of a run that is killed lies within
  fs::create_directory(directory, ignored);
  return write_files(directory, files);
}

}  // namespace forestcoll::cli::batch
