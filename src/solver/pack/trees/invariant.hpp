// Can what is owed still be packed? One flow per sink.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "forestcoll/id.hpp"
#include "graph/sink_flow.hpp"
#include "solver/common/budget.hpp"
#include "solver/common/demand_check.hpp"
#include "solver/pack/trees/packing_state.hpp"
#include "solver/pack/trees/sink_queue.hpp"

namespace forestcoll::solver {

/// Tests of a PackingState's invariant: residual capacities must carry to every rank all trees that
/// are owed, and those in progress. What holds for a rank holds for its images, so one rank of each
/// orbit is tested.
class Invariant {
 public:
  /// Tests on up to `threads` threads; what they find does not depend on how many there are.
  /// Where the budget is over, tests end before they are done: what they say then means nothing.
  Invariant(const PackingState& state, int threads, Budget& budget);

  /// Called with a violated cut; must make it hold by taking trees back.
  using Repair = std::function<void(const SinkSide& side)>;
  /// True where nothing was violated.
  bool test(const Repair& repair);

  /// Called with a tight cut.
  using Tight = std::function<void(const SinkSide& side)>;
  /// Does the invariant hold? Names the tight cuts that hold more than one node on the way.
  bool holds(const Tight& tight);

  /// May `test` be called while a tree grows? Its images are modelled one by one, which a large
  /// group would make too many.
  [[nodiscard]] bool can_test_growing() const;

  /// The exact test of one direct edge x→y, where the invariant holds: with x merged into the
  /// source and the tree in progress left out, y must receive all owed trees and this one. The only
  /// cuts that the edge harms hold y and some reached node but not x, and those are what is tested.
  /// Returns the violated cut; empty where the edge is safe. REQUIRES: the trivial group.
  [[nodiscard]] SinkSide test_edge(NodeId x, NodeId y);

 private:
  void order_sinks(NodeId first);
  void merge(graph::SinkFlow& flow, NodeId sink) const;
  void load_residual();
  std::int64_t load();
  void add_sources();
  [[nodiscard]] std::size_t first_violated(std::size_t begin, std::int64_t demand);
  std::optional<std::size_t> test_taken(graph::SinkFlow& flow, SinkQueue& queue,
                                        std::int64_t demand) const;

  const PackingState& state_;
  const Core& core_;
  Budget& budget_;
  std::size_t sources_ = 0;  ///< images of the tree in progress that the flows have a source for
  std::vector<graph::SinkFlow> flows_;  ///< for all sinks, one per thread
  graph::SinkFlow edge_flow_;
  std::vector<NodeId> order_;
  SinkSide violated_;                     ///< the cut that first_violated found
  IdVector<Rank, std::size_t> position_;  ///< of a rank's node among all ranks' nodes, by id
  std::vector<std::int64_t> capacity_, supply_;
};

}  // namespace forestcoll::solver
