// `synth --format mscclpp`: the forest as an execution plan.
#pragma once

#include <string>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/topology.hpp"
#include "synth/options.hpp"

namespace forestcoll::cli {

/// The plan's text: memory channels within the topology's boxes, port channels between
/// them; a topology that names no boxes is one.
[[nodiscard]] Expected<std::string> plan_text(const CollectiveForest& forest,
                                              const Topology& topology,
                                              const SynthArguments& arguments,
                                              const SynthRequest& request);

/// The boxes of the topology's GPUs, as a plan takes them, sorted; none where it names none.
[[nodiscard]] std::vector<std::string> plan_boxes(const Topology& topology);
/// "  taken for boxes: box0, box1: memory channels within each, port channels between"
[[nodiscard]] std::string boxes_line(const Topology& topology);

}  // namespace forestcoll::cli
