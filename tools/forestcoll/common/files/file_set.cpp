// Files are written into a fresh directory under a name that nothing else has. A new directory is
// that one, renamed; into one that is there already, the files are moved one by one.
#include "common/files/file_set.hpp"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "common/files/io.hpp"
#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli {
namespace {

namespace fs = std::filesystem;

Diagnostic cannot_make(const fs::path& directory, const std::error_code& error) {
  return io_error(directory.string(), "cannot make the directory: " + error.message(),
                  "choose a place where you may write");
}

/// A directory that did not exist before, and that is gone again at the end unless it was kept.
class Stage {
 public:
  explicit Stage(std::string pattern) : path_(std::move(pattern)) {
    if (mkdtemp(path_.data()) == nullptr) {
      error_ = {errno, std::generic_category()};
      return;
    }
    made_ = true;
    const mode_t mask = umask(0);
    umask(mask);
    chmod(path_.c_str(), static_cast<mode_t>(0777) & ~mask);
  }
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;
  ~Stage() {
    std::error_code ignored;
    if (made_) fs::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::error_code& error() const { return error_; }
  [[nodiscard]] fs::path path() const { return path_; }

  [[nodiscard]] std::error_code rename_to(const fs::path& directory) {
    std::error_code error;
    fs::rename(path_, directory, error);
    if (!error) made_ = false;
    return error;
  }

 private:
  std::string path_;
  std::error_code error_;
  bool made_ = false;
};

// Files and folders as they stand in `from`; all of them or none.
std::error_code move_all(const fs::path& from, const fs::path& to) {
  std::error_code error, ignored;
  std::vector<fs::path> names;
  for (const auto& entry : fs::directory_iterator(from, error)) {
    names.push_back(entry.path().filename());
  }
  for (std::size_t i = 0; i < names.size() && !error; ++i) {
    fs::rename(from / names[i], to / names[i], error);
    for (std::size_t moved = 0; error && moved < i; ++moved) {
      fs::remove_all(to / names[moved], ignored);
    }
  }
  return error;
}

}  // namespace

Expected<void> refuse_directory(const std::string& directory, const std::string& option) {
  std::error_code error;
  if (!fs::exists(directory, error)) return {};
  if (!fs::is_directory(directory, error)) {
    return make_error(Code::S04, fmt::format("{}: {} is no directory", option, directory),
                      "several files are written: name a directory that is empty or not there");
  }
  if (!fs::is_empty(directory, error)) {
    return make_error(
        Code::S04, fmt::format("{}: the directory {} is not empty", option, directory),
        "a runtime loads all files of the directory: name one that is empty or absent");
  }
  return {};
}

Expected<void> write_files(const std::string& directory, const std::vector<NamedText>& files) {
  const fs::path named(directory);
  const fs::path target = named.has_filename() ? named : named.parent_path();
  std::error_code error;
  const bool exists = fs::is_directory(target, error);
  if (!exists && target.has_parent_path()) {
    fs::create_directories(target.parent_path(), error);
    if (error) return cannot_make(target.parent_path(), error);
  }
  Stage stage(exists ? (target / ".XXXXXX").string() : target.string() + ".XXXXXX");
  if (stage.error()) return cannot_make(target, stage.error());
  for (const NamedText& file : files) {
    const fs::path path = stage.path() / file.name;
    fs::create_directories(path.parent_path(), error);
    if (error) return cannot_make(path.parent_path(), error);
    if (const auto done = write_output(path.string(), file.text); !done) return done.errors();
  }
  error = exists ? move_all(stage.path(), target) : stage.rename_to(target);
  if (error) return cannot_make(target, error);
  return {};
}

}  // namespace forestcoll::cli
