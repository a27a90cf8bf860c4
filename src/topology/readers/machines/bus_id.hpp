// PCI bus ids: DOMAIN:BUS:DEVICE.FUNCTION in hexadecimal, which tools write with more or fewer
// zeros and in letters of either size.
#pragma once

#include <string>
#include <string_view>

#include "topology/readers/machine.hpp"

namespace forestcoll::importing {

/// One spelling for all of an id: "00000000:1A:00.0" and "1a:00.0" are "0000:1a:00.0". What is no
/// bus id keeps its text, in small letters.
[[nodiscard]] std::string canonical_bus(std::string_view text);

/// The card that a function is of: "0000:1a:00" of "0000:1a:00.1".
[[nodiscard]] std::string card_of(std::string_view bus);

/// Puts NICs that are functions, or ports, of one card below a bridge that has the card's slot,
/// for they share it. Cost: O(NICs × log NICs).
void share_slots(Machine& machine);

}  // namespace forestcoll::importing
