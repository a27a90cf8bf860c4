// The report of process groups that run at once.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "common/fabric.hpp"
#include "common/report/report.hpp"
#include "common/report/table.hpp"
#include "forestcoll/job.hpp"
#include "forestcoll/joint_bound.hpp"
#include "forestcoll/max_min.hpp"

namespace forestcoll::cli {

/// What a job's steps have beside their bounds, by step; lists may be empty.
struct BesideBounds {
  std::vector<MaxMinRates> beyond = {};  ///< of those of several operations
  /// Without what --drop and --derate did; empty where nothing has failed, or a step says nothing
  /// of the fabric before.
  std::vector<JointOptimum> before = {};
};

/// For each step a table of its operations, and what binds them.
[[nodiscard]] std::string job_in_words(const Job& job, const std::vector<StepBound>& bounds,
                                       const BesideBounds& beside, const Fabric& fabric);

/// Links that bind a step, of one kind, length and capacity, or a limit that several share.
struct BindingLine {
  std::string links;    ///< "32 links of ib 50 GB/s, box0/nic0 -> leaf0, …"
  std::string length;   ///< "length 1"
  std::string fillers;  ///< the operations that use them; may be empty
};
[[nodiscard]] std::vector<BindingLine> binding_lines(const JobStep& step, const StepBound& bound,
                                                     const Fabric& fabric);
/// What a step has beside its bound, in a line each: what its failure costs, and which operations
/// can have more than the bottleneck leaves to all.
[[nodiscard]] std::vector<std::string> lines_beside(const Job& job,
                                                    const std::vector<StepBound>& bounds,
                                                    const BesideBounds& beside, std::size_t step);
/// A row for each operation: what it gets at once and alone, and what it uses of the links.
[[nodiscard]] Table table_of_operations(const JobStep& step, const StepBound& bound,
                                        const Fabric& fabric);
/// Says what of a fabric joint rates do not use: weights, and what switches copy and combine.
void note_what_does_not_count(const Fabric& fabric, const Console& console);
/// The format forestcoll-job, version 1.
[[nodiscard]] Json job_to_json(const Job& job, const std::vector<StepBound>& bounds,
                               const BesideBounds& beside, const Fabric& fabric,
                               const ReadingOptions& reading);

}  // namespace forestcoll::cli
