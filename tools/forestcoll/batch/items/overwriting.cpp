#include "batch/items/overwriting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "batch/items/discovery.hpp"
#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli::batch {
namespace {

namespace fs = std::filesystem;

// Where a file is or will be: what is there of its path, without links.
fs::path place_of(const std::string& path) {
  std::error_code error;
  fs::path place = fs::weakly_canonical(path, error);
  return error ? fs::absolute(path, error).lexically_normal() : place;
}

bool is_file(const std::string& path) {
  return !path.empty() && path != "-";
}

std::set<fs::path> places_of(const std::vector<std::string>& paths) {
  std::set<fs::path> places;
  for (const std::string& path : paths) {
    if (is_file(path)) places.insert(place_of(path));
  }
  return places;
}

// Names that reports, also those of other shards, and locks have.
bool is_reserved(const fs::path& name) {
  const std::string text = name.string();
  return text.starts_with("report.") || text.starts_with(".forestcoll-");
}

class Check {
 public:
  explicit Check(const FilesOfBatch& files)
      : files_(files),
        inputs_(places_of(files.inputs)),
        outputs_(places_of(files.outputs)),
        directory_(place_of(path_in(files.directory, ""))) {
    if (is_file(files.baseline)) baseline_ = place_of(files.baseline);
  }

  [[nodiscard]] Expected<void> run() const {
    if (const auto done = refuse_junit(); !done) return done.errors();
    for (const char* extension : {".json", ".md", ".csv"}) {
      if (const auto done = refuse_report(files_.report + extension); !done) return done.errors();
    }
    for (const std::string& output : files_.outputs) {
      const fs::path place = place_of(output);
      if (!inputs_.contains(place) && !is_baseline(place)) continue;
      return make_error(Code::S04, fmt::format("{} is an input, and an output goes there", output),
                        "name another directory with -o");
    }
    return {};
  }

 private:
  [[nodiscard]] bool is_baseline(const fs::path& place) const {
    return baseline_ && place == *baseline_;
  }

  [[nodiscard]] Expected<void> refuse_junit() const {
    if (!is_file(files_.junit)) return {};
    const fs::path place = place_of(files_.junit);
    const char* what = nullptr;
    if (inputs_.contains(place)) what = "an input";
    if (outputs_.contains(place)) what = "an output";
    if (is_baseline(place)) what = "the baseline";
    if (place.parent_path() == directory_ && is_reserved(place.filename())) what = "a report";
    if (what == nullptr) return {};
    return make_error(Code::S04, fmt::format("--junit: {} is {} of this batch", files_.junit, what),
                      "write it to another file");
  }

  [[nodiscard]] Expected<void> refuse_report(const std::string& name) const {
    const std::string path = path_in(files_.directory, name);
    const fs::path place = place_of(path);
    // Outputs of a topology of that name make it a directory.
    const bool in_the_way = std::ranges::any_of(outputs_, [&](const fs::path& output) {
      return output.string().starts_with(place.string() + "/");
    });
    if (!in_the_way && !inputs_.contains(place)) return {};
    return make_error(Code::S04,
                      fmt::format("{} is {}, and the report goes there", path,
                                  in_the_way ? "where outputs go" : "an input"),
                      in_the_way ? "rename the topology, or leave it out with --exclude"
                                 : "name another directory with -o");
  }

  const FilesOfBatch& files_;
  std::set<fs::path> inputs_, outputs_;
  fs::path directory_;
  std::optional<fs::path> baseline_;
};

}  // namespace

Expected<void> refuse_overwriting(const FilesOfBatch& files) {
  return Check(files).run();
}

}  // namespace forestcoll::cli::batch
