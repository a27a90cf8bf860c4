// A schedule as its file says: plain structs, read and not yet judged.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "audit/common/findings.hpp"
#include "audit/common/process_groups.hpp"

namespace forestcoll::audit {

/// What a schedule promises: the collectives that this project makes, and those that others make.
enum class Pattern : std::uint8_t {
  allgather,
  reduce_scatter,
  allreduce,
  broadcast,
  reduce,
  alltoall,
  sendrecv,  ///< every rank ends with the input of one other
  scatter,
  gather
};
[[nodiscard]] std::string_view to_string(Pattern pattern);
[[nodiscard]] std::optional<Pattern> parse_pattern(std::string_view name);
/// Whether counts are of one rank's part: the whole buffer has that of every rank.
[[nodiscard]] bool is_divided(Pattern pattern);
/// Whether one rank has, or gets, what all others get or have.
[[nodiscard]] bool is_rooted(Pattern pattern);
/// Whether parts can be unequal, as the file declares them: in allgather and reduce_scatter.
[[nodiscard]] bool declares_parts(Pattern pattern);
/// Whether a rank's input, or output, is its own part alone.
[[nodiscard]] bool input_is_part(Pattern pattern);
[[nodiscard]] bool output_is_part(Pattern pattern);

enum class Buffer : std::uint8_t { input, output, scratch };
[[nodiscard]] std::string_view to_string(Buffer buffer);

/// What a type of step does; the columns of the runtimes' table.
struct Operation {
  std::string_view name;
  bool receives = false;
  bool sends = false;
  bool reads_source = false;
  bool reads_destination = false;  ///< `re`: it adds to what is there
  bool writes = false;
  bool reduces = false;
  [[nodiscard]] bool is_nop() const { return !receives && !sends && !reads_source && !writes; }
};
/// The row of a type ("s", "rcs", …), or null where no runtime has it.
[[nodiscard]] const Operation* find_operation(std::string_view name);

struct Step {
  const Operation* operation = nullptr;
  Buffer source = Buffer::input, destination = Buffer::input;
  std::int32_t source_offset = 0, destination_offset = 0;  ///< in chunks
  std::int32_t count = 1;                                  ///< in chunks
  std::int32_t depends_threadblock = -1, depends_step = -1;
  bool has_dependent = false;
  std::int32_t line = 0;
};

struct Threadblock {
  std::int32_t id = 0;
  std::int32_t send_peer = -1, recv_peer = -1;
  std::int32_t channel = 0;
  std::int32_t line = 0;
  std::vector<Step> steps;
};

struct Gpu {
  std::int32_t id = 0;
  std::int64_t input_chunks = 0, output_chunks = 0, scratch_chunks = 0;
  std::int32_t line = 0;
  std::vector<Threadblock> threadblocks;
};

struct Program {
  std::string name;
  std::string protocol;
  Pattern pattern = Pattern::allgather;
  std::int64_t channels = 0;  ///< nchannels
  std::int64_t chunks = 0;    ///< nchunksperloop
  std::int64_t slices = 1;  ///< how many of `chunks`, and of all that follows, make one of a file's
  std::int64_t ranks = 0;   ///< ngpus
  bool in_place = false, out_of_place = false;
  std::int64_t min_bytes = 0, max_bytes = 0;
  std::int64_t buffer_bytes = 0;  ///< NCCL_BUFFSIZE that it is made for; 0: the runtime's own
  std::int32_t line = 0;
  std::vector<Gpu> gpus;  ///< in the order of the file; by id once the structure is checked
  RankLists groups = {};  ///< of ranks that do the collective together; empty: all do
};

[[nodiscard]] inline Place place_of(const Gpu& gpu) {
  return {gpu.id, -1, -1, gpu.line, {}};
}
[[nodiscard]] inline Place place_of(const Gpu& gpu, const Threadblock& tb) {
  return {gpu.id, tb.id, -1, tb.line, {}};
}
[[nodiscard]] inline Place place_of(const Gpu& gpu, const Threadblock& tb, std::size_t step) {
  return {gpu.id, tb.id, static_cast<std::int32_t>(step), tb.steps[step].line, {}};
}

/// Chunks of the input and output buffers that the collective gives a rank.
struct BufferSizes {
  std::int64_t input = 0, output = 0;
};
/// Of a rank whose own part has `part` of the `whole` buffer's chunks.
[[nodiscard]] BufferSizes buffer_sizes(Pattern pattern, std::int64_t whole, std::int64_t part);

/// The own parts of all ranks, which lie in the whole buffer in the order of the ranks; of process
/// groups each in the order of its own. All of it is the part of a rank in no group.
class OwnParts {
 public:
  /// What the GPUs of an allgather declare as inputs, or those of a reduce_scatter as outputs,
  /// where that is the whole buffer together; else, and in process groups, equal parts, rounded
  /// down. Cost: linear in the GPUs.
  explicit OwnParts(const Program& program);

  /// Whether the whole buffer is all that the parts hold, in each group.
  [[nodiscard]] bool cover() const;
  /// Among those of a group.
  [[nodiscard]] bool are_equal() const { return begin_.empty(); }
  /// The first chunk, in the whole buffer, and the number of chunks.
  [[nodiscard]] std::int64_t begin(std::int32_t rank) const {
    return are_equal() ? groups_.place(rank) * size(rank) : begin_[static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] std::int64_t size(std::int32_t rank) const {
    return are_equal() ? equal_size(rank) : begin(rank + 1) - begin(rank);
  }
  /// Whose part holds a chunk of the whole buffer of this rank's group. REQUIRES: parts cover it,
  /// and the rank is in a group. Cost: O(log ranks).
  [[nodiscard]] std::int32_t owner(std::int64_t chunk, std::int32_t rank) const;
  [[nodiscard]] const ProcessGroups& groups() const { return groups_; }

 private:
  [[nodiscard]] std::int64_t equal_size(std::int32_t rank) const {
    const std::int64_t members = groups_.size(rank);
    return members == 0 ? chunks_ : chunks_ / members;
  }

  std::int64_t chunks_;
  ProcessGroups groups_;
  std::vector<std::int64_t> begin_;  // of each rank, and the end, where they are unequal
};

}  // namespace forestcoll::audit
