// What a group of automorphisms makes equal in a core.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "forest/symmetry.hpp"
#include "forestcoll/id.hpp"
#include "solver/common/core.hpp"

namespace forestcoll::solver {

/// A tree is packed together with its images under all elements of the group, so loads, residual
/// capacities and owed trees stay the same all over an orbit, and one number stands for it. With
/// the trivial group every arc and rank is its own orbit.
struct Orbits {
  Symmetry group;
  Action<ArcId> arcs;
  IdVector<ArcId, ArcId> arc_orbit;      ///< the least arc of its orbit
  IdVector<ArcId, std::int64_t> weight;  ///< how many images of a tree that uses the arc use it
  IdVector<Rank, Rank> rank_orbit;       ///< the least rank of its orbit
  std::vector<Rank> roots;               ///< the least ranks

  /// How many images a tree has, itself counted.
  [[nodiscard]] std::int64_t images() const { return static_cast<std::int64_t>(group.size()); }
  [[nodiscard]] bool is_moved(Rank r) const {
    return group.size() > 1 && group.generators().front().ranks[r] != r;
  }
};

[[nodiscard]] Orbits trivial_orbits(const Core& core);

/// Nothing where the core's arcs do not follow the automorphisms one to one.
/// Cost: O(generators · m log m).
[[nodiscard]] std::optional<Orbits> make_orbits(const Core& core, const Symmetry& group);

}  // namespace forestcoll::solver
