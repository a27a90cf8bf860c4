// What a joint linear program plans apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forestcoll/commodity.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"

namespace forestcoll::solver {

/// Trees of one direction, or paths that begin or end at one node, of a commodity.
struct Stream {
  enum class Kind : std::uint8_t {
    trees,      ///< amounts by member, which root them
    any_roots,  ///< one amount, whose roots are free
    paths       ///< amounts by member, which paths from `origin` end at
  };
  Kind kind = Kind::trees;
  bool turned = false;  ///< on the reversed fabric: in-trees, or paths that end at `origin`
  std::size_t operation = 0;
  std::size_t commodity = 0;  ///< counted through all operations
  const Commodity* of = nullptr;
  NodeId origin = {};
  std::vector<std::int64_t> amounts;
  std::vector<ArcId> arcs;  ///< of the fabric: those that it may take, in its order
};

/// All streams of a demand, which outlives them. Paths are gathered by where they begin, or by
/// where they end if there are fewer such nodes. Cost: O(streams · arcs), and linear in the
/// amounts.
[[nodiscard]] std::vector<Stream> streams_of(const Network& network, const JointDemand& demand);

}  // namespace forestcoll::solver
