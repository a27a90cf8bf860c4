// Rings over several boxes, one per rail.
#pragma once

#include <vector>

#include "baseline/rings/box_rings.hpp"
#include "baseline/rings/rings.hpp"

namespace forestcoll::baseline {

/// A ring for each rail c, as NCCL joins the rings of its machines: it enters a box at the rank
/// beside NIC c, goes round the box, and on to rail c of the next box.
///
/// NCCL leaves by NIC c too, and the rank beside it relays (PXN). Trees pass through switches only,
/// so here a ring leaves by the NIC of the last rank that it visits: each NIC still has one ring in
/// and one out. Where the network joins NICs of one rail only, or `cross_nic` asks for it, rails
/// are exchanged in pairs from box to box, as NCCL does with NCCL_CROSS_NIC, or of an odd number,
/// as after a failure, each with the next. Where neither can be, the rank beside the NIC relays,
/// and no trees describe that. Given graphs that name NICs are taken as they are: in at the first
/// GPU of a channel, out at the last. Equal paths share the load, as with adaptive routing. Error
/// B08.
[[nodiscard]] Expected<std::vector<Ring>> join_boxes(const Request& request, BoxRings& boxes);

}  // namespace forestcoll::baseline
