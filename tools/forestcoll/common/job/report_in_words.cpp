// The report of a job in words.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "common/job/figures.hpp"
#include "common/job/report.hpp"
#include "common/report/lengths_report.hpp"
#include "common/report/rate_report.hpp"
#include "common/report/table.hpp"
#include "common/report/time_report.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::cli {
namespace {

constexpr double kInPercent = 100;

std::string shares_in_words(const std::map<std::string, double>& shares) {
  std::string text;
  for (const auto& [kind, share] : shares) {
    if (share <= 0) continue;
    text += fmt::format("{}{} {:.3g} %", text.empty() ? "" : ", ", kind.empty() ? "links" : kind,
                        kInPercent * share);
  }
  return text;
}

std::string groups_in_words(const Groups& groups) {
  const auto [least, most] = std::ranges::minmax(groups, {}, &std::vector<Rank>::size);
  if (least.size() == most.size()) return fmt::format("{} of {}", groups.size(), least.size());
  return fmt::format("{} of {} to {}", groups.size(), least.size(), most.size());
}

std::string rate_in_words(const Ratio& reached, bool is_exact) {
  return is_exact ? number(reached) : number(reached.to_double());
}

std::string binding_in_words(const JobStep& step, const StepBound& bound, const Fabric& fabric) {
  std::string text;
  for (const BindingLine& line : binding_lines(step, bound, fabric)) {
    text += fmt::format("  {}: {}{}{}\n", line.links, line.length,
                        line.fillers.empty() ? "" : ", filled by ", line.fillers);
  }
  return "bottleneck, as lengths of links: all data together covers at least as much as these "
         "carry\n" +
         text;
}

// Who can have more than at the joint rate while the others have as much; empty where nobody can.
std::string beyond_in_words(const JobStep& step, const StepBound& bound,
                            const MaxMinRates& beyond) {
  const StepFigures figures(step, bound);
  std::string text;
  for (const MaxMinLevel& level : beyond.levels) {
    if (level.rate <= bound.together.reached) continue;
    const bool is_exact = beyond.is_exact || &level != &beyond.levels.back();
    for (const std::size_t i : level.operations) {
      text += fmt::format("{}{}{} {} GB/s", text.empty() ? "" : ", ", is_exact ? "" : "at least ",
                          step.operations[i].name,
                          rate_in_words(figures.part_of(level.rate, i), is_exact));
    }
  }
  return text.empty() ? text : "more without taking from the others: " + text;
}

// Operations of the command line have it in their names.
std::string name_with_weight(const JobOperation& operation) {
  if (operation.weight == 1 || operation.name.find("weight=") != std::string::npos) {
    return operation.name;
  }
  return fmt::format("{} (weight {})", operation.name, operation.weight);
}

std::string before_in_words(const JointOptimum& before, const JointOptimum& after) {
  return fmt::format(
      "before the failure: {} GB/s; {}", rate_in_words(before.reached, before.is_exact()),
      before.reached == after.reached ? "it costs nothing"
                                      : change_in_words(before.reached, after.reached) + " since");
}

// Whose rate is that of a step.
std::string largest_in_words(const JobStep& step, const StepBound& bound) {
  if (step.operations.size() == 1) return "";
  if (!StepFigures(step, bound).has_weights()) return " of the largest";
  return " of " + name_with_weight(step.operations[bound.demand.largest()]);
}

std::string step_in_words(const JobStep& step, const StepBound& bound, const MaxMinRates& beyond,
                          const JointOptimum* before, const Fabric& fabric) {
  const StepFigures figures(step, bound);
  std::string text = fmt::format("{}{}\n", step.name,
                                 step.repeat > 1 ? fmt::format(", {} times", step.repeat) : "");
  text += aligned(table_of_operations(step, bound, fabric), 2, 1);
  const std::string largest = largest_in_words(step, bound);
  const auto with_time = [&](double seconds) {
    return figures.has_bytes() ? ", " + time_in_words(seconds) : std::string();
  };
  std::string time = with_time(figures.seconds_at_once());
  if (figures.has_bytes() && figures.time_of_last() > 1) {
    time = fmt::format("{}; all of it {}", with_time(figures.seconds_of(bound.demand.largest())),
                       time_in_words(figures.seconds_at_once()));
  }
  text +=
      fmt::format("at once: {} GB/s{}{}\n",
                  rate_in_words(bound.together.reached, bound.together.is_exact()), largest, time);
  if (!bound.together.is_exact()) {
    text += fmt::format("  proved so far; at most {} GB/s\n", number(bound.together.at_most));
  }
  if (before != nullptr) text += before_in_words(*before, bound.together) + "\n";
  if (step.operations.size() > 1) {
    text += fmt::format("one after the other: {} GB/s{}{}\n", number(bound.in_turn), largest,
                        with_time(figures.seconds_in_turn()));
  }
  const std::string more = beyond_in_words(step, bound, beyond);
  if (!more.empty()) text += more + "\n";
  return text + binding_in_words(step, bound, fabric);
}

}  // namespace

