// The schedule: what every threadblock of every GPU does, from a forest or by an exchange.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "forestcoll/collective.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/id.hpp"

namespace forestcoll {

enum class Buffer { input, output, scratch };

/// What a step does, by MSCCL's letters: s, r, rcs, rrs, rrc, rrcs, cpy, re, nop.
enum class Operation {
  send,
  recv,
  recv_copy_send,
  recv_reduce_send,
  recv_reduce_copy,
  recv_reduce_copy_send,
  copy,
  reduce,
  nop,
};

/// Whether such a step sends a message, or receives one.
[[nodiscard]] bool sends(Operation operation);
[[nodiscard]] bool receives(Operation operation);

struct Slice {
  Buffer buffer = Buffer::input;
  std::int64_t offset = 0;  ///< in chunks
};

/// Another threadblock of the same GPU, and one of its steps.
struct StepRef {
  std::int32_t threadblock = -1;
  std::int32_t step = -1;
};

struct Step {
  Operation operation = Operation::nop;
  Slice src, dst;
  std::int64_t count = 1;             ///< chunks
  std::optional<StepRef> depends_on;  ///< waited for before the step begins
  bool has_dependent = false;         ///< some step waits for this one
};

struct Threadblock {
  Rank send_peer, recv_peer;  ///< invalid: none
  std::int32_t channel = 0;
  std::vector<Step> steps;
};

struct RankProgram {
  std::int64_t input_chunks = 0, output_chunks = 0, scratch_chunks = 0;
  std::vector<Threadblock> threadblocks;
};

/// The program of every rank. Buffers are cut into equal chunks, `chunks` of them in the whole
/// collective buffer (nchunksperloop). In place: input and output alias as the collective says.
/// `k` is the number of chunks of each root (of weight 1): trees per root times instances; of an
/// all-to-all, of each pair of ranks.
struct Schedule {
  std::string target = "azure";  ///< the runtime that loads it, whose limits it keeps
  Collective collective = Collective::allgather;
  std::optional<Rank> root;
  std::int64_t k = 1;
  std::int64_t chunks = 0;
  std::int32_t channels = 0;
  bool in_place = true, out_of_place = false;
  IdVector<Rank, RankProgram> programs;

  /// The most threadblocks of any rank, and the most steps of any threadblock.
  [[nodiscard]] std::int32_t max_threadblocks() const;
  [[nodiscard]] std::int32_t max_steps() const;
  /// The most scratch of any rank, in chunks.
  [[nodiscard]] std::int64_t max_scratch() const;
};

/// What a runtime accepts.
struct TargetLimits {
  std::string name;               ///< "azure"
  std::int32_t max_threadblocks;  ///< per GPU
  std::int32_t max_steps;         ///< per threadblock
  std::int32_t max_channels;
  std::int32_t max_count;        ///< chunks per step
  std::int32_t max_elements;     ///< XML elements that one rank loads
  std::int32_t max_children;     ///< of one XML element: GPUs, threadblocks, steps
  std::int32_t max_per_channel;  ///< senders, and receivers, of one GPU on one channel
  std::int32_t max_offset;       ///< in chunks
  std::int32_t max_depended;     ///< only threadblocks 0 … max_depended − 1 can be waited for
  bool fused_steps;              ///< takes steps that receive and reduce, or forward, at once
  bool both_placements;          ///< one file can serve calls in place and out of place
  bool excludes_max_bytes;       ///< selects buffers below a file's maxBytes only, not that large
  bool counts_parts;  ///< selects by the count of one rank's part, not by that of the whole buffer
  bool equal_parts;   ///< loads files only whose ranks own equal shares, where they own any
  bool acquires_outputs;  ///< a step that waits is sure to see new data where it reads `o` only
  std::string reduce_scatter_name;  ///< what its parser calls that collective
  std::int64_t default_max_bytes;   ///< a finite bound that the runtime loads and selects
  /// Threadblocks that a GPU holds at once, one per SM: those of the smallest GPU that the runtime
  /// is used on. With more, a schedule hangs.
  std::int32_t default_sms;

  /// What stands in a file as maxBytes where `last` is the largest buffer, in bytes, that it is
  /// for.
  [[nodiscard]] std::int64_t max_bytes_for(std::int64_t last) const;
  /// The largest buffer, in bytes, for which the runtime selects a file with these maxBytes.
  [[nodiscard]] std::int64_t last_selected(std::int64_t max_bytes) const;

