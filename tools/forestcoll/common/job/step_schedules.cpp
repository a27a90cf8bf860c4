#include "common/job/step_schedules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "common/files/io.hpp"
#include "common/job/group_parts.hpp"
#include "common/report/progress_bar.hpp"
#include "forestcoll/fastest.hpp"
#include "forestcoll/job_parts.hpp"

namespace forestcoll::cli {
namespace {

// What a runtime has by itself for a size, whatever counts it takes.
std::optional<std::string> made_by_runtime(const Topology& part, const ChosenGpu& gpu,
                                           Collective collective, std::int64_t bytes) {
  const auto fabric = make_fabric(part, gpu);
  if (!fabric) return std::nullopt;
  FastestOptions options;
  options.compile.synthesis.collective = collective;
  options.compile.xml.max_bytes = bytes;
  options.sizes = {bytes};
  options.buffer_bytes = 0;
  options.counts = ServedCounts::any;
  options.algorithms = {is_personalized(collective) ? "direct" : "nccl-ring"};
  auto made = fastest_schedule(*fabric, options);
  if (!made) return std::nullopt;
  return std::move(made->compilation.text);
}

}  // namespace

void StepSchedules::add(std::size_t operation, Topology part, std::string text, std::string file,
                        double share) {
  parts_.push_back(std::move(part));
  texts_.push_back(std::move(text));
  files_.push_back(std::move(file));
  groups_.resize(std::max(groups_.size(), operation + 1));
  groups_[operation].push_back({texts_.back(), files_.back(), &parts_.back(), share});
}

Expected<StepSchedules> StepSchedules::read(const WrittenStep& step, const ReadingOptions& options,
                                            const Console& console) {
  const ProgressBar bar("checking", console);
  const auto reading = reading_of(options);
  if (!reading) return reading.errors();
  StepSchedules schedules;
  for (std::size_t i = 0; i < step.operations.size(); ++i) {
    for (const WrittenSchedule& schedule : step.operations[i].schedules) {
      auto part = read_topology(schedule.part, *reading, console);
      if (!part) return part.errors();
      auto text = read_input(schedule.file);
      if (!text) return text.errors();
      schedules.add(i, std::move(part->topology), *std::move(text), schedule.file,
                    step.operations[i].share);
    }
  }
  return schedules;
}

StepSchedules StepSchedules::same(const std::string& text, const std::string& file,
                                  std::vector<Topology> parts) {
  StepSchedules schedules;
  for (Topology& part : parts) schedules.add(0, std::move(part), text, file, 1);
  return schedules;
}

std::optional<StepSchedules> StepSchedules::of_runtime(const WrittenStep& step,
                                                       const LoadedTopology& fabric,
                                                       std::int64_t bytes) {
  StepSchedules schedules;
  std::map<std::string, std::optional<std::string>> known;  // by shape of the part
  for (std::size_t i = 0; i < step.operations.size(); ++i) {
    const WrittenOperation& operation = step.operations[i];
    const auto collective = parse_collective(operation.collective);
    if (!collective || is_rooted(*collective) || operation.has_demand) return std::nullopt;
    const double own = std::round(static_cast<double>(bytes) * operation.share);
    for (const WrittenSchedule& schedule : operation.schedules) {
      auto part = fabric_of_group(fabric.topology, schedule.group, false);
      if (!part) return std::nullopt;
      const auto [at, is_new] = known.try_emplace(fmt::format("{} {}", i, shape_of(*part)));
      if (is_new) {
        at->second = made_by_runtime(*part, fabric.gpu, *collective,
                                     std::max<std::int64_t>(1, std::llround(own)));
      }
      if (!at->second) return std::nullopt;
      schedules.add(i, *std::move(part), *at->second, operation.name, operation.share);
    }
  }
  return schedules;
}

Expected<Simulator> StepSchedules::all(const Topology& whole) const {
  std::vector<GroupRun> groups;
  for (const auto& of_one : groups_) groups.insert(groups.end(), of_one.begin(), of_one.end());
  return prepare_simulation(groups, whole);
}

Expected<Simulator> StepSchedules::one(std::size_t operation, const Topology& whole) const {
  std::vector<GroupRun> groups = groups_[operation];
  for (GroupRun& group : groups) group.share = 1;
  return prepare_simulation(groups, whole);
}

}  // namespace forestcoll::cli
