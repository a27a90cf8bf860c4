// What goes through switches that copy and combine loads the links of a fabric with.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "forestcoll/id.hpp"
#include "forestcoll/network.hpp"
#include "forestcoll/ratio.hpp"
#include "forestcoll/topology.hpp"

namespace forestcoll::audit {

/// A rank reads the sum of what all ranks of a group have, or stores one thing at all of them, in
/// one go through a switch.
struct GroupAccess {
  std::int32_t rank = -1;
  std::vector<std::int32_t> group;  ///< ascending
  bool stores = false;
  auto operator<=>(const GroupAccess&) const = default;
};
/// In chunks.
using GroupAccesses = std::map<GroupAccess, std::int64_t>;

/// The links that one chunk of such an access goes over, with the part of it on each: for a read,
/// each member's part comes up to the switch and the sum goes down to the reader; for a store, the
/// data goes up once and down to each member. The accessing rank's own link carries its own part
/// where the switch echoes. Several switches that can, and are linked to all of them, share it in
/// proportion to their narrowest link. Empty: no switch can.
/// Cost: O(switches that can × group).
[[nodiscard]] std::vector<std::pair<ArcId, Ratio>> links_of_access(const Network& network,
                                                                   const SwitchRoles& roles,
                                                                   const GroupAccess& access);

/// "reads the sum of 8 ranks", "stores at 8 ranks".
[[nodiscard]] std::string to_string(const GroupAccess& access);

}  // namespace forestcoll::audit
