#include "common/job/step_schedules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <span>
#include <utility>

#include "common/files/io.hpp"
#include "common/job/group_fabrics.hpp"
#include "common/job/group_parts.hpp"
#include "common/options/collective_option.hpp"
#include "common/report/progress_bar.hpp"
#include "forestcoll/fastest.hpp"
#include "forestcoll/job_parts.hpp"

namespace forestcoll::cli {
namespace {

// The fastest of an algorithm for a size, whatever counts it takes.
Expected<std::string> made_by(const GroupAlgorithm& algorithm, const Topology& part,
                              const ChosenGpu& gpu, Collective collective, std::int64_t bytes) {
  const auto fabric = make_fabric(part, gpu);
  if (!fabric) return fabric.errors();
  FastestOptions options;
  options.compile.synthesis.collective = collective;
  options.compile.synthesis.root = algorithm.root;
  if (is_for_plans_alone(collective)) options.compile.format = Format::mscclpp;
  options.compile.lowering.target = algorithm.target;
  if (is_personalized(collective)) options.compile.lowering.placement = Placement::out_of_place;
  options.compile.xml.max_bytes = bytes;
  options.sizes = {bytes};
  options.buffer_bytes = 0;
  options.counts = ServedCounts::any;
  options.algorithms = algorithm.names;
  auto made = fastest_schedule(*fabric, options);
  if (!made) return made.errors();
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

StepSchedules StepSchedules::of(std::vector<ScheduleInPart> groups) {
  StepSchedules schedules;
  for (ScheduleInPart& group : groups) {
    schedules.add(0, std::move(group.part), std::move(group.text), std::move(group.file), 1);
  }
  return schedules;
}

Expected<void> StepSchedules::add_made(const GroupAlgorithm& algorithm, const WrittenStep& step,
                                       std::size_t operation, const Topology& whole,
                                       const ChosenGpu& gpu, Made& made) {
  const WrittenOperation& of = step.operations[operation];
  const double own = std::round(static_cast<double>(algorithm.bytes) * of.share);
  const GroupFabrics fabrics(whole, false);
  for (std::size_t g = 0; g < of.schedules.size(); ++g) {
    const std::vector<Rank>& group = of.schedules[g].group;
    auto part = fabrics.of(group);
    if (!part) return in_group(part.errors().front(), g, group, "");
    part->limits.clear();  // algorithms of others do not know what links share; simulation does
    const auto [at, is_new] = made.try_emplace(fmt::format("{} {}", operation, shape_of(*part)));
    if (is_new) {
      auto text = made_by(algorithm, *part, gpu, *parse_collective(of.collective),
                          std::max<std::int64_t>(1, std::llround(own)));
      if (!text) return text.errors();
      at->second = *std::move(text);
    }
    add(operation, *std::move(part), at->second, of.name, of.share);
  }
  return {};
}

Expected<StepSchedules> StepSchedules::by(const GroupAlgorithm& algorithm, const WrittenStep& step,
                                          const Topology& whole, const ChosenGpu& gpu) {
  StepSchedules schedules;
  Made made;
  for (std::size_t i = 0; i < step.operations.size(); ++i) {
    if (auto done = schedules.add_made(algorithm, step, i, whole, gpu, made); !done) {
      return done.errors();
    }
  }
  return schedules;
}

std::optional<StepSchedules> StepSchedules::of_runtime(const WrittenStep& step,
                                                       const LoadedTopology& fabric,
                                                       std::int64_t bytes) {
  StepSchedules schedules;
  Made made;
  for (std::size_t i = 0; i < step.operations.size(); ++i) {
    const auto collective = parse_collective(step.operations[i].collective);
    const bool has_demand = step.operations[i].has_demand;
    if (!collective || is_rooted(*collective) || has_demand) return std::nullopt;
    const GroupAlgorithm own{{is_personalized(*collective) ? "direct" : "nccl-ring"}, bytes};
    if (!schedules.add_made(own, step, i, fabric.topology, fabric.gpu, made)) return std::nullopt;
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

Expected<std::vector<Simulator>> StepSchedules::each_alone(const Topology& whole) const {
  std::vector<Simulator> simulators;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    for (GroupRun group : groups_[i]) {
      if (!seen.insert(fmt::format("{} {}", i, shape_of(*group.part))).second) continue;
      group.share = 1;
      auto simulator = prepare_simulation(std::span(&group, 1), whole);
      if (!simulator) return simulator.errors();
      simulators.push_back(*std::move(simulator));
    }
  }
  return simulators;
}

}  // namespace forestcoll::cli
