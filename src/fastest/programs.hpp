// Candidates as the programs that are written, each ready to be simulated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fastest/candidates.hpp"
#include "fastest/fingerprint.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/schedule.hpp"
#include "forestcoll/simulate.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace forestcoll::fastest {

struct Program {
  std::size_t candidate = 0;
  std::int32_t instances = 1;
  Simulator simulator;
  std::int64_t chunks = 0;
  std::int32_t threadblocks = 0, channels = 0, steps = 0;
  std::int64_t simulated_steps = 0;  ///< for each pass; 0: not known
  Fingerprint fingerprint;
  std::string no_ll128;   ///< why not
  bool built_in = false;  ///< a runtime's own that is too large for a file
  /// Of MSCCL++: the plan as it is written, once it is chosen. It was lowered before.
  std::function<Expected<ExecutionPlan>()> lower = {};
  std::int64_t max_bytes = std::numeric_limits<std::int64_t>::max();  ///< for which it is
};

/// What a runtime does by itself: what others are compared with is in several numbers of instances.
[[nodiscard]] bool has_runtime_own(const Candidate& candidate);

/// The programs of one candidate by its place, each of which may be asked for by one thread at a
/// time. What goes where no links are is left out, and of plans of paths and switches what the
/// checker finds wrong; all others are verified once they are written. Errors: why it does not fit.
/// Cost: that of lowering it, and of verifying what goes along no trees.
using ProgramsOf = std::function<Expected<std::vector<Program>>(std::size_t candidate)>;

/// In all numbers of instances, as far as they fit the target, in that order; with `few_variants`
/// in few. The first program of the first candidate whatever its steps. REQUIRES: the candidates
/// and the fabric stay where they are. Errors: those of the fabric's links.
[[nodiscard]] Expected<ProgramsOf> programs_in_instances(std::span<Candidate> candidates,
                                                         const Fabric& fabric,
                                                         const CompileOptions& options,
                                                         std::optional<std::int32_t> instances,
                                                         bool few_variants);
/// Whether, of few variants, no program is made of these trees: they have too many edges to be
/// lowered and simulated in the time of a default, and are compared by what their links need.
[[nodiscard]] bool is_too_large_of_few(const CollectiveForest& forest, Collective collective);
/// So many numbers of instances are tried.
[[nodiscard]] std::size_t instance_count(std::optional<std::int32_t> instances);

/// As plans of MSCCL++, each for all sizes that it can be for, likewise: in several shapes.
[[nodiscard]] Expected<ProgramsOf> plans_of(std::span<Candidate> candidates, const Fabric& fabric,
                                            const CompileOptions& options);
/// How many shapes there are at most.
[[nodiscard]] std::size_t plan_count();

}  // namespace forestcoll::fastest
