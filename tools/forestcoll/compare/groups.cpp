#include "compare/groups.hpp"

#include <algorithm>
#include <utility>

#include "common/host.hpp"
#include "common/job/group_fabrics.hpp"
#include "common/job/step_schedules.hpp"
#include "common/report/progress_bar.hpp"
#include "common/synthesis/groups/job_groups.hpp"
#include "common/synthesis/groups/joint_plan.hpp"
#include "common/synthesis/request/options.hpp"
#include "compare/comparison.hpp"
#include "forestcoll/baseline.hpp"
#include "forestcoll/joint_plan.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll::cli {
namespace {

std::string title_of(const std::string& algorithm) {
  if (algorithm == kOurs) return "ForestColl, this program, groups share out the links";
  if (algorithm == kOursAlone) return "ForestColl, this program, each group for itself";
  if (algorithm == kOursInOnePlan) return "ForestColl, this program, one plan of all groups";
  const BaselineInfo* info = find_baseline(algorithm);
  if (info == nullptr) info = find_alltoall_baseline(algorithm);
  if (info != nullptr) return std::string(info->title);
  const ExchangeInfo* exchange = find_exchange(algorithm);
  return exchange != nullptr ? std::string(exchange->title) : algorithm;
}

// What makes the rows of a comparison, which has these things in common.
class GroupsComparer {
 public:
  GroupsComparer(const Fabric& fabric, const GroupsRequest& request, MadeStep divided,
                 const Console& console)
      : fabric_(fabric), request_(request), divided_(std::move(divided)), console_(console) {
    silent_.quiet = true;
    silent_.findings = &findings_;
    const JobOperation& operation = request.operation;
    WrittenOperation written;
    written.name = operation.name;
    written.collective = to_string(operation.collective);
    for (const auto& group : operation.groups) {
      if (group.size() > 1) written.schedules.push_back({group, "", ""});
    }
    step_.operations.push_back(std::move(written));
  }

  // Adds a row, and shows all that is known at every size.
  void add_row(const std::string& algorithm, std::vector<GroupsRow>& rows, ProgressBar& bar) {
    GroupsRow& row = rows.emplace_back();
    row.algorithm = algorithm;
    row.title = title_of(algorithm);
    for (const std::int64_t bytes : request_.sizes) {
      auto time = time_of(algorithm, bytes);
      bar.update(static_cast<double>(++done_) / static_cast<double>(count()));
      if (!time) {
        row.error = why_not(algorithm).value_or(time.errors().front());
        row.times.clear();
        break;
      }
      row.times.push_back(*time);
      bar.show(lines_of(rates_by_size(rows, request_.sizes, false), 1, 0));
    }
  }

 private:
  [[nodiscard]] std::size_t count() const {
    return (request_.algorithms.size()) * std::max<std::size_t>(1, request_.sizes.size());
  }

  // Why an algorithm of others does not exist, of the first group that has it not.
  [[nodiscard]] std::optional<Diagnostic> why_not(const std::string& algorithm) const {
    if (find_baseline(algorithm) == nullptr) return std::nullopt;
    std::optional<Rank> root;
    if (request_.operation.root) root = Rank(*request_.operation.root);
    const GroupFabrics fabrics(fabric_.topology, false);
    for (const WrittenSchedule& each : step_.operations.front().schedules) {
      const auto part = fabrics.of(each.group);
      if (!part) continue;
      const auto network = to_digraph(*part);
      if (!network) continue;
      const auto made =
          make_baseline(algorithm, *part, *network, request_.operation.collective, root, {});
      if (!made) return made.errors().front();
    }
    return std::nullopt;
  }

  Expected<GroupsTime> time_of(const std::string& algorithm, std::int64_t bytes) {
    const auto schedules = schedules_of(algorithm, bytes);
    if (!schedules) return schedules.errors();
    const auto all = schedules->all(fabric_.topology);
    if (!all) return all.errors();
    const auto seconds = seconds_of(*all, bytes);
    if (!seconds) return seconds.errors();
    GroupsTime time{bytes, *seconds};
    if (algorithm == kOursInOnePlan) return time;
    const auto each = schedules->each_alone(fabric_.topology);
    if (!each) return each.errors();
    double slowest = 0;
    for (const Simulator& one : *each) {
      const auto alone = seconds_of(one, bytes);
      if (!alone) return alone.errors();
      slowest = std::max(slowest, *alone);
    }
    time.alone = slowest;
    return time;
  }

