#include "common/job/written.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "common/files/io.hpp"
#include "common/report/report.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::cli {
namespace {

constexpr std::string_view kJobFormat = "forestcoll-job";
constexpr std::size_t kHead = 4096;  // bytes, among which a file says what it is
constexpr std::int64_t kMostRanks = std::int64_t{1} << 31;
constexpr double kMostShare = 1 + 1e-9;  // of the largest buffer

// What is wrong with a document that reads well.
struct Wrong {
  std::string what;
};

void require(bool holds, const std::string& what) {
  if (!holds) throw Wrong{what};
}

// These throw `Wrong`, or what nlohmann_json throws where the document is another one.

std::int64_t whole(const Json& number, const char* what) {
  require(number.is_number_integer(), fmt::format("{} is no whole number", what));
  return number.get<std::int64_t>();
}

double positive(const Json& number, const char* what) {
  const double value = number.get<double>();
  require(std::isfinite(value) && value > 0, fmt::format("{} is no number above 0", what));
  return value;
}

std::vector<Rank> ranks_in(const Json& group) {
  std::vector<Rank> ranks;
  for (const Json& rank : group) {
    const std::int64_t number = whole(rank, "a rank");
    require(number >= 0 && number < kMostRanks, fmt::format("there is no rank {}", number));
    ranks.emplace_back(static_cast<std::size_t>(number));
  }
  return ranks;
}

// Bytes that a member sends on the average.
std::int64_t bytes_of(const Json& demand) {
  std::int64_t total = 0;
  for (const Json& row : demand) {
    for (const Json& amount : row) total += whole(amount, "an amount");
  }
  return std::max<std::int64_t>(1, total / std::max<std::int64_t>(1, std::ssize(demand)));
}

// One for each group of two and more.
std::vector<WrittenSchedule> schedules_in(const Json& operation,
                                          const std::filesystem::path& folder) {
  const std::string name = operation.at("name").get<std::string>();
  const Json& groups = operation.at("groups");
  std::vector<bool> has(groups.size(), false);
  std::vector<WrittenSchedule> schedules;
  for (const Json& schedule : operation.at("schedules")) {
    const std::int64_t number = whole(schedule.at("group"), "a group");
    require(number >= 0 && number < std::ssize(groups),
            fmt::format("there is no group {}", number));
    const auto group = static_cast<std::size_t>(number);
    require(!has[group], fmt::format("{}: group {} has two schedules", name, number));
    has[group] = true;
    const auto beside = [&](const char* key) {
      return (folder / schedule.at(key).get<std::string>()).string();
    };
    schedules.push_back({ranks_in(groups[group]), beside("file"), beside("part")});
  }
  for (std::size_t g = 0; g < groups.size(); ++g) {
    require(has[g] || groups[g].size() < 2, fmt::format("{}: group {} has no schedule", name, g));
  }
  require(!schedules.empty(), fmt::format("{}: there is no schedule", name));
  return schedules;
}

WrittenOperation operation_in(const Json& json, double rate_of_step,
                              const std::filesystem::path& folder) {
  WrittenOperation operation{json.at("name").get<std::string>(),
                             json.at("collective").get<std::string>(),
                             positive(json.at("rate").at("value"), "a rate") / rate_of_step,
                             json.contains("demand"),
                             std::nullopt,
                             schedules_in(json, folder)};
  require(operation.share <= kMostShare,
          fmt::format("{}: its rate is above that of the step", operation.name));
  if (json.contains("weight")) operation.weight = whole(json["weight"], "a weight");
  require(operation.weight > 0, fmt::format("{}: a weight is no number above 0", operation.name));
  if (json.contains("bytes")) operation.bytes = whole(json["bytes"], "bytes");
  if (json.contains("demand")) operation.bytes = bytes_of(json["demand"]);
  require(operation.bytes.value_or(1) > 0, fmt::format("{}: it has no bytes", operation.name));
  return operation;
}

// Rates are of buffers times weights. Without these, a buffer beside the largest, and the rate at
// which that one would be done with the last operation.
void take_weights_out(WrittenStep& step) {
  double largest = 0;
  std::int64_t least = step.operations.front().weight;
  for (WrittenOperation& operation : step.operations) {
    operation.share /= static_cast<double>(operation.weight);
    largest = std::max(largest, operation.share);
    least = std::min(least, operation.weight);
  }
  for (WrittenOperation& operation : step.operations) operation.share /= largest;
  step.rate *= largest * static_cast<double>(least);
}

std::vector<WrittenStep> steps_in(const Json& json, const std::filesystem::path& folder) {
  require(whole(json.at("version"), "the version") == 1, "it is of another version");
  std::vector<WrittenStep> steps;
  for (const Json& step : json.at("steps")) {
    steps.push_back({step.at("name").get<std::string>(),
                     whole(step.at("repeat"), "`repeat`"),
                     positive(step.at("rate").at("value"), "a rate"),
                     {}});
    for (const Json& operation : step.at("operations")) {
      steps.back().operations.push_back(operation_in(operation, steps.back().rate, folder));
    }
    require(!steps.back().operations.empty(),
            fmt::format("{}: there is no operation", steps.back().name));
    const bool has_weights = std::ranges::any_of(
        steps.back().operations, [](const auto& operation) { return operation.weight != 1; });
    steps.back().has_weights = has_weights;
    if (!has_weights) steps.back().exact_rate = step["rate"].value("exact", std::string());
    take_weights_out(steps.back());
  }
  require(!steps.empty(), "there is no step");
  return steps;
}

}  // namespace

bool is_job_report(std::string_view text) {
  if (text.substr(0, kHead).find(kJobFormat) == std::string_view::npos) return false;
  const Json json = Json::parse(text, nullptr, false);
  return json.is_object() && json.contains("format") && json["format"] == kJobFormat;
}

Expected<std::vector<WrittenStep>> read_written_job(std::string_view text,
                                                    const std::string& path) {
  std::string what = "the files that it names lie beside it, and it comes by a pipe";
  if (path != "-") {
    try {
      return steps_in(Json::parse(text), std::filesystem::path(path).parent_path());
    } catch (const Wrong& wrong) {
      what = wrong.what;
    } catch (const Json::exception&) {
      what = "it is no report of schedules, but perhaps a job that synth can make them of";
    }
  }
  return make_error(Code::O01, what, "name the job.json that synth wrote beside the schedules",
                    {.file = display_name(path)});
}

}  // namespace forestcoll::cli
