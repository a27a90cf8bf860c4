// Parts of many jobs over links of different widths.
#pragma once

#include <cstdint>
#include <vector>

namespace forestcoll::baseline {

/// k equal parts, to be spread over the links that `options` lists (indices).
struct Job {
  std::vector<std::size_t> options;
  std::vector<std::int64_t> parts;  ///< the answer, by option
};

/// Fills in the parts so that the largest load / width over the links is as small as whole parts
/// allow. Every job has an option; widths are positive.
/// Exact: as long as the largest can be lowered, a part can move from a link that has it along a
/// chain of jobs to one that stays below (the difference to a better spread is a flow).
/// Cost: O(jobs × options²) per move, at most as many moves as there are parts on the first spread.
void balance_parts(std::vector<Job>& jobs, const std::vector<std::int64_t>& width, std::int64_t k);

}  // namespace forestcoll::baseline
