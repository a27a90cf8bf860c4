// What is to be moved of a joint demand, and what symmetries leave of it to be planned.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "forestcoll/commodity.hpp"
#include "forestcoll/network.hpp"
#include "solver/symmetry/network_orbits.hpp"

namespace forestcoll::solver {

/// A tree that spans a commodity's members, or paths that carry all that one of them has for
/// others.
struct Piece {
  const Commodity* of = nullptr;
  std::size_t member = 0;  ///< the tree's root, or where the paths begin
  bool turned = false;     ///< an in-tree
};

/// An amount that goes any of some ways, each by all of its pieces at once: of an allreduce an
/// in-tree and an out-tree of any one root.
struct Portion {
  std::size_t operation = 0;
  /// Of trees; of paths what divides all that they carry, of which each carries so many parts.
  std::int64_t amount = 0;
  std::int64_t parts = 1;   ///< of all paths of a piece together; 1 of trees
  std::int64_t copies = 1;  ///< it stands for so many that symmetries exchange
  std::vector<std::vector<Piece>> ways = {};
};

/// How often what crosses an arc takes of the room of a class of limits.
struct LimitUse {
  std::size_t of_class = 0;  ///< beyond those of arcs
  std::int64_t times = 1;
};

/// One portion of each orbit under automorphisms that map every operation onto itself, and the
/// classes of arcs and of limits that these exchange: there are best lengths that are the same all
/// over a class, the average of best ones' images (the joint rate's bound is a ratio of concave and
/// linear). What has room is numbered by class: arcs first, then limits.
struct Portions {
  std::vector<Portion> portions;
  Partition arcs, limits;
  IdVector<ArcId, std::vector<LimitUse>> uses = {};  ///< empty where there are no limits
  std::vector<NodeImage> symmetries = {};            ///< generators of these automorphisms

  [[nodiscard]] std::size_t class_count() const { return arcs.count + limits.count; }
};

/// Of all arcs, and of all limits, of a class together.
[[nodiscard]] std::vector<Capacity> capacity_by_class(const Network& network,
                                                      const Portions& portions);

/// By arc, from what is by class: its own length, and of each limit on it the limit's, as often as
/// the arc takes of it.
template <class Number>
[[nodiscard]] IdVector<ArcId, Number> lengths_with_limits(const Portions& portions,
                                                          const std::vector<Number>& by_class) {
  IdVector<ArcId, Number> lengths;
  for (const std::size_t k : portions.arcs.of) lengths.push_back(by_class[k]);
  for (std::size_t a = 0; a < portions.uses.size(); ++a) {
    for (const LimitUse& use : portions.uses[ArcId(a)]) {
      lengths[ArcId(a)] += static_cast<Number>(use.times) * by_class[use.of_class];
    }
  }
  return lengths;
}

/// What divides all that a member of a commodity of paths has for others; 0 where it has nothing.
[[nodiscard]] std::int64_t common_part(const Commodity& commodity, std::size_t member);

/// REQUIRES: the demand outlives it. Cost: that of `find_fabric_group` where the demand is not
/// small, and near to linear in groups and arcs.
[[nodiscard]] Portions portions_of(const Network& network, const JointDemand& demand);

}  // namespace forestcoll::solver
