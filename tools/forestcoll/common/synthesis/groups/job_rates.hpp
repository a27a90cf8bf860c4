// What the schedules of a job reach together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "common/synthesis/groups/job_groups.hpp"
#include "forestcoll/job.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::cli {

/// GB/s of the largest buffer; of several steps, the largest buffers of all by the time of all.
/// As near as 40 bits where that does not fit.
struct JobRates {
  Ratio reached;
  Ratio optimum;                    ///< the joint one, or what is proved to be above it
  std::optional<Ratio> known = {};  ///< what trees and paths have, where that is not `optimum`
  std::optional<std::int64_t> height =
      {};  ///< of the highest tree; none where a group has no trees
};
[[nodiscard]] JobRates rates_of(const Job& job, const std::vector<MadeStep>& steps);

/// The least that a group of an operation reaches, GB/s.
[[nodiscard]] Ratio least_algbw(const MadeStep& made, std::size_t operation);
/// What part of the joint optimum all operations reach together: that of the one that lags.
[[nodiscard]] Ratio part_reached(const JobStep& step, const MadeStep& made);

}  // namespace forestcoll::cli
