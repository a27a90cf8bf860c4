// Commodities: what collectives move, as trees and paths, whatever they are called.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/job.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll {

/// What is moved among the members of one group by trees of a kind, or by paths.
struct Commodity {
  enum class Kind : std::uint8_t {
    broadcast,  ///< out-trees that span the group; amounts[i]: of those rooted at member i
    reduce,     ///< in-trees, likewise
    allreduce,  ///< amounts[0] of in-trees, and as much of out-trees from the same roots, any
                ///< shares
    paths       ///< amounts[i · members + j]: from member i to member j
  };
  Kind kind = Kind::broadcast;
  std::vector<NodeId> members;
  std::vector<std::int64_t> amounts;
};

/// Operations that run at once, at rates that are proportional to their amounts. All amounts are in
/// one unit, and those of an operation with a weight are so many times what it has.
struct JointDemand {
  std::vector<std::vector<Commodity>> operations;  ///< each with its commodities, group by group
  std::vector<std::int64_t> buffers;               ///< by operation, of each group, as algbw counts
  /// Whether compute nodes outside of a group pass its data on, as switches do, without copying it.
  bool relays = false;
  std::vector<std::int64_t> weights = {};  ///< by operation; empty: all are 1

  [[nodiscard]] std::int64_t weight(std::size_t operation) const {
    return weights.empty() ? 1 : weights[operation];
  }
  /// Rates are told for as much: the buffer of the largest operation, times its weight.
  [[nodiscard]] std::int64_t whole() const { return std::ranges::max(buffers); }
  /// That operation; of several the one that is done last at these rates.
  [[nodiscard]] std::size_t largest() const {
    std::size_t found = 0;
    for (std::size_t i = 1; i < buffers.size(); ++i) {
      const bool is_last = buffers[i] == buffers[found] && weight(i) < weight(found);
      if (buffers[i] > buffers[found] || is_last) found = i;
    }
    return found;
  }
};

/// What one commodity takes of an arc: a part of its capacity, above 0.
struct LinkShare {
  ArcId arc;
  Ratio part;
};
/// Of all commodities of a demand, by operation and commodity, with arcs ascending. INVARIANT: the
/// parts of an arc add up to 1 at most.
using LinkShares = std::vector<std::vector<std::vector<LinkShare>>>;

/// Whether a node passes a commodity's data on: members, switches, relays, and where
/// `demand.relays` is set all others. `is_member`: of the commodity.
[[nodiscard]] bool passes_on(const Network& network, NodeId node, bool is_member, bool relays);

/// The commodities of operations that run at once. Of an allgather and its like each member roots
/// as much, 1/n of the buffer. Errors: E14 where amounts do not fit a common unit of 64 bits; O08
/// where members of a group do not reach one another. REQUIRES: `check_operation` accepts them all.
/// Cost: linear in groups and demands, and two searches of the fabric per group.
[[nodiscard]] Expected<JointDemand> joint_demand(const Network& network,
                                                 std::span<const JobOperation> operations,
                                                 bool relays);

}  // namespace forestcoll
