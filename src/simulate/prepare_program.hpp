// Programs of threadblocks that are known to be right, ready to be simulated.
#pragma once

#include <cstdint>

#include "audit/common/program.hpp"
#include "audit/plan/file.hpp"
#include "forestcoll/collective.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/simulate.hpp"
#include "forestcoll/topology.hpp"
#include "simulate/fabric/fabric.hpp"
#include "simulate/sources/images.hpp"
#include "simulate/sources/read_plan.hpp"

namespace forestcoll::simulate {

struct PreparedProgram {
  Simulator simulator;
  std::int64_t steps = 0;  ///< that are simulated for each pass
};

/// What `prepare_simulation` makes of the program's text, without reading or verifying any.
/// `fabric` is that of the topology without its relays. REQUIRES: `verify` finds the program right,
/// but for the topology and a runtime's limits. `images`: whose programs it stands for. Errors: M04
/// where no links lead to a peer, or where those of an image are not the image of those.
[[nodiscard]] Expected<PreparedProgram> prepare_program(audit::Program program,
                                                        const Topology& topology, Fabric fabric,
                                                        const Images& images = {});

/// The same of a plan of MSCCL++. `images`: what its GPUs that have threadblocks stand for; then it
/// has no packets and no switch channels. Errors: M04 where no links lead to a peer, or those of an
/// image are not the image of those, and for more operations than the reader takes.
[[nodiscard]] Expected<Simulator> prepare_plan(audit::PlanFile plan, Collective collective,
                                               const Topology& topology, Fabric fabric,
                                               const PlanImages& images = {});

}  // namespace forestcoll::simulate
