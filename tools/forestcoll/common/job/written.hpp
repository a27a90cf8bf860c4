// What `synth` of process groups has written: job.json, and the files that it names.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/id.hpp"

namespace forestcoll::cli {

struct WrittenSchedule {
  std::vector<Rank> group;
  std::string file, part;  ///< where they are: beside job.json
};

struct WrittenOperation {
  std::string name, collective;
  double share = 1;                   ///< its buffer beside the largest one of the step
  bool has_demand = false;            ///< pairs have unequal amounts
  std::optional<std::int64_t> bytes;  ///< of its buffer, where given
  std::vector<WrittenSchedule> schedules;
  std::int64_t weight = 1;
};

struct WrittenStep {
  std::string name;
  std::int64_t repeat = 1;
  double rate = 0;  ///< GB/s of the largest buffer: the joint optimum
  std::vector<WrittenOperation> operations;
  bool has_weights = false;     ///< some are done before others: `rate` is no bound then
  std::string exact_rate = {};  ///< `rate` as a fraction; empty where weights divide it
};

/// Whether a text is what `synth` of process groups writes as job.json, or `bound` reports of them.
[[nodiscard]] bool is_job_report(std::string_view text);

/// Reads job.json, which is at `path`. Error O01: it is another document, or groups of two and more
/// have not one schedule each, or `path` is "-".
[[nodiscard]] Expected<std::vector<WrittenStep>> read_written_job(std::string_view text,
                                                                  const std::string& path);

}  // namespace forestcoll::cli
