// Better wirings than those with a name: local search from one of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <stop_token>

#include "forestcoll/diagnostic.hpp"
#include "forestcoll/generate.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll {

struct WiringSearchOptions {
  std::size_t moves = 1'000;  ///< exchanges to try
  std::uint64_t seed = 1;
  std::stop_token stop = {};                       ///< asks for the best so far
  std::function<void(std::size_t)> progress = {};  ///< called with the moves tried
};

struct WiringSearch {
  Wiring wiring;             ///< the best one met
  std::size_t tried = 0;     ///< moves
  std::size_t accepted = 0;  ///< of them, those that made nothing worse
  bool stopped = false;      ///< before all moves: where depends on the clock
};

/// Two cables exchange an end, again and again, at random; a move stays where the wiring is not
/// worse: by the exact time of allgather, then by the steps, then by the sum of all distances,
/// which bounds all-to-all. Cables both ways stay so. All nodes keep their ports. The same for the
/// same seed, unless it was stopped. Errors: K01 where the nodes do not all reach one another, or
/// there are fewer than two cables or more than `kMostStudiedNodes` nodes.
/// Cost: O(nodes · links) per move, and a rate where allgather is not yet as fast as ports allow.
[[nodiscard]] Expected<WiringSearch> search_wiring(const Wiring& start,
                                                   const WiringSearchOptions& options = {});

}  // namespace forestcoll
