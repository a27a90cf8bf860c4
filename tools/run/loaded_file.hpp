// A file as all ranks get it: a schedule, or a job.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "forestcoll/diagnostic.hpp"
#include "run/schedule.hpp"

namespace forestcoll::run {

struct LoadedFile {
  std::unique_ptr<Schedule> schedule;  ///< null: it is a job
  std::int64_t root = 0;               ///< of a collective that has one, as its program behaves
  std::string job;                     ///< the text of a job, whose schedules are other files
};

/// Rank 0 reads the file, so that it need not be on every host, and each process loads it once:
/// where several ranks are of one process, as 1,024 are under SimGrid, they share what rank 0 has
/// loaded. To be called by all ranks; what is wrong, all of them get to know. Errors: those of
/// `load_schedule`; F01, ErrorKind::io, it cannot be read.
[[nodiscard]] std::shared_ptr<const Expected<LoadedFile>> load_everywhere(const std::string& file);

}  // namespace forestcoll::run
