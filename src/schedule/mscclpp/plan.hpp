// Execution plans of MSCCL++: what every threadblock of every GPU puts, signals and waits for.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "forestcoll/branching_forest.hpp"
#include "forestcoll/collective.hpp"
#include "forestcoll/diagnostic.hpp"
#include "forestcoll/forest.hpp"
#include "forestcoll/id.hpp"
#include "forestcoll/schedule.hpp"

namespace forestcoll {

/// How a rank reaches another's memory: its threads write there (within a box), or a proxy does it
/// for them (between boxes).
enum class PlanChannel : std::uint8_t { memory, port };
inline constexpr std::size_t kPlanChannels = 2;

/// Chunks of a local buffer, or of one of the threadblock's remote buffers.
struct PlanSlice {
  Buffer buffer = Buffer::input;
  std::int32_t remote = -1;  ///< in the threadblock's list for the operation's channel; −1: local
  std::int64_t index = 0;    ///< in chunks
  /// In the threadblock's list of switch channels: this place in the buffers of all its ranks; −1:
  /// none.
  std::int32_t switched = -1;
};

struct PlanOperation {
  /// `nop` keeps a threadblock's threads in step; `combine` reads a place of all ranks of a switch
  /// channel, added up by the switch, and stores the sum in all ranks of one;
  /// `store` puts something there from this GPU. Packets lie in scratch and carry a flag beside
  /// their data, for which readers wait: `pack` makes them of data, `put_packets` makes them at
  /// other ranks, `store_packets` puts them at all ranks of a switch channel, `unpack` and
  /// `add_packets` make data of them.
  enum class Kind : std::uint8_t {
    nop,
    put,
    signal,
    wait,
    copy,
    reduce,
    combine,
    store,
    pack,
    put_packets,
    store_packets,
    unpack,
    add_packets
  };
  Kind kind = Kind::nop;
  PlanChannel channel = PlanChannel::memory;
  std::vector<std::int32_t> channels;  ///< in the threadblock's list
  std::vector<PlanSlice> sources, destinations;
  std::int64_t count = 0;  ///< chunks that it moves; 0: as many as the threadblock says
};

struct PlanThreadblock {
  std::int64_t count = 1;  ///< chunks that every operation of the loop moves
  /// By kind of channel: the GPU's channels and remote buffers that it uses.
  std::array<std::vector<std::int32_t>, kPlanChannels> channels, remote_buffers;
  std::vector<std::int32_t> switch_channels = {};  ///< of the GPU
  /// Once, for every `unit_bytes` of `count` chunks, once.
  std::vector<PlanOperation> before, loop, after;
};

struct PlanRemoteBuffer {
  Rank rank;
  Buffer buffer = Buffer::input;
  PlanChannel channel = PlanChannel::memory;
};

/// Ranks whose buffers a switch reads and writes together: a switch channel of each of them.
struct PlanSwitchGroup {
  Buffer buffer = Buffer::input;
  std::vector<Rank> ranks;
};

struct PlanGpu {
  std::int64_t input_chunks = 0, output_chunks = 0, scratch_chunks = 0;
  std::array<std::vector<Rank>, kPlanChannels> peers;  ///< of each channel, by kind
  std::vector<PlanRemoteBuffer> remote_buffers;
  std::vector<PlanSwitchGroup> switch_groups = {};
  std::vector<PlanThreadblock> threadblocks;
};

struct ExecutionPlan {
  Collective collective = Collective::allgather;
  bool in_place = true;
  bool packets = false;         ///< what scratch holds
  std::int64_t unit_bytes = 0;  ///< of what an operation moves, in one round
  std::int64_t min_bytes = 0, max_bytes = 0;
  IdVector<Rank, PlanGpu> gpus;
  /// Which ranks carry the collective out together, in the order of the group's own ranks; ranks in
  /// none pass data on at most. Empty: all in one.
  std::vector<std::vector<Rank>> process_groups = {};
};

/// With fewer, it is threadblocks that limit the rate of a GPU with many links, by simulation.
inline constexpr std::int32_t kEnoughThreadblocks = 64;
/// As many as run at once on an MI250, the smallest GPU of those that plans are for.
inline constexpr std::int32_t kMostThreadblocks = 104;

/// How the trees of a plan are dealt to threadblocks.
struct PlanShape {
  /// Of the busiest GPU, about, as far as they are allowed. Chunks are cut finer, into a power of
  /// two, and trees of many chunks into several, until all have work; 1: as the trees come.
  std::int32_t threadblocks = 1;
  /// How many parts of trees each serves. Where they are of several roots, every threadblock adds
  /// up as much, and has something to send while it waits. Each part takes operations, so there are
  /// fewer where these are too many.
  std::int32_t parts = 1;
  /// The levels of trees are dealt to so many threadblocks of each rank, a pipeline, so that rounds
  /// follow one another without waiting for the last level of the one before; levels of both phases
  /// of an allreduce together.
  std::int32_t pipeline_depth = 1;
  /// Of what an operation moves, in one round; a multiple of 16. Less fills the pipeline better,
  /// but every operation takes a while, and a proxy sends only so many messages in a second.
  std::int64_t unit_bytes = std::int64_t{1} << 20;

