// The schedules of a step of a job, each of a group in its part of the fabric.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/fabric.hpp"
#include "common/job/written.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/simulate.hpp"

namespace forestcoll::cli {

struct Console;

/// A group's schedule, in its part of the fabric.
struct ScheduleInPart {
  Topology part;
  std::string text, file;
};

/// What an algorithm makes of a group by itself, which all links are there for.
struct GroupAlgorithm {
  std::vector<std::string> names;  ///< of several, the fastest; none: all that there are
  std::int64_t bytes = 0;          ///< of the largest buffer of the step
  std::optional<Rank> root = {};   ///< within each group
  std::string target = LowerOptions().target;
};

class StepSchedules {
 public:
  StepSchedules() = default;
  StepSchedules(StepSchedules&&) = default;  // what `groups_` views stays where it is
  StepSchedules& operator=(StepSchedules&&) = default;
  StepSchedules(const StepSchedules&) = delete;
  StepSchedules& operator=(const StepSchedules&) = delete;
  ~StepSchedules() = default;

  /// Those that `synth` wrote. Errors: those of reading them.
  [[nodiscard]] static Expected<StepSchedules> read(const WrittenStep& step,
                                                    const ReadingOptions& options,
                                                    const Console& console);
  /// Those of a step of one operation.
  [[nodiscard]] static StepSchedules of(std::vector<ScheduleInPart> groups);
  /// Those of one algorithm for all operations, whatever counts they serve, with the runtime's own
  /// buffers. Errors: those of `GroupFabrics` and `fastest_schedule`, with the group. Cost: that
  /// of `fastest_schedule`, for each shape of a group.
  [[nodiscard]] static Expected<StepSchedules> by(const GroupAlgorithm& algorithm,
                                                  const WrittenStep& step, const Topology& whole,
                                                  const ChosenGpu& gpu);
  /// What a runtime has by itself, made for so many bytes of the largest buffer: rings of the
  /// members of each group alone, or direct sends of an all-to-all. All links are there for every
  /// group. None where some group has no such schedule: of collectives with a root and of unequal
  /// amounts, and where members reach each other only through other GPUs. Cost: that of
  /// `fastest_schedule`, for each shape of a group.
  [[nodiscard]] static std::optional<StepSchedules> of_runtime(const WrittenStep& step,
                                                               const LoadedTopology& fabric,
                                                               std::int64_t bytes);

  /// Of all operations, to be run at once.
  [[nodiscard]] Expected<Simulator> all(const Topology& whole) const;
  /// Of one operation: its groups at once, and sizes are of its own buffer.
  [[nodiscard]] Expected<Simulator> one(std::size_t operation, const Topology& whole) const;
  /// Of every group that is unlike those before it, while all others are idle.
  [[nodiscard]] Expected<std::vector<Simulator>> each_alone(const Topology& whole) const;

 private:
  using Made = std::map<std::string, std::string>;  // by operation and shape of the part
  Expected<void> add_made(const GroupAlgorithm& algorithm, const WrittenStep& step,
                          std::size_t operation, const Topology& whole, const ChosenGpu& gpu,
                          Made& made);
  void add(std::size_t operation, Topology part, std::string text, std::string file, double share);

  std::deque<Topology> parts_;
  std::deque<std::string> texts_, files_;
  std::vector<std::vector<GroupRun>> groups_;  // by operation
};

}  // namespace forestcoll::cli
