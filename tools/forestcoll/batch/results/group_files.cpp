#include "batch/results/group_files.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <filesystem>
#include <regex>
#include <set>
#include <system_error>
#include <vector>

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

bool is_stage(const std::string& name) {
  return name.starts_with('.') && name.size() == kStageName;
}

// The names in a directory, of what a run has written or left there and of what it has not.
struct Names {
  std::vector<fs::path> written, stages, others;
};

Names names_in(const std::string& directory) {
  Names names;
  std::error_code error;
  for (auto at = fs::recursive_directory_iterator(directory, error);
       !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    const fs::path name = at->path().lexically_relative(directory);
    if (at->is_directory(error)) {
      if (!is_stage(name.string())) continue;
      names.stages.push_back(name);
      at.disable_recursion_pending();
    } else {
      (is_name_of_job(name.generic_string()) ? names.written : names.others).push_back(name);
    }
  }
  return names;
}

}  // namespace

Expected<void> replace_files(const std::string& directory, const std::vector<NamedText>& files) {
  const Names names = names_in(directory);
  if (!names.others.empty()) {
    return make_error(Code::S04,
                      fmt::format("{} has other files than those of a batch: {}", directory,
                                  names.others.front().string()),
                      "remove them, or name another directory with -o");
  }
  std::error_code ignored;
  std::set<fs::path> folders;
  for (const fs::path& name : names.stages) fs::remove_all(fs::path(directory) / name, ignored);
  for (const fs::path& name : names.written) {
    fs::remove(fs::path(directory) / name, ignored);
    if (name.has_parent_path()) folders.insert(name.parent_path());
  }
  for (const fs::path& folder : folders) fs::remove(fs::path(directory) / folder, ignored);
  // So that what is left of a run that is killed lies within.
  fs::create_directory(directory, ignored);
  return write_files(directory, files);
}

}  // namespace forestcoll::cli::batch
