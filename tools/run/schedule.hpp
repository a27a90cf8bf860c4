// A schedule that has been read and can be run.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "forestcoll/diagnostic.hpp"
#include "run/data/memory.hpp"
#include "run/rank_run.hpp"

namespace forestcoll::run {

/// What every format says of its calls.
struct ScheduleFacts {
  std::string format;  ///< "msccl-xml", "mscclpp-plan" or "forestcoll-flows"
  std::string protocol;
  Pattern pattern = Pattern::allreduce;
  std::int64_t ranks = 0;
  audit::RankLists groups = {};  ///< of ranks that do the collective together; empty: all
  std::int64_t chunks = 1;       ///< of the whole buffer
  std::optional<audit::OwnParts> parts = {};  ///< in chunks, where ranks own unequal parts
  std::int64_t grain = 1;                     ///< bytes that a chunk's size is a multiple of
  bool in_place = false, out_of_place = false;
  bool only_sums = false;                     ///< the runtime has no other operation
  std::int64_t min_bytes = 0, max_bytes = 0;  ///< the window of sizes, ends included
  bool is_refused_by_runtimes = false;  ///< for limits or its form; it still does what it says

  [[nodiscard]] audit::ProcessGroups process_groups() const { return {groups, ranks}; }
  /// Ranks of the largest group.
  [[nodiscard]] std::int64_t most_together() const;
};

inline constexpr std::int64_t kDefaultBufferBytes = std::int64_t{4} << 20;
inline constexpr std::int64_t kLeastBufferBytes = 1024, kMostBufferBytes = std::int64_t{1} << 30;

/// How threadblocks of XML and flows send, which plans say themselves; and where.
struct Connections {
  std::int64_t buffer_bytes = kDefaultBufferBytes;  ///< NCCL_BUFFSIZE
  /// An operation is one message, of which a connection has as many at either end; else slices are
  /// handed on one by one, as in the runtimes.
  bool whole = false;
  /// An operation that sends has ended, for its threadblock and for those that wait for it, once
  /// its message has been taken; else once that lies in the connection's buffer.
  bool hold = false;
  /// Of the schedule's ranks, in their order.
  MPI_Comm communicator = MPI_COMM_WORLD;
};

class Schedule {
 public:
  Schedule() = default;
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;
  virtual ~Schedule() = default;

  [[nodiscard]] virtual const ScheduleFacts& facts() const = 0;
  /// Chunks of scratch that a rank needs.
  [[nodiscard]] virtual std::int64_t scratch_chunks(std::int64_t rank) const = 0;
  /// `shape.whole` is a multiple of the chunks. The result must not outlive the schedule. All
  /// ranks of the communicator must call it.
  [[nodiscard]] virtual std::unique_ptr<RankRun> prepare(std::int64_t rank, const CallShape& shape,
                                                         ElementType type,
                                                         const Connections& connections) const = 0;
};

inline constexpr std::size_t kReported = 20;  ///< findings about a file, at most

/// Reads MSCCL XML by the rules of the first runtime that takes it, and checks what must hold
/// before it makes sense to run it: numbers, peers, bounds, dependencies, and that every message
/// has two ends. Whether it ends, and with the right data, running it shows. Errors: those of
/// `verify`.
[[nodiscard]] Expected<std::unique_ptr<Schedule>> load_program(std::string_view text,
                                                               std::string_view file);

/// Reads an MSCCL++ plan, and checks what must hold before it makes sense to run it. Errors: those
/// of `verify`.
[[nodiscard]] Expected<std::unique_ptr<Schedule>> load_plan(std::string_view text,
                                                            std::string_view file);

/// Reads flows of an all-to-all, and makes threadblocks of them. Errors: those of `verify`; X01, an
/// all-to-all-v.
[[nodiscard]] Expected<std::unique_ptr<Schedule>> load_flows(std::string_view text,
                                                             std::string_view file);

/// Any format, told apart by content. Errors: X01, and those of its reader.
[[nodiscard]] Expected<std::unique_ptr<Schedule>> load_schedule(std::string_view text,
                                                                std::string_view file);

/// What a rank's call of so many bytes moves, which are whole chunks; out of place. The ranks of
/// the shape are those of its group, of which it has the place that `process_groups` says.
[[nodiscard]] CallShape shape_of_call(const Schedule& schedule, std::int64_t rank,
                                      std::int64_t bytes, ElementType type);

[[nodiscard]] bool reduces(Pattern pattern);

/// "allreduce" and others by the names of nccl-tests' programs: "all_reduce_perf".
[[nodiscard]] std::string_view perf_name(Pattern pattern);

}  // namespace forestcoll::run
