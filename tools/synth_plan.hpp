// `synth --format mscclpp`: the forest as an execution plan.
#pragma once

#include <string>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/topology.hpp"
#include "synth_options.hpp"

namespace forestcoll::cli {

/// S04 where options ask for what a plan does not have.
[[nodiscard]] std::optional<Diagnostic> refuse_with_plan(const SynthArguments& arguments);

/// The plan's text: memory channels within the topology's boxes, port channels between
/// them; a topology that names no boxes is one.
[[nodiscard]] Expected<std::string> plan_text(const CollectiveForest& forest,
                                              const Topology& topology,
                                              const SynthArguments& arguments,
                                              const SynthRequest& request);

}  // namespace forestcoll::cli
