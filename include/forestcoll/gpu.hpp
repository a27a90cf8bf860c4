// Whose figures a fabric is to be simulated with.
#pragma once

#include <string>

#include "forestcoll/topology.hpp"
#include "forestcoll/topology_text.hpp"

namespace forestcoll {

struct ChosenGpu {
  std::string name;    ///< one of `simulation_gpus()`
  std::string reason;  ///< in words: "named by the fabric", "by its links", "assumed: …"
};

/// The one GPU with figures that the fabric's name has in it ("DGX A100", "MI250"), or else its
/// metadata, its description, the names of its templates; else the one whose NVLink or xGMI the
/// GPUs have, by bandwidth. "a100" where there is none, or where more than one is named.
/// Cost: O(n + m) and the length of the texts.
[[nodiscard]] ChosenGpu choose_gpu(const Topology& topology, const Metadata& metadata);

}  // namespace forestcoll
