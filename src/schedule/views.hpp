// The trees as each rank sees them.
#pragma once

#include "forest/symmetry.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/id.hpp"

namespace forestcoll::schedule {

/// Trees that are images of one another should become programs that are images of one another: for
/// this, whatever follows the numbers of ranks has to follow them alike at all of them. A symmetry
/// has exactly one element that moves the first rank of an orbit to any other one of it. Seen
/// through the inverse of that element, every rank of the orbit stands where the first one does,
/// and all of them see the same. What no symmetry moves sees everything as it is numbered.
class Views {
 public:
  Views() = default;
  /// Under the symmetry that the forest has been made with; where there is none, or its phases have
  /// different ones, under one that its trees show (`TreeSymmetryFinder`).
  explicit Views(const CollectiveForest& forest);

  /// Whether one rank of each orbit stands for all: the symmetry moves every rank, and the trees of
  /// a root to those of another one in the same order.
  [[nodiscard]] bool move_all() const { return keeps_order_ && move_all_ranks(); }
  /// Whether the symmetry moves every rank.
  [[nodiscard]] bool move_all_ranks() const;
  /// Whether nodes are seen, too: where the forest was made with the symmetry.
  [[nodiscard]] bool know_nodes() const { return knows_nodes_; }
  /// How many ranks an orbit has.
  [[nodiscard]] std::size_t images() const { return symmetry_.size(); }
  /// Where the element of that number, from 0 on, takes a rank.
  [[nodiscard]] Rank image(std::size_t number, Rank rank) const {
    return symmetry_.apply(symmetry_.element(number), rank);
  }
  /// Which of so many sets of an orbit's ranks holds the rank: sets are as large as one another,
  /// and the symmetry exchanges them as wholes. REQUIRES: it moves the rank; `sets` divides
  /// `images()`.
  [[nodiscard]] std::size_t set_of(Rank rank, std::size_t sets) const;
  /// Whether the rank is the first of its orbit, through which the others see themselves.
  [[nodiscard]] bool is_first(Rank rank) const { return seen(rank, rank) == rank; }

  /// False: no element moves the rank.
  [[nodiscard]] bool is_moved(Rank rank) const { return !moved_.empty() && moved_[rank] != 0; }
  /// `what` as `from` sees it. Nodes only where the forest was made with the symmetry; else they
  /// are seen as they are numbered.
  [[nodiscard]] Rank seen(Rank from, Rank what) const {
    return is_moved(from) ? symmetry_.apply(back_[from], what) : what;
  }
  [[nodiscard]] NodeId seen(Rank from, NodeId what) const {
    return is_moved(from) && knows_nodes_ ? symmetry_.apply(back_[from], what) : what;
  }
  /// A tree of the phase that reduces, or of the other one.
  [[nodiscard]] TreeId seen(Rank from, TreeId what, bool reduces) const {
    return is_moved(from) ? (reduces ? up_ : down_).apply(back_[from], what) : what;
  }

 private:
  [[nodiscard]] bool take_symmetry(const CollectiveForest& forest);
  void find_symmetry(const CollectiveForest& forest);
  void find_ways_back(std::size_t ranks);
  Action<TreeId>& trees(bool reduces) { return reduces ? up_ : down_; }

  Symmetry symmetry_;
  Action<TreeId> up_, down_;      // on the trees of either phase
  IdVector<Rank, Element> back_;  // from each rank to the first of its orbit
  IdVector<Rank, char> moved_;    // by the symmetry; empty: there is none
  bool knows_nodes_ = false;
  bool keeps_order_ = false;  // of the trees of a root
};

}  // namespace forestcoll::schedule
