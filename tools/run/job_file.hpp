// A job of several process groups with all of its schedules, as all ranks get it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "run/loaded_file.hpp"

namespace forestcoll::run {

/// A communicator: its members in the order of their own ranks, with what it runs.
struct JobGroup {
  std::vector<std::int64_t> members;
  const LoadedFile* file = nullptr;
};

struct JobOperation {
  std::string name;
  double share = 1;  ///< its buffer beside the largest one of the step
  std::vector<JobGroup> groups;
};

struct JobStep {
  std::string name;
  std::int64_t repeat = 1;
  std::vector<JobOperation> operations;
};

struct LoadedJob {
  std::vector<std::shared_ptr<const Expected<LoadedFile>>> files;  ///< equal ones once
  std::vector<JobStep> steps;
  std::int64_t ranks = 0;  ///< up to the last member of a group
};

/// As many ranks as the job at `path` needs. Errors: O01.
[[nodiscard]] Expected<std::int64_t> ranks_of_job(std::string_view text, const std::string& path);

/// Reads a job and the schedules that it names, which rank 0 reads. To be called by all ranks; what
/// is wrong, all of them get to know. Errors: O01 (not a job with schedules), F01 (a file cannot be
/// read), X01 (a schedule is of another collective or size than its group), those of schedules.
[[nodiscard]] Expected<LoadedJob> load_job(std::string_view text, const std::string& path);

}  // namespace forestcoll::run
