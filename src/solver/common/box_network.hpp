// A box of a cluster as a network of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "solver/common/boxes.hpp"
#include "solver/common/core.hpp"

namespace forestcoll::solver {

/// The members of a box, in their order, and then the switches inside of it. Backwards, all arcs
/// are turned round.
class BoxNetwork {
 public:
  /// Cost: O(m log m) of the box.
  BoxNetwork(const Core& core, const Boxes& boxes, std::size_t box, bool is_backward);

  [[nodiscard]] const Network& network() const { return network_; }
  [[nodiscard]] ArcId of_core(ArcId a) const { return arc_[a]; }
  /// What tells boxes apart.
  [[nodiscard]] std::vector<std::int64_t> key() const;

 private:
  Network network_;
  IdVector<ArcId, ArcId> arc_;
};

}  // namespace forestcoll::solver
