// Allreduces that no trees describe: whole buffers are exchanged, and every rank adds up for
// itself.
#pragma once

#include <span>
#include <string_view>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/schedule.hpp"

namespace forestcoll {

enum class Exchange {
  one_shot,            ///< everybody sends everything to everybody
  recursive_doubling,  ///< with a partner 1, 2, 4, … ranks away in every step
  swing,               ///< with one 1, -1, 3, -5, 11, … ranks away
  all_pairs_once,      ///< one shot into scratch, which all threadblocks sum
  all_pairs,           ///< the same with a part for everybody, whose sum is handed to all
};

struct ExchangeInfo {
  Exchange exchange;
  std::string_view name;    ///< for the command line: "one-shot"
  std::string_view title;   ///< for people
  std::string_view source;  ///< where it was published
  /// Several operations are in flight on a connection at once, which Simple has no room for.
  bool is_ll_only = false;
};
/// one-shot, recursive-doubling, swing-doubling, all-pairs-once, all-pairs.
[[nodiscard]] std::span<const ExchangeInfo> exchanges();
/// Null where there is no exchange of this name.
[[nodiscard]] const ExchangeInfo* find_exchange(std::string_view name);

/// The programs of an allreduce in place over `ranks` ranks, of `options.instances` chunks, each
/// with a channel of its own. A rank has one threadblock for each partner and chunk, which sends
/// before it receives, one chunk at a time: free of deadlock with one operation in flight. One shot
/// adds in the order of the ranks, and partners add the same two sums, so all ranks get the same
/// bits. Beyond the largest power of two, ranks hand their data to a neighbour first and get the
/// result from it at the end; the partners of Swing are pairs of an even number of ranks whose
/// steps reach all. All pairs: see `schedule::all_pairs`; a chunk is cut into up to eight slices,
/// which are in flight at once, so it is free of deadlock in LL and LL128 alone.
/// REQUIRES: two ranks or more. Errors: T07 (unknown target, ErrorKind::input); B02 a number of
/// ranks that Swing cannot serve; ErrorKind::limit: T01 threadblocks, T02 steps, T03 channels, T06
/// calls out of place. Cost: linear in the programs.
[[nodiscard]] Expected<Schedule> lower_exchange(Exchange exchange, std::size_t ranks,
                                                const LowerOptions& options);

}  // namespace forestcoll
