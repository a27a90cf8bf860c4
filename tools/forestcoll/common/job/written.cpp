#include "common/job/written.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <utility>

#include "common/files/io.hpp"
#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::string_view kJobFormat = "forestcoll-job";

std::vector<Rank> ranks_in(const Json& group) {
  std::vector<Rank> ranks;
  for (const Json& rank : group) ranks.emplace_back(rank.get<std::size_t>());
  return ranks;
}

// These throw what nlohmann_json throws where the document is another one.

WrittenOperation operation_in(const Json& json, double rate_of_step,
                              const std::filesystem::path& folder) {
  WrittenOperation operation{json.at("name").get<std::string>(),
                             json.at("collective").get<std::string>(),
                             json.at("rate").at("value").get<double>() / rate_of_step,
                             std::nullopt,
                             {}};
  if (json.contains("bytes")) operation.bytes = json["bytes"].get<std::int64_t>();
  for (const Json& schedule : json.at("schedules")) {
    const Json& group = json.at("groups").at(schedule.at("group").get<std::size_t>());
    const auto beside = [&](const char* key) {
      return (folder / schedule.at(key).get<std::string>()).string();
    };
    operation.schedules.push_back({ranks_in(group), beside("file"), beside("part")});
  }
  return operation;
}

std::vector<WrittenStep> steps_in(const Json& json, const std::filesystem::path& folder) {
  std::vector<WrittenStep> steps;
  for (const Json& step : json.at("steps")) {
    steps.push_back({step.at("name").get<std::string>(),
                     step.at("repeat").get<std::int64_t>(),
                     step.at("rate").at("value").get<double>(),
                     {}});
    for (const Json& operation : step.at("operations")) {
      steps.back().operations.push_back(operation_in(operation, steps.back().rate, folder));
    }
  }
  return steps;
}

}  // namespace

bool is_job_report(std::string_view text) {
  if (text.find(kJobFormat) == std::string_view::npos) return false;
  const Json json = Json::parse(text, nullptr, false);
  return json.is_object() && json.contains("format") && json["format"] == kJobFormat;
}

Expected<std::vector<WrittenStep>> read_written_job(std::string_view text,
                                                    const std::string& path) {
  std::string what = "it names no steps";
  try {
    auto steps = steps_in(Json::parse(text), std::filesystem::path(path).parent_path());
    if (!steps.empty()) return steps;
  } catch (const Json::exception& error) {
    what = fmt::format("it names no schedules of process groups: {}", error.what());
  }
  Diagnostic error =
      make_error(Code::O01, what, "give the job.json that synth wrote beside the schedules");
  error.file = display_name(path);
  return error;
}

}  // namespace forestcoll::cli