  bool operator==(const PlanShape&) const = default;
};

struct PlanOptions {
  /// Whether the release has `store` and `store_packets`: see `PlanTarget`.
  bool switch_stores = true;
  bool in_place = true;
  /// Whether callers may pass any buffers, such as parts of allocations: peers and switches then
  /// reach scratch alone, and ports send from there. That costs copies on the GPU.
  bool any_buffers = false;
  std::int32_t max_threadblocks = 108;  ///< per GPU: all must be resident at once
  PlanShape shape = {};
  std::int64_t min_bytes = 0;
  /// Without: 2 GiB, or what the executor's offsets reach, if that is less.
  std::optional<std::int64_t> max_bytes;
};

/// A process group with its forest, among the ranks of a plan.
struct GroupForest {
  const CollectiveForest* forest = nullptr;
  std::vector<Rank> members;  ///< of the plan, by the forest's own ranks
  /// Of the plan, by the forest's nodes: GPUs outside of the group, which pass its data on. Invalid
  /// for members and switches; empty: there are none.
  IdVector<NodeId, Rank> relays = {};
};

/// All ranks of a plan, in their order.
[[nodiscard]] GroupForest group_of_all(const CollectiveForest& forest, std::size_t ranks);

/// Turns forests of process groups, which share no member, into one plan for all of them at once.
/// `box_of` has an entry for each rank of the plan, and says which share a box: memory channels
/// within one, port channels between two, and also between ranks of no box (a negative number).
///
/// The whole buffers of all groups have as many chunks, the least common multiple of what their
/// forests need; so has a rank in no group, which passes data on from scratch to scratch, and
/// leaves its buffers as they are.
///
/// Trees that share a threadblock proceed level by level in one global order, so that waiting never
/// closes a circle; no threadblock waits for another of its GPU. Chunks go from hop to hop in
/// rounds of `unit_bytes`. Ranks tell those that write to them first that they are ready, and
/// those that a proxy serves that it is done.
/// REQUIRES: all forests are of one collective; of several groups all own equal shares.
/// Errors, all ErrorKind::limit: T01 threadblocks, T02 operations of a threadblock, T03 channels,
/// T04 too many chunks, or messages of which a buffer has 4 GiB or more, as offsets have 32 bits,
/// or which begin above 2 GiB, T06 a collective that MSCCL++ does not have, T09 a rank that owns
/// nothing, but for an allreduce. Cost: O(E log E) for E tree edges, a few times where it does not
/// fit at first.
[[nodiscard]] Expected<ExecutionPlan> lower_to_plan(std::span<const GroupForest> groups,
                                                    const IdVector<Rank, std::int32_t>& box_of,
                                                    const PlanOptions& options);
/// The same of one group of all ranks, in their order.
[[nodiscard]] Expected<ExecutionPlan> lower_to_plan(const CollectiveForest& forest,
                                                    const IdVector<Rank, std::int32_t>& box_of,
                                                    const PlanOptions& options);

/// Turns trees that branch at a switch into a plan with switch channels: a barrier, then every rank
/// combines what it roots (`glres`, group load, reduce and store), then a barrier. The executor
/// cannot combine for one rank alone, so in every tree all ranks have to hang on one switch, and on
/// that alone; what a rank reads combined it then stores for all. For any buffers all of that is in
/// scratch, to which every rank copies its input first.
/// Errors: T06 where trees are others, or the ranks are of several boxes, or roots are switches;
/// those of `lower_to_plan`. Cost: linear in the forest and the plan.
[[nodiscard]] Expected<ExecutionPlan> lower_to_switch_plan(
    const BranchingForest& forest, const IdVector<Rank, std::int32_t>& box_of,
    const PlanOptions& options);

/// An allreduce of small messages in one box: every rank has packets of all its data at all ranks,
/// stored through the switch in one go, or, without `switch_stores`, put at one after the other;
/// and adds up what it gets, all in the same order. There is no barrier: one message takes it all,
/// and N times the data go over every link.
/// Errors: T06 where ranks are of several boxes; T03, without `switch_stores`, more ranks than a
/// threadblock has channels to; T04. Cost: linear in the plan.
[[nodiscard]] Expected<ExecutionPlan> make_packet_plan(const IdVector<Rank, std::int32_t>& box_of,
                                                       const PlanOptions& options);

/// An allreduce over boxes of GPUs on a switch each that copies and combines: combined within the
/// boxes, exchanged between GPUs of the same place in all of them, stored through the switches, of
/// two boxes without `switch_stores` by sums of two. Not made from trees: what it reaches, `verify`
/// says.
/// Errors: T06 where boxes are not of one even size, or more than 9, or than 2 without
/// `switch_stores`, or for any buffers; T04. Cost: linear in the plan.
[[nodiscard]] Expected<ExecutionPlan> make_box_plan(const IdVector<Rank, std::int32_t>& box_of,
                                                    const PlanOptions& options);

/// The plan as JSON, as MSCCL++ reads it. `name` tells it from others of its collective. Where
/// port channels send from input or output, a "comment", which no runtime reads, says what the
/// executor takes for granted there: that they begin their allocations.
[[nodiscard]] std::string to_mscclpp_json(const ExecutionPlan& plan, const std::string& name);

}  // namespace forestcoll
