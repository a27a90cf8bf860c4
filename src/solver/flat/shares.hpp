// How many trees each box roots, and which boxes pass on trees of others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "forestcoll/ratio.hpp"
#include "solver/common/boxes.hpp"

namespace forestcoll::solver {

/// Trees of box `root` that reach box `to` from box `via` in place of the root's; in the reduce
/// they reach the root's box from `via` in place of `to`.
struct Relay {
  bool is_reduce = false;
  std::size_t root = 0, via = 0, to = 0;
  std::int64_t trees = 0;
};

struct BoxShares {
  std::vector<std::int64_t> trees;  ///< by box
  std::vector<Relay> relays;
};

/// What each box roots, in proportion: out-trees of one phase. Nothing: both phases of an
/// allreduce, of which boxes root any shares.
using OwedByBox = std::optional<std::vector<std::int64_t>>;

/// So many that gates carry as many trees in all as `rate` says (units of capacity), if what goes
/// through each part of the fabric may be divided among pairs of boxes in any way. Out of n boxes
/// one that roots w of M trees sends and gets M + (n − 2)·w, a tree straight from its root's box to
/// each other one; of one phase it sends (n − 1)·w and gets M − w. Where a box has wider ways out
/// than in, or in than out, it passes on what others lack, as little of it as has to be. Boxes that
/// colour refinement does not tell apart have the same. Nothing where gates do not carry the rate
/// so, or no exact solution is found.
[[nodiscard]] std::optional<BoxShares> find_shares(const Boxes& boxes, const Ratio& rate,
                                                   const OwedByBox& owed = {});

}  // namespace forestcoll::solver
