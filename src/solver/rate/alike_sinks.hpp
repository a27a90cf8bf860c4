// Sinks that hold because one that is like them does.
#pragma once

#include <optional>
#include <vector>

#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/rate.hpp"
#include "graph/sink_flow.hpp"
#include "solver/symmetry/network_orbits.hpp"

namespace forestcoll::solver {

/// The sinks that a sequence of flows has merged. An automorphism takes a violated cut of one sink
/// to one of its image, so where a sink holds its whole orbit does, and one flow per orbit will do:
/// on 16,384 boxes behind a switch per rail, where every flow passes over what is merged of a
/// thousand neighbours, that is the difference between n² and n. Automorphisms are looked for only
/// once the flows have cost as much as the search for them.
class AlikeSinks {
 public:
  /// REQUIRES: what the flows' capacities and supplies are made of is the network's and the
  /// weights', so that its automorphisms are theirs.
  AlikeSinks(const Network& network, const Weights& weights)
      : network_(network), weights_(weights) {}

  /// Merges what is known to hold: `sink`, where it is not merged yet, and those like it.
  void merge(graph::SinkFlow& flow, NodeId sink);
  /// Merges it all again, after a reset of the flow.
  void merge_again(graph::SinkFlow& flow) const;

 private:
  void find_orbits();
  void merge_orbit(graph::SinkFlow& flow, NodeId sink);

  const Network& network_;
  const Weights& weights_;
  std::vector<NodeId> merged_;
  std::optional<Partition> orbits_;
  std::vector<std::vector<NodeId>> members_;  ///< the compute nodes of each orbit until merged
};

}  // namespace forestcoll::solver
