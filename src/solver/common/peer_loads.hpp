// What transfers between ranks put on links where a runtime chooses their routes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"

namespace forestcoll::solver {

/// How many shares each rank sends to each other one: by sender and receiver.
using PeerTransfers = std::map<std::pair<Rank, Rank>, std::int64_t>;

/// The shares on each link, over `PeerRoutes`, each in proportion to its width. None where no way
/// leads to a peer, or where exact arithmetic does not hold the loads. Cost: O(receivers · links).
[[nodiscard]] std::optional<IdVector<ArcId, Ratio>> peer_loads(const Network& network,
                                                               const PeerTransfers& transfers);

}  // namespace forestcoll::solver
