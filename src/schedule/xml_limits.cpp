// What a target of MSCCL XML does not load.
#include <fmt/format.h>

#include <algorithm>

#include "base/check.hpp"
#include "forestcoll/codes.hpp"
#include "schedule/xml_target.hpp"

namespace forestcoll::schedule {
namespace {

Expected<void> refuse_program(const std::string& rank, const RankProgram& program,
                              std::int64_t elements, const TargetLimits& target,
                              std::int64_t most_threadblocks, const XmlRemedies& remedies) {
  std::int64_t depended = 0;
  for (const Threadblock& block : program.threadblocks) {
    elements += 1 + std::ssize(block.steps);
    FORESTCOLL_CHECK(std::ssize(block.steps) <= target.max_steps, "steps were made to fit");
    if (std::ranges::any_of(block.steps, &Step::has_dependent)) ++depended;
  }
  if (std::ssize(program.threadblocks) > most_threadblocks) {
    return make_error(
        Code::T01,
        fmt::format("{} needs {} threadblocks, {}, but at most {} are allowed", rank,
                    program.threadblocks.size(), remedies.threadblocks_are, most_threadblocks),
        remedies.threadblocks);
  }
  if (program.scratch_chunks > target.max_offset + 1) {
    return make_error(Code::T04,
                      fmt::format("{} needs {} chunks of scratch, but offsets of {} reach {}", rank,
                                  program.scratch_chunks, target.name, target.max_offset + 1),
                      remedies.scratch);
  }
  if (elements > target.max_elements) {
    return too_many_elements(rank, std::to_string(elements), target, remedies.elements);
  }
  if (depended <= target.max_depended) return {};
  return make_error(Code::T01,
                    fmt::format("{} threadblocks of {} are waited for by others, but {} can wait "
                                "for the first {} only",
                                depended, rank, target.name, target.max_depended),
                    remedies.threadblocks);
}

}  // namespace

Expected<void> refuse_many_gpus(std::int64_t ranks, const TargetLimits& target,
                                const char* remedy) {
  if (ranks <= target.max_children) return {};
  return make_error(Code::T05,
                    fmt::format("{} GPUs, but {} loads at most {} elements of one kind", ranks,
                                target.name, target.max_children),
                    remedy);
}

Diagnostic too_many_elements(std::string_view rank, std::string_view elements,
                             const TargetLimits& target, const char* remedy) {
  return make_error(Code::T05,
                    fmt::format("{} would load {} XML elements, but {} loads at most {}", rank,
                                elements, target.name, target.max_elements),
                    remedy);
}

Expected<void> refuse_programs(const Schedule& schedule, const TargetLimits& target,
                               std::int64_t most_threadblocks, const XmlRemedies& remedies) {
  for (std::size_t r = 0; r < schedule.programs.size(); ++r) {
    // The algorithm and the GPUs are elements, too.
    auto done = refuse_program(fmt::format("rank {}", r), schedule.programs[Rank(r)],
                               1 + static_cast<std::int64_t>(schedule.programs.size()), target,
                               most_threadblocks, remedies);
    if (!done) return done;
  }
  return {};
}

}  // namespace forestcoll::schedule
