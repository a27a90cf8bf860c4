#include "batch/items/discovery.hpp"

#include <fmt/format.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "common/files/io.hpp"

namespace forestcoll::cli::batch {
namespace {

namespace fs = std::filesystem;
using Identity = std::pair<dev_t, ino_t>;

std::optional<Identity> identity_of(const std::string& path) {
  struct stat status = {};
  if (stat(path.c_str(), &status) != 0) return std::nullopt;
  return Identity(status.st_dev, status.st_ino);
}

Diagnostic cannot_read(const std::string& directory, const std::error_code& error) {
  return io_error(directory, "cannot read the directory: " + error.message(),
                  "make it readable, or leave it out with --exclude");
}

bool any_matches(const std::vector<std::string>& patterns, const std::string& path) {
  return std::ranges::any_of(patterns,
                             [&](const std::string& pattern) { return matches(pattern, path); });
}

std::string below(const std::string& directory, const std::string& name) {
  return directory.empty() ? name : directory + "/" + name;
}

class Walk {
 public:
  explicit Walk(const DiscoveryOptions& options) : options_(options) {
    if (const auto left_out = identity_of(options.left_out)) seen_.insert(*left_out);
  }

  Expected<std::vector<std::string>> run() {
    // Directories that are reached without links come first, so that a link to one of them does
    // not take its place.
    std::deque<std::string> links = {""};
    while (!links.empty()) {
      const std::string next = std::move(links.front());
      links.pop_front();
      if (const auto done = enter(next, links); !done) return done.errors();
    }
    std::ranges::sort(files_);
    return std::move(files_);
  }

 private:
  // Everything below `top` that is no link to a directory; these are added to `links`, in order.
  Expected<void> enter(const std::string& top, std::deque<std::string>& links) {
    std::vector<std::string> waiting = {top};
    std::vector<std::string> found_links;
    while (!waiting.empty()) {
      const std::string directory = std::move(waiting.back());
      waiting.pop_back();
      const auto identity = identity_of(path_in(options_.directory, directory));
      if (identity && !seen_.insert(*identity).second) continue;
      if (const auto done = read(directory, waiting, found_links); !done) return done.errors();
    }
    std::ranges::sort(found_links);
    links.insert(links.end(), found_links.begin(), found_links.end());
    return {};
  }

  Expected<void> read(const std::string& directory, std::vector<std::string>& directories,
                      std::vector<std::string>& links) {
    std::error_code error;
    std::vector<std::string> found;
    std::set<std::string> records;
    fs::directory_iterator entries(path_in(options_.directory, directory), error);
    for (; !error && entries != fs::directory_iterator(); entries.increment(error)) {
      const std::string name = entries->path().filename().string();
      if (name.starts_with('.')) {
        if (name.ends_with(".batch")) records.insert(name);
        continue;
      }
      std::string path = below(directory, name);
      std::error_code ignored;  // a link that leads nowhere is no directory, and a file
      if (!entries->is_directory(ignored)) {
        if (is_wanted(name, path)) found.push_back(name);
      } else if (!any_matches(options_.exclude, path)) {
        (entries->is_symlink(ignored) ? links : directories).push_back(std::move(path));
      }
    }
    if (error) return cannot_read(path_in(options_.directory, directory), error);
    for (const std::string& name : found) {
      if (!records.contains("." + name + ".batch")) files_.push_back(below(directory, name));
    }
    return {};
  }

  [[nodiscard]] bool is_wanted(const std::string& name, const std::string& path) const {
    if (name.ends_with(".schema.json")) return false;  // these lie beside what they describe
    if (!options_.all && !name.ends_with(".json")) return false;
    if (!options_.include.empty() && !any_matches(options_.include, path)) return false;
    return !any_matches(options_.exclude, path);
  }

  const DiscoveryOptions& options_;
  std::set<Identity> seen_;
  std::vector<std::string> files_;
};

}  // namespace

Expected<std::vector<std::string>> discover(const DiscoveryOptions& options) {
  return Walk(options).run();
}

bool matches(const std::string& pattern, const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const bool whole = pattern.find('/') != std::string::npos || slash == std::string::npos;
  const std::string text = whole ? path : path.substr(slash + 1);
  return fnmatch(pattern.c_str(), text.c_str(), 0) == 0;
}

std::string path_in(const std::string& directory, const std::string& relative) {
  std::string path = directory.starts_with('-') ? "./" + directory : directory;
  if (relative.empty()) return path;
  if (!path.ends_with('/')) path += '/';
  return path + relative;
}

}  // namespace forestcoll::cli::batch
