// Whose figures a fabric is to be simulated with.
#pragma once

#include <string>

#include "forestcoll/topology.hpp"

namespace forestcoll::cli {

struct ChosenGpu {
  std::string name;    ///< one of `simulation_gpus()`
  std::string reason;  ///< in words: "named by the fabric", "assumed: …"
};

/// The one GPU with figures that the fabric's name has in it, or else its description ("DGX A100",
/// "MI250"); "a100" where there is none, or more than one.
[[nodiscard]] ChosenGpu gpu_of(const Topology& topology);

}  // namespace forestcoll::cli
