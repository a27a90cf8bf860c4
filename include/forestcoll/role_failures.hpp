// What an allreduce would lose if switches could do less in the network.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll {

/// Switches that are alike: any one of them no longer copies, or no longer combines.
struct RoleFailureEffect {
  std::vector<NodeId> switches;
  bool multicast = true;  ///< it no longer copies; otherwise, it no longer combines
  Ratio algbw;            ///< GB/s of an allreduce by trees that is left

  /// What `Failures::drop` takes for the first of them: "box0/nvsw:multicast".
  [[nodiscard]] std::string drop_text(const Topology& topology) const;
};

struct RoleFailures {
  Ratio algbw;                                  ///< GB/s of the fabric as it is
  std::vector<RoleFailureEffect> effects = {};  ///< the dearest first
};

/// What trees reach that branch at switches (see `allreduce_optimum`), without one role of one
/// switch at a time; empty where no switch has any. Errors: E14. Cost: an `allreduce_optimum` for
/// each class of switches that are alike and each of its roles.
[[nodiscard]] Expected<RoleFailures> role_failures(const Topology& topology,
                                                   const std::function<void()>& progress = {});

}  // namespace forestcoll
