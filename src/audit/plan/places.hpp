// What the text of an execution plan can be inside of.
#pragma once

#include <optional>
#include <string_view>

namespace forestcoll::audit {

enum class PlanPlace {
  nothing,
  file,
  process_groups,
  process_group,
  gpus,
  gpu,
  threadblocks,
  threadblock,
  ops,
  op,
  loop,       // iter_context
  inner_ops,  // of a pipeline
  inner_op,
  sources,
  destinations,
  slice,
  op_channels,
  op_semaphores,
  channel_lists,  // of a GPU or a threadblock
  channel_list,
  channel_ids,
  rank_groups,  // of a GPU's switch channels
  rank_group,
  group_ranks,
  group_info,  // tbg_info
  buffer_refs,
  buffer_ref,
  buffer_ids,
  remote_buffers,
  remote_buffer,
  access_types,
  semaphores,
  semaphore,
  skipped
};

/// The list that stands under this key of `owner`, where one may; nothing else has a meaning there.
[[nodiscard]] std::optional<PlanPlace> list_in(PlanPlace owner, std::string_view key,
                                               bool in_threadblock);
/// Whether all elements of this list are objects.
[[nodiscard]] bool holds_objects(PlanPlace list);

}  // namespace forestcoll::audit
