// The paths of an all-to-all as an event graph: legs in their rounds.
#pragma once

#include <cstdint>
#include <vector>

#include "audit/flows/file.hpp"
#include "forestcoll/simulate.hpp"
#include "forestcoll/topology.hpp"
#include "simulate/fabric/event_graph.hpp"
#include "simulate/fabric/fabric.hpp"

namespace forestcoll::simulate {

/// All that a rank sends over the same links in the same round.
struct FlowMessage {
  std::int64_t round = 0;
  std::int32_t route = -1;
  std::int32_t from = -1;                   ///< rank
  std::int32_t out = -1, in = -1;           ///< the first link and the last
  double part = 0;                          ///< of the buffer
  std::vector<std::int32_t> bringing = {};  ///< messages that it passes data on from, ascending
};

class FlowsSource {
 public:
  /// REQUIRES: verify finds the flows to be right on the fabric's topology.
  FlowsSource(const audit::FlowsFile& flows, const Topology& topology, Fabric& fabric);

  /// Flows are not cut into passes.
  [[nodiscard]] static double full_pass(const SimulationParameters& parameters);
  /// For what a rank sends on average, in bytes, what it has for itself included.
  ///
  /// A message begins once all the data that it passes on has arrived, and moves once all of
  /// earlier rounds has left its first link (the sender knows) and its last one (the receiver
  /// does): ranks do not wait for rounds of others. Its step is done while the round before it on
  /// its first link still moves.
  [[nodiscard]] EventGraph make(const Fabric& fabric, const SimulationParameters& parameters,
                                double bytes) const;

 private:
  std::vector<FlowMessage> messages_;  // by round
  std::vector<std::int32_t> sends_;    // messages that leave each rank
};

}  // namespace forestcoll::simulate
