// A plan as one graph of what must come before what.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "audit/common/findings.hpp"
#include "audit/common/group_load.hpp"
#include "audit/common/lists.hpp"
#include "audit/common/memory_map.hpp"
#include "audit/execution/execution.hpp"
#include "audit/plan/channels.hpp"
#include "audit/plan/file.hpp"

namespace forestcoll::audit {

/// Nodes are what threadblocks do, edges what orders it, once for the whole call or once for each
/// round of a pipeline.
///
/// The threads of a block are in step at its `nop` and barriers only: there is a `sync` node for
/// each, and for the beginning and the end of the block. Between two of them, operations that all
/// threads share in (copying, adding) are unordered; an operation on channels is one thread for
/// each channel, and what the same thread does is in order. A put through a port channel is
/// carried out by another engine: its `effect` comes after its issue, and before the effect of a
/// signal that the channel is given later.
///
/// Operations on packets have a `data` node for every destination that has a source of its own, and
/// for every chunk, because a reader of some of them waits for no more. Some threads stay at an
/// operation that waits; a `gate` keeps what they do next after that.
///
/// A signal shows whoever waits for it that the accesses before it are over. Where either is
/// relaxed it shows no more than that the rank has begun its call, and what it has read: it is
/// neither a release of data nor an acquisition. The same holds of packets, for which readers wait
/// by looking at their flags; the packets themselves are there.
///
/// Every rank's call has a `start` and an `end`; memory may be touched by others in between only.
struct PlanGraph {
  enum class Kind : std::uint8_t {
    start,
    end,
    sync,
    barrier,
    data,
    gate,
    control,
    effect,
    signal_effect
  };
  struct Node {
    Kind kind = Kind::sync;
    std::int32_t rank = -1;
    std::int32_t block = -1;     ///< of all ranks, numbered through
    std::int32_t op = -1;        ///< position in its threadblock
    std::int32_t element = -1;   ///< which of the operation's channels; −1: all of it
    std::int32_t strand = -1;    ///< which of the operation's chunks; −1: all
    std::int32_t column = -1;    ///< start and end, syncs and signal effects lie on chains, each a
    std::int32_t position = -1;  ///< column of its own; what writes packets is a chain by itself
    bool relaxed = false;        ///< a relaxed signal; a wait, if it or its signal is relaxed
  };
  std::vector<Node> nodes;
  std::vector<std::int32_t> first_block;  ///< of each rank
  std::int32_t columns = 0;
  /// From each node's accesses, the nodes on chains that show them to be over; −1: none.
  std::vector<std::array<std::int32_t, 2>> released_by;
  std::vector<std::int32_t> start, end;  ///< of each rank
  std::vector<std::pair<std::int32_t, std::int32_t>> edges;
  /// Of the edges, each from a signal to the wait for it, which is at another rank. Where ranks
  /// stand for others, the node may be of one that stands for `peer`.
  struct Message {
    std::int32_t from = -1, to = -1;
    std::int32_t peer = -1;
  };
  std::vector<Message> messages;  ///< in the order of the edges
  Lists<> before;                 ///< the predecessors of each node

  [[nodiscard]] std::span<const std::int32_t> predecessors(std::int32_t node) const {
    return before[static_cast<std::size_t>(node)];
  }
  /// What `to` knows of what `from` knows by the edge between them. Nothing: one only holds up some
  /// threads of the other, of the same block.
  enum class Carries : std::uint8_t { everything, beginnings, nothing };
  [[nodiscard]] Carries carries(std::int32_t from, std::int32_t to) const;
  /// Appends a node without a release; returns its number.
  std::int32_t add(const Node& node);
  [[nodiscard]] bool moves_data(std::int32_t node) const {
    const Kind kind = nodes[static_cast<std::size_t>(node)].kind;
    return kind == Kind::data || kind == Kind::effect;
  }
  [[nodiscard]] Place place(std::int32_t node) const;
  [[nodiscard]] const PlanOp& op(const PlanFile& plan, std::int32_t node) const;
};

/// Builds the graph and pairs signals with waits, arrivals at barriers, semaphores, and packets
/// with their readers; what has no counterpart is a finding. `by_chunk`: or operations on packets
/// have one node, as others have. `ends`: what ranks with threadblocks do stands for what all do.
/// REQUIRES: check_plan_structure found nothing that blocks, or the plan with `ends` is known to be
/// right and has no packets. Cost: O(operations · log + accesses).
[[nodiscard]] PlanGraph build_plan_graph(const PlanFile& plan, const MemoryMap& memory,
                                         bool by_chunk, Findings& findings,
                                         const ChannelEnds& ends = {});

/// All nodes in an order that every edge respects; where there is none, a finding that names the
/// cycle, and nothing. Cost: O(nodes + edges).
[[nodiscard]] std::vector<std::int32_t> order_plan(const PlanFile& plan, const PlanGraph& graph,
                                                   Findings& findings);

/// What a node does with memory. `find_access` overwrites `into`; nothing is read or written if the
/// node moves no data.
void find_access(const PlanFile& plan, const PlanGraph& graph, std::int32_t node, Access& into);
[[nodiscard]] Access access_of(const PlanFile& plan, const PlanGraph& graph, std::int32_t node);

/// What of it goes through switch channels: nothing, one read, one store or both.
[[nodiscard]] std::vector<GroupAccess> group_accesses_of(const Access& access, std::int32_t rank);

/// What the nodes that move data do, and between which events; starts and ends of calls have spans,
/// too. Operations have the numbers of the nodes. `order` respects the graph; plan and graph
/// outlive the result. Cost: O(nodes + edges).
[[nodiscard]] Execution plan_execution(const PlanFile& plan, const PlanGraph& graph,
                                       std::span<const std::int32_t> order);

}  // namespace forestcoll::audit
