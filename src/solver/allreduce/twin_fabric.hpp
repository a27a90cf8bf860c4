// What the trees of an allreduce that branch at switches are packed into.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "forestcoll/allreduce.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/network.hpp"
#include "solver/allreduce/split.hpp"
#include "solver/symmetry/network_orbits.hpp"

namespace forestcoll::solver {

/// Chunks that the trees of one class and phase carry, by their root.
using RootShares = IdVector<NodeId, std::int64_t>;

/// What a split gives to the trees of one class and phase: the fabric with a twin beside each of
/// their switches. In-trees are out-trees on it, as it is turned round.
class TwinFabric {
 public:
  /// REQUIRES: `fabric` and `trees` outlive this.
  TwinFabric(const Network& fabric, const AllreduceTrees& trees, bool inward);

  /// False where that does not fit exact arithmetic. To be called once, before all that follows.
  [[nodiscard]] bool make(const SplitUnits& units, const RootShares& shares);

  [[nodiscard]] const Network& network() const { return network_; }

  /// Trees on the twin fabric, on the fabric's own nodes: a twin is its switch.
  [[nodiscard]] Forest without_twins(const Forest& packed) const;
  /// And back again: edges end at twins, and go through switches.
  [[nodiscard]] Forest with_twins(const Forest& forest) const;

  /// By node of `of`, the node of this that the fabric's symmetries take it to, where all of `of`
  /// is this afterwards, capacities and shares too: then its trees become trees of this.
  /// Cost: O(m log m).
  [[nodiscard]] std::optional<NodeImage> image(const TwinFabric& of) const;

 private:
  [[nodiscard]] NodeId original(NodeId v) const;
  [[nodiscard]] NodeId vertex(NodeId v) const;
  [[nodiscard]] NodeId end(NodeId v, bool branches) const { return branches ? twin_of_.at(v) : v; }
  void add_ranks();
  [[nodiscard]] NodeImage nodes_of(const TwinFabric& of) const;

  const Network& fabric_;
  const AllreduceTrees& trees_;
  const bool inward_;
  std::map<NodeId, NodeId> twin_of_;
  Network network_;
};

/// Trees on `network` from trees whose nodes `image` takes to its nodes.
/// REQUIRES: it takes ranks to ranks. Cost: linear in the trees.
[[nodiscard]] Forest moved(const Forest& forest, const NodeImage& image, const Network& network);

}  // namespace forestcoll::solver