  [[nodiscard]] Expected<double> seconds_of(const Simulator& simulator, std::int64_t bytes) const {
    SimulationOptions options;
    options.threads = request_.threads;
    options.stop = stop_of_host();
    const auto simulation = simulator.run({bytes}, request_.parameters, options);
    if (!simulation) return simulation.errors();
    return simulation->times.front().seconds;
  }

  Expected<StepSchedules> schedules_of(const std::string& algorithm, std::int64_t bytes) {
    if (algorithm == kOurs) return ours(bytes);
    if (algorithm == kOursInOnePlan) return one_plan();
    GroupAlgorithm by;
    by.bytes = bytes;
    if (algorithm != kOursAlone) by.names = {algorithm};
    if (request_.operation.root) by.root = Rank(*request_.operation.root);
    if (!request_.target.empty()) by.target = request_.target;
    return StepSchedules::by(by, step_, fabric_.topology, fabric_.gpu);
  }

  [[nodiscard]] SynthArguments arguments() const {
    SynthArguments arguments;
    arguments.collective = to_string(request_.operation.collective);
    return arguments;
  }

  // As `synth` makes them of groups with so many bytes. Nobody relays.
  Expected<StepSchedules> ours(std::int64_t bytes) {
    SynthArguments asked = arguments();
    asked.target =
        request_.target.empty() ? default_target(request_.operation.collective) : request_.target;
    asked.target_given = !request_.target.empty();
    const auto formatted = with_format(std::move(asked));
    if (!formatted) return formatted.errors();
    JobStep step{"", 1, {request_.operation}};
    auto divided = request_.relays ? divide(step, fabric_, false, silent_) : Expected(divided_);
    if (!divided) return divided.errors();
    step.operations.front().bytes = bytes;
    std::vector<MadeGroup>& groups = divided->groups;
    findings_.clear();
    const ExitCode code = GroupMaker(*formatted, fabric_, step, "", silent_).make_all(groups);
    if (code != ExitCode::done) return findings_;
    std::vector<ScheduleInPart> schedules;
    for (MadeGroup& group : groups) {
      schedules.push_back({std::move(group.part.topology), group.made->text, kOurs});
    }
    return StepSchedules::of(std::move(schedules));
  }

  // As `synth` makes it, of whatever size, once.
  Expected<StepSchedules> one_plan() {
    if (!plan_) {
      auto made = make_plan();
      if (!made) return made.errors();
      plan_ = *std::move(made);
    }
    std::vector<ScheduleInPart> all(1, {fabric_.topology, *plan_, kOursInOnePlan});
    return StepSchedules::of(std::move(all));
  }

  Expected<std::string> make_plan() {
    if (const auto done = check_joint_plan(request_.operation.collective); !done) {
      return done.errors();
    }
    SynthArguments asked = arguments();
    asked.format = "mscclpp";
    asked.format_given = true;
    asked.output = "plan.json";  // one plan is for one file
    if (request_.relays) asked.failures.relays = Failures::Relays::all;
    const auto formatted = with_format(std::move(asked));
    if (!formatted) return formatted.errors();
    const JobStep step{"", 1, {request_.operation}};
    MadeStep made = divided_;
    findings_.clear();
    const auto code = make_joint_plan(*formatted, fabric_, step, made, silent_);
    if (!code) return code.errors();
    if (*code != ExitCode::done) return findings_;
    return made.plan->text;
  }

  const Fabric& fabric_;
  const GroupsRequest& request_;
  MadeStep divided_;
  const Console& console_;
  Console silent_ = console_;  // what goes wrong is in findings_
  Diagnostics findings_;
  WrittenStep step_;
  std::optional<std::string> plan_;
  std::size_t done_ = 0;
};

}  // namespace

Expected<GroupsComparison> compare_groups(const Fabric& fabric, const GroupsRequest& request,
                                          const Console& console) {
  auto divided = divide({"", 1, {request.operation}}, fabric, request.relays, console);
  if (!divided) return divided.errors();
  GroupsComparison comparison{divided->bound.together.at_most, {}};
  ProgressBar bar("comparing", console);
  GroupsComparer comparer(fabric, request, *std::move(divided), console);
  for (const std::string& algorithm : request.algorithms) {
    comparer.add_row(algorithm, comparison.rows, bar);
  }
  return comparison;
}

}  // namespace forestcoll::cli