std::vector<BindingLine> binding_lines(const JobStep& step, const StepBound& bound,
                                       const Fabric& fabric) {
  std::vector<BindingLine> lines;
  for (auto& line : length_lines(bound.together, fabric.topology, fabric.network)) {
    std::string names;
    for (const std::size_t i : line.operations) {
      names += (names.empty() ? "" : ", ") + step.operations[i].name;
    }
    lines.push_back({std::move(line.links), std::move(line.length), std::move(names)});
  }
  return lines;
}

std::vector<std::string> lines_beside(const Job& job, const std::vector<StepBound>& bounds,
                                      const BesideBounds& beside, std::size_t step) {
  std::vector<std::string> lines;
  if (!beside.before.empty()) {
    lines.push_back(before_in_words(beside.before[step], bounds[step].together));
  }
  std::string more = beyond_in_words(job.steps[step], bounds[step], beside.beyond[step]);
  if (!more.empty()) lines.push_back(std::move(more));
  return lines;
}

Table table_of_operations(const JobStep& step, const StepBound& bound, const Fabric& fabric) {
  const StepFigures figures(step, bound);
  Table table{{"operation", "groups", "at once GB/s", "alone GB/s"}};
  if (figures.has_bytes()) table.head.emplace_back("alone");
  table.head.emplace_back("links");
  for (std::size_t i = 0; i < step.operations.size(); ++i) {
    const JobOperation& operation = step.operations[i];
    TableRow row{name_with_weight(operation), groups_in_words(operation.groups),
                 rate_in_words(figures.part_of(bound.together.reached, i), figures.is_exact(i)),
                 rate_in_words(bound.alone[i].reached, bound.alone[i].is_exact())};
    if (figures.has_bytes()) row.push_back(time_in_words(figures.seconds_alone(i)));
    row.push_back(shares_in_words(shares_by_kind(bound, i, fabric)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::string job_in_words(const Job& job, const std::vector<StepBound>& bounds,
                         const BesideBounds& beside, const Fabric& fabric) {
  std::string text = fmt::format("{}: {}; GPUs outside a group {}\n", fabric.topology.name,
                                 counted(fabric.network.ranks.size(), "GPU"),
                                 bounds.front().demand.relays ? "relay" : "do not relay");
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    const JointOptimum* before = beside.before.empty() ? nullptr : &beside.before[i];
    text += "\n" + step_in_words(job.steps[i], bounds[i], beside.beyond[i], before, fabric);
  }
  if (job.steps.size() > 1 && all_have_bytes(job, bounds)) {
    text += fmt::format("\nall steps: {}\n", time_in_words(seconds_of(job, bounds)));
  }
  return text;
}

void note_what_does_not_count(const Fabric& fabric, const Console& console) {
  if (has_able_switches(fabric)) {
    note(console,
         "joint rates are of trees and paths through GPUs; in-network multicast and reduction, "
         "which this fabric has, are not used and may be faster");
  }
  if (!fabric.network.weight.empty()) {
    note(console, "weights of GPUs are ignored: all members of a group own the same amount");
  }
}

}  // namespace forestcoll::cli