  /// The runtime selects a file of `chunks` for counts that are multiples of this, as the
  /// collective's interface counts: one rank's part in allgather and reduce_scatter.
  [[nodiscard]] std::int64_t selected_counts(Collective collective, std::int64_t chunks,
                                             std::int64_t ranks) const;
  /// The same in elements of the whole buffer.
  [[nodiscard]] std::int64_t selected_elements(Collective collective, std::int64_t chunks,
                                               std::int64_t ranks) const;
};
/// The target of that name, or null.
[[nodiscard]] const TargetLimits* find_target(std::string_view name);
/// The names, for messages: "azure, rccl-5.7, …".
[[nodiscard]] std::string known_targets();
/// The target's `default_sms`, whatever the GPU; those of "azure" where there is no such target, as
/// of MSCCL++: 104 for RCCL (MI250), 108 for the others (A100).
[[nodiscard]] std::int32_t default_sms(std::string_view target);

/// Which calls a schedule serves. Out of place, no input is ever written.
enum class Placement { in_place, out_of_place, both };

/// How messages are given to threadblocks.
enum class ThreadblockUse {
  spread,    ///< as many as fit and help
  merge,     ///< as few as the limits allow; of an all-to-all one for both directions
  per_tree,  ///< every edge of every tree has its own at both ends
};

struct LowerOptions {
  std::string target = "azure";
  /// Threadblocks per GPU at most: all of them must be resident at once, one per SM.
  std::int32_t max_threadblocks = 108;
  Placement placement = Placement::in_place;
  ThreadblockUse threadblocks = ThreadblockUse::spread;
  /// Every chunk is cut into so many, each with threadblocks and channels of its own.
  std::int32_t instances = 1;
  /// Whether one step may receive and forward; without, only s, r, rrc (or re), cpy and nop.
  bool forward = true;
  /// The box of each node of the fabric, a negative number for none; empty: none are known. What
  /// leaves a box through NIC i of the n that its sender uses gets channels i, i + n, i + 2n, …
  IdVector<NodeId, std::int32_t> boxes = {};
  /// How much it counts that a threadblock waits, beside how much it carries, where threadblocks
  /// are short: each message that must pass in between, as so many halves of a message of its own.
  /// Sums of one chunk at one GPU pass one after the other; 0: in halves of two, and as if they did
  /// not.
  std::int32_t waiting = 2;
  /// Whether it is what a runtime has by itself, which no parser has to load: GPUs and XML elements
  /// are not limited.
  bool built_in = false;
};

/// Turns a forest into per-rank programs. Messages follow one global order (a topological order of
/// all tree edges), so the result is free of deadlock at one operation in flight (D = 1), with
/// every protocol. Sums are formed in one fixed order at each tree's root and handed out from
/// there: all ranks get the same bits.
/// A rank owns k chunks per unit of its weight, in the order of the ranks; in an allreduce nobody
/// owns anything, and a root sums as many. A call in place has the rank's data at that place of the
/// whole buffer.
/// REQUIRES: each root's multiplicities sum to k times its weight in each forest; instances ≥ 1.
/// Errors: T07 (unknown target, ErrorKind::input); ErrorKind::limit with the number, the limit and
/// what would make it fit: T01 threadblocks, T02 steps, T03 channels, T04 chunks, T05 XML elements,
/// T06 a target that takes no file for calls both in place and out of place, T09 ranks that own
/// unequal shares of the data, for such a target or such a file. What is far too large is refused
/// before anything of its size is built. Cost: O(E log E) for E messages, plus overlaps of the two
/// forests of allreduce.
[[nodiscard]] Expected<Schedule> lower(const CollectiveForest& asked, const LowerOptions& options);

// Allreduces that no trees describe: whole buffers are exchanged, and every rank adds up for
// itself.

enum class Exchange {
  one_shot,            ///< everybody sends everything to everybody
  recursive_doubling,  ///< with a partner 1, 2, 4, … ranks away in every step
  swing,               ///< with one 1, -1, 3, -5, 11, … ranks away
  all_pairs_once,      ///< one shot into scratch, which all threadblocks sum
  all_pairs,           ///< the same with a part for everybody, whose sum is handed to all
};

struct ExchangeInfo {
  Exchange exchange;
  std::string_view name;           ///< for the command line: "one-shot"
  std::string_view title;          ///< for people
  std::string_view source;         ///< where it was published
  bool picked_by_mscclpp = false;  ///< by itself, where no file serves a size
};
/// one-shot, recursive-doubling, swing-doubling, all-pairs-once, all-pairs.
[[nodiscard]] std::span<const ExchangeInfo> exchanges();
/// Null where there is no exchange of this name.
[[nodiscard]] const ExchangeInfo* find_exchange(std::string_view name);

/// Bytes of the whole buffer up to which an exchange in so many instances has room in Simple, whose
/// connections have buffers of `buffer_bytes`: several operations are in flight at once. None: any
/// size.
[[nodiscard]] std::optional<std::int64_t> most_bytes_in_simple(Exchange exchange, std::size_t ranks,
                                                               std::int32_t instances,
                                                               std::int64_t buffer_bytes);

/// The programs of an allreduce, in place or out of place, over `ranks` ranks, of
/// `options.instances` chunks, each with a channel of its own. A rank has one threadblock for each
/// partner and chunk, which sends before it receives, one chunk at a time: free of deadlock with
/// one operation in flight. One shot adds in the order of the ranks, and partners add the same two
/// sums, so all ranks get the same bits. Beyond the largest power of two, ranks hand their data to
/// a neighbour first and get the result from it at the end; the partners of Swing are pairs of an
/// even number of ranks whose steps reach all. All pairs: see `schedule::all_pairs`; a chunk is cut
/// into up to eight slices, which are in flight at once, so it is free of deadlock in LL and LL128,
/// and in Simple up to `most_bytes_in_simple`. REQUIRES: two ranks or more. Errors: T07 (unknown
/// target, ErrorKind::input); B02 a number of ranks that Swing cannot serve; ErrorKind::limit: T01
/// threadblocks, T02 steps, T03 channels, T06 one program for both placements. Cost: linear in the
/// programs.
[[nodiscard]] Expected<Schedule> lower_exchange(Exchange exchange, std::size_t ranks,
                                                const LowerOptions& options);

}  // namespace forestcoll
