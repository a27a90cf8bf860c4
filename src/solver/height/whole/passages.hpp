// Groups of ranks at one switch, and by which ranks data gets from one group to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "forestcoll/id.hpp"
#include "solver/common/core.hpp"
#include "solver/height/common/tree_rows.hpp"
#include "solver/height/whole/flat.hpp"

namespace forestcoll::solver {

/// How data gets from one group to another: between two ranks with switches in common.
struct Passage {
  Rank from, to;
  Rank helper = {};  ///< a mate of `to` that passes it on there instead
};

/// Whose turn it is to take the data of a root to another group, as long as its links have room.
class Passages {
 public:
  /// Groups the ranks by the widest switch that each has in both directions; those without one
  /// stand alone. `capacity` is by resource, and what all passages may take. `arriving`: what each
  /// rank gets by the links to its group's switch, where that takes of what it can pass on.
  Passages(const Core& core, const Resources& resources, IdVector<ArcId, Capacity> capacity,
           Capacity arriving = 0);

  [[nodiscard]] std::size_t group_count() const { return groups_.size(); }
  [[nodiscard]] std::span<const Rank> members(std::size_t group) const { return groups_[group]; }
  [[nodiscard]] std::size_t group_of(Rank rank) const { return group_of_[rank]; }

  /// Is there a way from one rank to the other, through switches at most?
  [[nodiscard]] bool is_joined(Rank from, Rank to) const;

  /// For `trees` trees of the root: from the root to where it stands itself in its own group, or
  /// else to the next one after that, which passes the data on to its whole group; to its own group
  /// the root itself. With `Fit::perhaps`, where others go on from here, ranks whose links are full
  /// are passed over, and where the root has no link left that leads there, a mate sends, another
  /// one for every group. Where nobody has room, and with `Fit::within`, it is the first one that
  /// there is a way to. Invalid ranks where there is none. Where what arrives leaves the entry too
  /// little to pass on, a mate helps. Takes what the passage needs of the capacity. Cost: mostly
  /// O(1), at most the product of the sizes of the two groups.
  [[nodiscard]] Passage take(std::size_t group, Rank root, std::int64_t trees, Fit fit);

 private:
  /// An arc between a rank and switches outside of its group, or to another rank.
  struct Gate {
    std::size_t part = 0;  ///< switches that are linked are one part of the fabric
    ArcId arc;
  };

  void group_ranks();
  void find_gates();
  [[nodiscard]] bool has_room(ArcId arc, std::int64_t trees) const;
  [[nodiscard]] bool can_pass_on(Rank to, std::int64_t trees) const;
  template <class Visit>
  void for_each_hop(Rank from, Rank to, Visit&& visit) const;
  bool take_hop(Rank from, Rank to, std::int64_t trees);
  [[nodiscard]] std::int64_t passed_on(Rank to, std::int64_t trees) const;
  Passage find(std::size_t group, Rank root, std::int64_t trees);
  [[nodiscard]] Rank find_helper(Rank entry, std::int64_t trees) const;
  Rank find_entry(std::size_t group, Rank from, std::int64_t trees, bool passes_on);
  [[nodiscard]] Passage first_passage(std::size_t group, Rank root) const;

  const Core& core_;
  const Resources& resources_;
  IdVector<ArcId, Capacity> left_;
  const Capacity arriving_;
  std::vector<std::vector<Rank>> groups_;
  IdVector<Rank, std::size_t> group_of_, place_;
  IdVector<Rank, std::vector<Gate>> out_, in_;
  IdVector<Rank, Capacity> inside_left_;  ///< of all links to the widest switches of its group
};

}  // namespace forestcoll::solver
