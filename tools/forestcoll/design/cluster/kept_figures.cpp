#include "design/cluster/kept_figures.hpp"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>
#include <utility>

#include "common/files/io.hpp"
#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"
#include "forestcoll/version.hpp"

namespace forestcoll::cli {
namespace {

// All that the figures depend on.
std::string key_of(const ClusterShape& shape) {
  return fmt::format("{}x {}, {}", shape.boxes, shape.box, in_words(shape));
}

std::optional<Ratio> read_ratio(const Json& json, const char* name) {
  const Json value = json.value(name, Json());
  return value.is_string() ? parse_ratio(value.get<std::string>()) : std::nullopt;
}

}  // namespace

std::string KeptFigures::path_of(const ClusterShape& shape) const {
  std::string name;
  for (const char c : key_of(shape)) {
    const bool plain = std::isalnum(static_cast<unsigned char>(c)) != 0;
    if (plain || name.empty() || name.back() != '-') name += plain ? c : '-';
  }
  return directory_ + "/" + name + ".json";
}

Expected<std::optional<ClusterFigures>> KeptFigures::find(const ClusterShape& shape) const {
  const std::string path = path_of(shape);
  if (directory_.empty() || !std::filesystem::exists(path)) return std::optional<ClusterFigures>();
  const auto text = read_input(path);
  if (!text) return text.errors();
  const Json json = Json::parse(*text, nullptr, false);
  const bool is_ours = json.is_object() && json.value("format", Json()) == "forestcoll-cluster";
  if (is_ours && json.value("program", Json()) != std::string(kVersion)) {
    return std::optional<ClusterFigures>();
  }
  const Diagnostic unreadable =
      make_error(Code::K05, "these are no kept figures of this cluster",
                 "Remove the file, or name another directory.", {.file = path});
  if (!is_ours || json.value("cluster", Json()) != key_of(shape)) return unreadable;
  const auto allgather = read_ratio(json, "allgather"), allreduce = read_ratio(json, "allreduce");
  const auto least = read_ratio(json, "alltoall_least"), most = read_ratio(json, "alltoall_most");
  const auto left = read_ratio(json, "after_failure");
  const Json failed = json.value("failed", Json());
  if (!allgather || !allreduce || !least || !most || !left || !failed.is_string()) {
    return unreadable;
  }
  return std::optional(ClusterFigures{*allgather, *allreduce, {*least, *most}, *left, failed});
}

Expected<void> KeptFigures::keep(const ClusterShape& shape, const ClusterFigures& figures) const {
  if (directory_.empty()) return {};
  std::error_code problem;
  std::filesystem::create_directories(directory_, problem);
  const Json json = {{"format", "forestcoll-cluster"},
                     {"program", std::string(kVersion)},
                     {"cluster", key_of(shape)},
                     {"allgather", figures.allgather.to_string()},
                     {"allreduce", figures.allreduce.to_string()},
                     {"alltoall_least", figures.alltoall.least.to_string()},
                     {"alltoall_most", figures.alltoall.most.to_string()},
                     {"after_failure", figures.after_failure.to_string()},
                     {"failed", figures.failed}};
  return write_output(path_of(shape), to_text(json), false);
}

}  // namespace forestcoll::cli
