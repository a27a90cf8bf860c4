// One collective in all process groups at once, by several algorithms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "common/fabric.hpp"
#include "common/report/report.hpp"
#include "common/report/table.hpp"
#include "forestcoll/collective.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/job.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/simulate.hpp"

namespace forestcoll::cli {

/// What each group would have by itself on the whole fabric, where it does not know of the others.
constexpr const char* kOursAlone = "forestcoll (alone)";
/// One plan of MSCCL++, which all ranks run: those of no group, too, where they are to relay.
constexpr const char* kOursInOnePlan = "forestcoll (one plan)";

struct GroupsRequest {
  JobOperation operation;               ///< with the groups, and no bytes
  std::vector<std::string> algorithms;  ///< names of ours, of baselines and of exchanges
  std::vector<std::int64_t> sizes;      ///< bytes of each group's buffer
  SimulationParameters parameters;
  std::string gpu_chosen;  ///< why these, in words
  std::string target;      ///< empty: the default
  bool relays = false;     ///< GPUs pass on what is for others, of the optimum and the plan
  int threads = 1;
};

/// Seconds at a size.
struct GroupsTime {
  std::int64_t bytes = 0;
  double at_once = 0;  ///< of all groups, on one fabric
  /// Of the slowest group, while the others are idle; none of a plan, which is of all.
  std::optional<double> alone = {};
};

/// An algorithm; where `error` is set, there are no times.
struct GroupsRow {
  std::string algorithm, title;
  std::vector<GroupsTime> times = {};
  std::optional<Diagnostic> error = {};
};

struct GroupsComparison {
  Ratio optimum;  ///< GB/s of each group, that trees and paths reach at most, all at once
  std::vector<GroupsRow> rows;
};

/// Ours: schedules in parts of the links, as `synth` of groups divides these, the fastest by size;
/// or the plan that it makes of all groups.
/// All others: each group's own on all links, by `StepSchedules::by`. All are simulated as they
/// run at once. Errors: those of `divide`. Cost: that of `synth`, for each size, and of
/// `fastest_schedule` for each algorithm, size and shape of a group.
[[nodiscard]] Expected<GroupsComparison> compare_groups(const Fabric& fabric,
                                                        const GroupsRequest& request,
                                                        const Console& console);

/// Whether any algorithm has.
[[nodiscard]] bool has_times(const GroupsComparison& comparison);
/// algbw of the algorithms that have times, by size: of all groups at once, or of one alone.
[[nodiscard]] Table rates_by_size(const std::vector<GroupsRow>& rows,
                                  const std::vector<std::int64_t>& sizes, bool alone);

/// Tables of algbw, all at once and one group alone: for a terminal, in Markdown, and in LaTeX.
[[nodiscard]] std::string groups_in_words(const GroupsComparison& comparison,
                                          const GroupsRequest& request, const Fabric& fabric);
[[nodiscard]] std::string groups_to_markdown(const GroupsComparison& comparison,
                                             const GroupsRequest& request, const Fabric& fabric);
[[nodiscard]] std::string groups_to_latex(const GroupsComparison& comparison,
                                          const GroupsRequest& request, const Fabric& fabric);
/// One line per algorithm and size, one line for an algorithm without times.
[[nodiscard]] std::string groups_to_csv(const GroupsComparison& comparison,
                                        const GroupsRequest& request, const Fabric& fabric);
/// SVG: algbw over size, all at once, below the joint optimum. REQUIRES: some algorithm has times.
[[nodiscard]] std::string groups_to_chart(const GroupsComparison& comparison,
                                          const GroupsRequest& request, const Fabric& fabric,
                                          int width);
/// HTML that needs nothing else: the chart and the tables.
[[nodiscard]] std::string groups_to_page(const GroupsComparison& comparison,
                                         const GroupsRequest& request, const Fabric& fabric,
                                         int width);
/// The format forestcoll-compare-groups, version 1.
[[nodiscard]] Json groups_to_json(const GroupsComparison& comparison, const GroupsRequest& request,
                                  const Fabric& fabric);

}  // namespace forestcoll::cli
