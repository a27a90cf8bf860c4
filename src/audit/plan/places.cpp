#include "audit/plan/places.hpp"

#include <algorithm>
#include <array>

namespace forestcoll::audit {

std::optional<PlanPlace> list_in(PlanPlace owner, std::string_view key, bool in_threadblock) {
  struct ListPlace {
    PlanPlace owner;
    std::string_view key;
    PlanPlace list;
  };
  constexpr std::array<ListPlace, 21> kPlaces = {
      {{PlanPlace::file, "gpus", PlanPlace::gpus},
       {PlanPlace::file, "process_groups", PlanPlace::process_groups},
       {PlanPlace::gpu, "threadblocks", PlanPlace::threadblocks},
       {PlanPlace::gpu, "channels", PlanPlace::channel_lists},
       {PlanPlace::gpu, "remote_buffers", PlanPlace::remote_buffers},
       {PlanPlace::gpu, "semaphores", PlanPlace::semaphores},
       {PlanPlace::threadblock, "ops", PlanPlace::ops},
       {PlanPlace::threadblock, "channels", PlanPlace::channel_lists},
       {PlanPlace::threadblock, "remote_buffer_refs", PlanPlace::buffer_refs},
       {PlanPlace::op, "src_buff", PlanPlace::sources},
       {PlanPlace::op, "dst_buff", PlanPlace::destinations},
       {PlanPlace::op, "channel_ids", PlanPlace::op_channels},
       {PlanPlace::op, "semaphore_ids", PlanPlace::op_semaphores},
       {PlanPlace::op, "ops", PlanPlace::inner_ops},
       {PlanPlace::inner_op, "src_buff", PlanPlace::sources},
       {PlanPlace::inner_op, "dst_buff", PlanPlace::destinations},
       {PlanPlace::inner_op, "channel_ids", PlanPlace::op_channels},
       {PlanPlace::inner_op, "semaphore_ids", PlanPlace::op_semaphores},
       {PlanPlace::rank_group, "ranks", PlanPlace::group_ranks},
       {PlanPlace::buffer_ref, "remote_buffer_ids", PlanPlace::buffer_ids},
       {PlanPlace::remote_buffer, "access_channel_types", PlanPlace::access_types}}};
  for (const ListPlace& place : kPlaces) {
    if (place.owner == owner && place.key == key) return place.list;
  }
  if (owner == PlanPlace::process_groups) return PlanPlace::process_group;
  // Peers of a GPU, or channels of a threadblock.
  if (owner == PlanPlace::channel_list &&
      key == (in_threadblock ? "channel_ids" : "connected_to")) {
    return PlanPlace::channel_ids;
  }
  if (owner == PlanPlace::channel_list && key == "rank_groups" && !in_threadblock) {
    return PlanPlace::rank_groups;
  }
  return std::nullopt;
}

bool holds_objects(PlanPlace list) {
  constexpr std::array<PlanPlace, 11> kLists = {
      PlanPlace::gpus,          PlanPlace::threadblocks, PlanPlace::ops,
      PlanPlace::inner_ops,     PlanPlace::sources,      PlanPlace::destinations,
      PlanPlace::channel_lists, PlanPlace::buffer_refs,  PlanPlace::remote_buffers,
      PlanPlace::semaphores,    PlanPlace::rank_groups};
  return std::ranges::find(kLists, list) != kLists.end();
}

}  // namespace forestcoll::audit
