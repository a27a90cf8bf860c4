#include "run/job_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

#include "common/job/written.hpp"
#include "forestcoll/codes.hpp"

namespace forestcoll::run {
namespace {

using Steps = std::vector<cli::WrittenStep>;

std::int64_t ranks_in(const Steps& steps) {
  std::int64_t ranks = 0;
  for (const cli::WrittenStep& step : steps) {
    for (const cli::WrittenOperation& operation : step.operations) {
      for (const cli::WrittenSchedule& schedule : operation.schedules) {
        for (const Rank rank : schedule.group) {
          ranks = std::max(ranks, static_cast<std::int64_t>(rank.index()) + 1);
        }
      }
    }
  }
  return ranks;
}

Diagnostic of_another(const std::string& file, std::string message) {
  return make_error(Code::X01, std::move(message), "give the files that `synth` wrote together",
                    {.file = file});
}

// Whether a schedule is of this operation, and of as many ranks as the group has.
Expected<void> check_file(const LoadedFile& file, const cli::WrittenOperation& operation,
                          const cli::WrittenSchedule& schedule) {
  if (file.schedule == nullptr) return of_another(schedule.file, "a job within a job");
  const ScheduleFacts& facts = file.schedule->facts();
  const auto asked = audit::parse_pattern(operation.collective);
  if (!asked || *asked != facts.pattern) {
    return of_another(schedule.file, fmt::format("it does {}, and its operation is {}",
                                                 perf_name(facts.pattern), operation.collective));
  }
  if (facts.ranks != static_cast<std::int64_t>(schedule.group.size())) {
    return of_another(schedule.file, fmt::format("it is for {} GPUs, and its group has {}",
                                                 facts.ranks, schedule.group.size()));
  }
  return {};
}

class JobLoader {
 public:
  Expected<LoadedJob> load(const Steps& steps) {
    job_.ranks = ranks_in(steps);
    for (const cli::WrittenStep& step : steps) {
      JobStep& own = job_.steps.emplace_back(JobStep{step.name, step.repeat, {}});
      for (const cli::WrittenOperation& operation : step.operations) {
        auto loaded = load(operation);
        if (!loaded) return loaded.errors();
        own.operations.push_back(*std::move(loaded));
      }
    }
    return std::move(job_);
  }

 private:
  Expected<JobOperation> load(const cli::WrittenOperation& operation) {
    JobOperation own{operation.name, operation.share, {}};
    for (const cli::WrittenSchedule& schedule : operation.schedules) {
      const auto& loaded = file(schedule.file);
      if (!*loaded) return loaded->errors();
      if (auto done = check_file(**loaded, operation, schedule); !done) return done.errors();
      JobGroup& group = own.groups.emplace_back();
      for (const Rank rank : schedule.group) {
        group.members.push_back(static_cast<std::int64_t>(rank.index()));
      }
      group.file = &**loaded;
    }
    return own;
  }

  const std::shared_ptr<const Expected<LoadedFile>>& file(const std::string& name) {
    auto& known = files_[name];
    if (known == nullptr) {
      known = load_everywhere(name);
      job_.files.push_back(known);
    }
    return known;
  }

  LoadedJob job_;
  std::map<std::string, std::shared_ptr<const Expected<LoadedFile>>> files_;
};

}  // namespace

Expected<std::int64_t> ranks_of_job(std::string_view text, const std::string& path) {
  const auto steps = cli::read_written_job(text, path);
  if (!steps) return steps.errors();
  return ranks_in(*steps);
}

Expected<LoadedJob> load_job(std::string_view text, const std::string& path) {
  const auto steps = cli::read_written_job(text, path);
  if (!steps) return steps.errors();
  return JobLoader().load(*steps);
}

}  // namespace forestcoll::run
