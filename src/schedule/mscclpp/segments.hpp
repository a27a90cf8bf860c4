// Chunks that take the same trees, and the messages that carry them.
#pragma once

#include <cstdint>
#include <vector>

#include "forestcoll/forest.hpp"
#include "forestcoll/id.hpp"
#include "schedule/mscclpp/plan.hpp"

namespace forestcoll::schedule {

/// Neighbouring chunks of one root that one tree reduces and one tree spreads, where the collective
/// does either.
struct Segment {
  std::size_t group = 0;   ///< of the plan's
  Rank root;               ///< of the plan
  std::int64_t first = 0;  ///< chunk of the group's whole buffer
  std::int64_t own = 0;    ///< the same, of the root's own part
  std::int64_t count = 0;
  std::int32_t turn = 0;  ///< among parts of one tree, which send to its ranks in other orders
  TreeId reduce, broadcast;
};

/// Appends the segments of group number `group` in order of their chunks: the trees of both forests
/// cut at one another's bounds. REQUIRES: each root's multiplicities sum to k times its weight in
/// each forest. Cost: O(trees · log).
void append_segments(const GroupForest& of, std::size_t group, std::vector<Segment>& segments);

/// One segment's data from rank to rank of the plan. `level` is the length of the longest chain of
/// messages that must come before.
struct Transfer {
  std::int32_t level = 0;
  /// At which `dst` has all of the segment that it waits for before it sends any on.
  std::int32_t ready = 0;
  std::int32_t segment = 0;
  Rank src = {}, dst = {};
  bool reduces = false;
  /// What `src` passes on as it came, outside of the group: the transfer of this number in the
  /// list. −1: what `src` has itself.
  std::int64_t passes_on = -1;
  bool to_relay = false;  ///< `dst` passes it on
};

/// All transfers of a segment, a chain of them for an edge with relays. Returns the number of
/// levels at which ranks are ready. Cost: O(hops · log).
std::int32_t append_transfers(const GroupForest& of, const Segment& segment, std::int32_t number,
                              std::vector<Transfer>& transfers);

}  // namespace forestcoll::schedule
