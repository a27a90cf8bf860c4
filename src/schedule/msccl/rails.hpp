// Which NIC a message leaves its box through.
#pragma once

#include <cstdint>
#include <vector>

#include "forestcoll/forest.hpp"
#include "forestcoll/id.hpp"
#include "schedule/views.hpp"

namespace forestcoll::schedule {

/// The NICs of every rank that its edges to other boxes pass, numbered in order of their nodes, as
/// the rank sees them.
///
/// A file names no NIC. A runtime gives the n NICs beside a GPU to its channels in turn, so what
/// the forest sends through NIC i belongs on channels i, i + n, i + 2n, …
class Rails {
 public:
  struct Rail {
    std::int32_t number = 0;
    std::int32_t count = 1;  ///< of the sender's
  };

  Rails() = default;
  /// `boxes`: the box of each node, a negative number for none; empty: none are known. `of_firsts`:
  /// of the trees alone whose roots are the first of their orbits. REQUIRES: then, that these
  /// stand for all. Cost: O(N · trees · length of a path) where boxes are known.
  Rails(const CollectiveForest& forest, const IdVector<NodeId, std::int32_t>& boxes,
        const Views& views = {}, bool of_firsts = false);

  /// The rail of the edge between `child` and its parent in tree `t`; {0, 1} where it stays in a
  /// box, passes no switch, or its sender has one NIC.
  [[nodiscard]] Rail of(const Forest& forest, TreeId t, Rank child) const;

 private:
  void add_edges(const Forest& forest);
  // Whose exits are those of the edge's sender.
  [[nodiscard]] Rank seen_sender(const Forest& forest, TreeId t, Rank child) const;
  [[nodiscard]] NodeId exit(const std::vector<NodeId>& path) const;
  // Of the edge between `child` and its parent, as its sender sees it; none: it stays in a box.
  [[nodiscard]] NodeId exit(const Forest& forest, TreeId t, Rank child) const;

  IdVector<NodeId, std::int32_t> boxes_;
  std::vector<NodeId> up_, down_;              // of a phase's edges, by tree and child
  IdVector<Rank, std::vector<NodeId>> exits_;  // by sender, ascending
  Views views_;
  bool of_firsts_ = false;
};

}  // namespace forestcoll::schedule
