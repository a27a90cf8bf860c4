// Targets that load MSCCL XML, and what is too much for them.
#pragma once

#include <cstdint>
#include <string_view>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/schedule.hpp"

namespace forestcoll::schedule {

/// The target of that name. Error T07: there is none, or it loads plans of MSCCL++.
[[nodiscard]] Expected<const TargetLimits*> xml_target(std::string_view name);

/// T05 where a target does not load so many GPUs.
[[nodiscard]] Expected<void> refuse_many_gpus(std::int64_t ranks, const TargetLimits& target,
                                              const char* remedy);
/// T05; `elements`: how many, in words.
[[nodiscard]] Diagnostic too_many_elements(std::string_view rank, std::string_view elements,
                                           const TargetLimits& target, const char* remedy);

/// What a rank's threadblocks are for, and what to do about too many of them, of chunks of scratch
/// and of elements.
struct XmlRemedies {
  const char *threadblocks_are, *threadblocks, *scratch, *elements;
};
/// What only finished programs show: T01 threadblocks, T04 scratch, T05 elements.
[[nodiscard]] Expected<void> refuse_programs(const Schedule& schedule, const TargetLimits& target,
                                             std::int64_t most_threadblocks,
                                             const XmlRemedies& remedies);

}  // namespace forestcoll::schedule
