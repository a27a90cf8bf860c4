// A forest as an event graph: every tree edge sends what has arrived.
#pragma once

#include <cstdint>
#include <vector>

#include "audit/common/findings.hpp"
#include "audit/forest/file.hpp"
#include "forestcoll/simulate.hpp"
#include "simulate/fabric/event_graph.hpp"
#include "simulate/fabric/fabric.hpp"
#include "simulate/sources/flow_phase.hpp"

namespace forestcoll::simulate {

class ForestSource {
 public:
  /// Finds the routes of all edges. A finding where images are more than are held.
  /// REQUIRES: verify finds the forest to be right on the fabric's topology. `units` are the equal
  /// shares of the buffer, trees counted by multiplicity.
  ForestSource(const audit::ForestFile& forest, const Topology& topology, std::int64_t units,
               Fabric& fabric, audit::Findings& findings);

  /// Bytes of the whole buffer for which one piece of the thickest tree is full.
  [[nodiscard]] double full_pass(const SimulationParameters& parameters) const;
  /// For a buffer of so many bytes.
  ///
  /// Every tree's share is cut into equally many pieces, no more of them than keep those of the
  /// thickest tree below what a pass carries. An edge sends one piece after the other, each as soon
  /// as it has arrived, and begins one while the one before is on its way; it runs at most eight
  /// ahead of those that pass on what it sends. Sums keep up with what arrives. In an allreduce, a
  /// root sends a piece down once it has it from all of its trees. What is copied or combined in
  /// switches goes over all its links at once.
  [[nodiscard]] EventGraph make(const Fabric& fabric, const SimulationParameters& parameters,
                                double bytes) const;

 private:
  std::vector<FlowPhase> phases_;
  double units_ = 1;
  double thickest_ = 1;              ///< multiplicity
  std::vector<std::int32_t> sends_;  ///< edges that each rank works at, over all phases
};

}  // namespace forestcoll::simulate
