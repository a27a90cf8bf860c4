// What `synth` makes of groups whose data other GPUs pass on, and what it refuses.
#pragma once

#include "common/fabric.hpp"
#include "common/synthesis/request/options.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/job.hpp"

namespace forestcoll::cli {

/// S04 where --relays is given for schedules of each group, which runtimes run on its members
/// alone. The remedies are those that work for this job.
[[nodiscard]] Expected<void> refuse_relayed_programs(const SynthArguments& arguments,
                                                     const Job& job, const Fabric& fabric);

/// `errors` of `divide`, those of groups that need relays (O08) with a remedy that the asked format
/// takes.
[[nodiscard]] Diagnostics with_way_to_relay(Diagnostics errors, const SynthArguments& arguments,
                                            const Job& job);

}  // namespace forestcoll::cli
