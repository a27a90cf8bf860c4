// Packing the trees of given roots, one after the other.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "forestcoll/id.hpp"
#include "forestcoll/pack.hpp"
#include "solver/common/budget.hpp"
#include "solver/common/core.hpp"
#include "solver/pack/trees/growth.hpp"
#include "solver/pack/trees/invariant.hpp"
#include "solver/pack/trees/packing_state.hpp"
#include "solver/pack/trees/tree_store.hpp"
#include "solver/symmetry/orbits.hpp"

namespace forestcoll::solver {

/// Packs the trees that the given roots owe, with their images under the group of `orbits`, into
/// `store`. See packer.cpp.
class Packer {
 public:
  Packer(const Core& core, const Orbits& orbits, const IdVector<Rank, std::int64_t>& owed,
         std::vector<Rank> roots, int threads, TreeStore& store, PackStatistics& statistics,
         Budget& budget);

  [[nodiscard]] const PackingState& state() const { return state_; }

  /// True where all are packed; false also where the budget is over: then the store has those that
  /// are finished. `report` is told how many trees are owed.
  bool run(const std::function<void(std::int64_t owed)>& report);

 private:
  [[nodiscard]] bool has_images() const { return orbits_.group.size() > 1; }
  bool pack_all(const std::function<void(std::int64_t owed)>& report);
  bool pack_one(Rank root);
  bool pack_with_images(Rank root);
  bool allows(std::span<const ArcId> route);
  void shrink_to_extend();
  bool test_and_repair();
  void prove_pool();
  void adapt_batch(std::size_t packed, std::size_t removed);
  void repair(const SinkSide& side);
  void count_repair();
  bool drop_newest_damage(CutId x);

  const Core& core_;
  const Orbits& orbits_;
  std::vector<Rank> roots_;
  PackingState state_;
  Growth growth_;
  Invariant invariant_;
  PackStatistics& statistics_;
  Budget& budget_;
  std::vector<SlotId> unverified_;
  std::size_t batch_;
  bool exact_ = false;    ///< the invariant holds as things stand, and edges are tested one by one
  int failed_tests_ = 0;  ///< since fewer trees than ever were owed
  std::int64_t least_owed_;
};

}  // namespace forestcoll::solver
