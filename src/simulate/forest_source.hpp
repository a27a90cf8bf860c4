// A forest as an event graph: every tree edge sends what has arrived.
#pragma once

#include <cstdint>
#include <vector>

#include "audit/common/findings.hpp"
#include "audit/forest/file.hpp"
#include "forestcoll/simulate.hpp"
#include "simulate/event_graph.hpp"
#include "simulate/fabric.hpp"

namespace forestcoll::audit {

/// One tree of the forest with ranks for names: images are spelt out.
struct FlowTree {
  std::int32_t root = -1;
  double multiplicity = 1;
  std::size_t begin = 0, end = 0;  ///< its edges in FlowPhase::edges, parents first
};
struct FlowEdge {
  std::int32_t up = -1, down = -1;  ///< ranks; `up` is nearer to the root
  std::int32_t above = -1;          ///< the edge into `up`, in FlowPhase::edges; −1 at the root
  std::int32_t route = -1;          ///< down, or up where the phase is inward
};
struct FlowPhase {
  bool inward = false;
  std::vector<FlowTree> trees;
  std::vector<FlowEdge> edges;
};

class ForestSource {
 public:
  /// Finds the routes of all edges. A finding where images are more than are held.
  /// REQUIRES: verify finds the forest to be right on the fabric's topology. `units` are the equal
  /// shares of the buffer, trees counted by multiplicity.
  ForestSource(const ForestFile& forest, const Topology& topology, std::int64_t units,
               Fabric& fabric, Findings& findings);

  /// Bytes of the whole buffer for which one piece of the thickest tree is full.
  [[nodiscard]] double full_pass(const SimulationParameters& parameters) const;
  /// For a buffer of so many bytes.
  ///
  /// Every tree's share is cut into equally many pieces, no more of them than keep those of the
  /// thickest tree below what a pass carries. An edge sends one piece after the other, each as soon
  /// as it has arrived, and begins one while the one before is on its way; it runs at most eight
  /// ahead of those that pass on what it sends. Sums keep up with what arrives. In an allreduce, a
  /// root sends a piece down once it has it from all of its trees.
  [[nodiscard]] EventGraph make(const Fabric& fabric, const SimulationParameters& parameters,
                                double bytes) const;

 private:
  std::vector<FlowPhase> phases_;
  double units_ = 1;
  double thickest_ = 1;              ///< multiplicity
  std::vector<std::int32_t> sends_;  ///< edges that leave each rank, over all phases
};

}  // namespace forestcoll::audit
