// Candidates as the programs that are written, each ready to be simulated.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "audit/common/program.hpp"
#include "fastest/candidates.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/simulate.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace forestcoll::fastest {

/// Programs of which both are the same are the same program, whatever trees it was made of.
struct Fingerprint {
  std::size_t size = 0, hash = 0;  ///< of a text, or of all steps
  auto operator<=>(const Fingerprint&) const = default;
};

struct Program {
  std::size_t candidate = 0;
  std::int32_t instances = 1;
  Simulator simulator;
  std::int64_t chunks = 0;
  std::int32_t threadblocks = 0, channels = 0, steps = 0;
  std::int64_t simulated_steps = 0;  ///< for each pass; 0: not known
  Fingerprint fingerprint;
  std::string no_ll128;  ///< why not
  /// Of MSCCL++, and what it is called in its file; texts are written once they are chosen.
  std::optional<ExecutionPlan> lowered = {};
  std::string plan_name = {};
  std::int64_t max_bytes = std::numeric_limits<std::int64_t>::max();  ///< for which it is
};

[[nodiscard]] Fingerprint fingerprint_of(const std::string& text);
[[nodiscard]] Fingerprint fingerprint_of(const audit::Program& program);

/// What the reader makes of the schedule's MSCCL XML, without writing and reading it. For
/// simulation alone: what is written is read and verified as text. Cost: linear.
[[nodiscard]] audit::Program program_of(const Schedule& schedule);

/// All candidates in all numbers of instances, as far as they fit the target, in that order; with
/// `few_variants` each in one number. What
/// the checker finds wrong, or what goes where no links are, is left out. Errors: why the first
/// candidate does not fit, where nothing does. Cost: that of lowering, writing and verifying each,
/// on all processors.
[[nodiscard]] Expected<std::vector<Program>> make_programs(std::vector<Candidate>& candidates,
                                                           const Fabric& fabric,
                                                           const CompileOptions& options,
                                                           std::optional<std::int32_t> instances,
                                                           bool few_variants);

/// All candidates as plans of MSCCL++, each for all sizes that it can be for. Errors and cost: the
/// same.
[[nodiscard]] Expected<std::vector<Program>> make_plans(std::vector<Candidate>& candidates,
                                                        const Fabric& fabric,
                                                        const CompileOptions& options);

}  // namespace forestcoll::fastest
