// An MSCCL++ execution plan as its file says: plain structs, read and not yet judged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "audit/common/findings.hpp"
#include "audit/common/program.hpp"
#include "forestcoll/diagnostic.hpp"

namespace forestcoll::audit {

inline constexpr std::size_t kMaxPlanFileOps = 1'000'000;  ///< of all threadblocks

/// Operations of the executor; a name that it does not have is `other`.
enum class PlanKind : std::uint8_t {
  nop,
  barrier,
  put,
  put_signal,
  put_signal_flush,
  get,
  copy,
  signal,
  wait,
  flush,
  reduce,
  reduce_send,
  read_reduce,
  read_reduce_send,
  put_packets,
  read_put_packets,
  copy_packets,
  unpack_packets,
  reduce_packets,
  reduce_copy_packets,
  reduce_send_packets,
  reduce_copy_send_packets,
  switch_reduce_store,
  switch_store,
  switch_store_packets,
  acquire,
  release,
  pipeline,
  other
};
/// "put", "rre", …, as files spell it.
[[nodiscard]] std::string_view to_string(PlanKind kind);

/// A `switched` channel reaches all ranks of a group at once.
enum class ChannelKind : std::uint8_t { none, memory, port, switched, other };
[[nodiscard]] std::string_view to_string(ChannelKind kind);

/// Chunks of a buffer: a local one by its type, a remote one and a switch channel by their places
/// in the threadblock's lists.
struct PlanSlice {
  bool is_local = false, is_remote = false, is_switched = false;
  Buffer buffer = Buffer::input;
  std::int64_t remote = -1, switch_channel = -1;
  std::int64_t index = -1, size = -1;
  bool operator==(const PlanSlice&) const = default;
};

struct PlanOp {
  std::string name;  ///< as the file spells it, cut to a bearable length
  PlanKind kind = PlanKind::other;
  bool relaxed = false;  ///< a signal or wait that orders no data, on a memory channel
  ChannelKind channel_kind = ChannelKind::none;
  std::vector<std::int64_t> channels;  ///< places in the threadblock's list
  std::vector<PlanSlice> sources, destinations;
  std::int64_t barrier = -1, participants = -1;
  std::vector<std::int64_t> semaphores;
  std::int64_t unit_size = -1, loop_chunks = -1;  ///< of a pipeline
  std::int32_t loop = -1;  ///< the position of the pipeline that it stands in; −1: in none
  bool in_group = false;   ///< shares its work with other threadblocks:
  std::int64_t group_part = -1, group_size = -1;  ///< does this of so many parts
  bool operator==(const PlanOp&) const = default;
};

/// Lists of one kind of channel; a file may have several of the same kind.
struct PlanChannels {
  ChannelKind kind = ChannelKind::none;
  std::vector<std::int64_t> ids;
  // Of a GPU's switch channels: the buffer that they reach at every rank, and the ranks of each.
  bool has_buffer = false;
  Buffer buffer = Buffer::input;
  std::vector<std::vector<std::int64_t>> groups;
  bool operator==(const PlanChannels&) const = default;
};

struct PlanThreadblock {
  std::int64_t id = -1;
  std::vector<PlanOp> ops;  ///< those of a pipeline follow it
  std::vector<PlanChannels> channels, remote_buffers;
  bool operator==(const PlanThreadblock&) const = default;
};

struct PlanRemoteBuffer {
  std::int64_t rank = -1;
  bool has_buffer = false;
  Buffer buffer = Buffer::input;
  bool memory = false, port = false;  ///< through which channels it is reached
  bool operator==(const PlanRemoteBuffer&) const = default;
};

struct PlanGpu {
  std::int64_t id = -1;
  std::int64_t input_chunks = -1, output_chunks = -1, scratch_chunks = -1;
  std::vector<PlanThreadblock> threadblocks;
  std::vector<PlanChannels> channels;  ///< `ids` are the peers
  std::vector<PlanRemoteBuffer> remote_buffers;
  std::vector<std::int64_t> semaphores;  ///< their first values
  bool operator==(const PlanGpu&) const = default;
};

struct PlanFile {
  std::string name, collective, protocol;
  bool in_place = false, has_in_place = false;
  bool reuses_resources = false, doubles_scratch = false;
  std::int64_t alignment = 16;
  std::int64_t threads = 1024;  ///< of a threadblock
  std::uint64_t min_size = 0, max_size = UINT64_MAX;
  std::vector<PlanGpu> gpus;
  /// Of this project's plans: which ranks do the collective together; empty: all.
  std::vector<std::vector<std::int64_t>> process_groups;
  bool operator==(const PlanFile&) const = default;
};

/// Chunks of what min_message_size and max_message_size count: an allgather's output, else the
/// input. REQUIRES: at least one GPU.
[[nodiscard]] std::int64_t message_chunks(const PlanFile& plan);

/// Reads the file as a stream. Fields of the wrong type are findings; unknown fields are passed
/// over. Errors: not JSON (with line:column), a key that stands twice in one object, or more than
/// is ever held: `kMaxPlanFileOps`.
[[nodiscard]] Expected<PlanFile> read_plan(std::string_view text, std::string_view file,
                                           Findings& findings);

}  // namespace forestcoll::audit
