// Where chunks live in the buffers of a rank.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "forestcoll/collective.hpp"
#include "forestcoll/schedule.hpp"
#include "schedule/root_chunks.hpp"

namespace forestcoll::schedule {

/// The addressing of a collective: N·k chunks (k for broadcast and reduce), of which every rank
/// owns a block. In an allreduce no rank owns any, and there may be any number of them.
///
/// What a rank starts with lies in its input. What it receives or adds up it keeps:
///
///                    in place          out of place, or both
///   allgather        output            output
///   reduce_scatter   input             output for its own block, else scratch
///   allreduce        input             output
///   broadcast        input             output
///   reduce           input             output at the root, else scratch
///
/// In place, input and output are one memory (allgather's input and reduce_scatter's output are
/// the rank's own block of it), so work is done in the input. A reduction for both placements is
/// the one out of place: sums begin in a new place, which in place happens to be the old one.
///
/// Where blocks are unequal, a runtime's call in place still puts a rank's part at rank × count,
/// which is not its block. So in place nothing is read from allgather's input, and nothing written
/// to reduce_scatter's output: the block is named as part of the whole buffer.
class Addressing {
 public:
  /// `blocks`: those of `root_chunks`.
  Addressing(Collective collective, std::optional<Rank> root, Placement placement,
             IdVector<Rank, ChunkRange> blocks)
      : collective_(collective),
        root_(root),
        placement_(placement),
        blocks_(std::move(blocks)),
        equal_(std::ranges::all_of(
            blocks_, [&](const ChunkRange& b) { return b.size() == blocks_.begin()->size(); })) {
    for (const ChunkRange& block : blocks_) chunks_ += block.size();
  }

  /// Chunks of the whole collective.
  [[nodiscard]] std::int64_t chunks() const { return chunks_; }
  [[nodiscard]] std::int64_t input_chunks(Rank rank) const {
    return collective_ == Collective::allgather ? blocks_[rank].size() : chunks();
  }
  [[nodiscard]] std::int64_t output_chunks(Rank rank) const {
    return collective_ == Collective::reduce_scatter ? blocks_[rank].size() : chunks();
  }
  [[nodiscard]] Placement placement() const { return placement_; }

  /// Where `rank` has a chunk before anything arrives. A range within one block is contiguous.
  [[nodiscard]] Slice own(Rank rank, std::int64_t chunk) const {
    if (collective_ != Collective::allgather) return {Buffer::input, chunk};
    if (placement_ == Placement::in_place && !equal_) return {Buffer::output, chunk};
    return {Buffer::input, chunk - blocks_[rank].begin};
  }
  /// Where `rank` keeps a chunk once something arrived; nothing where that is scratch memory.
  [[nodiscard]] std::optional<Slice> kept(Rank rank, std::int64_t chunk) const {
    const ChunkRange& block = blocks_[rank];
    switch (collective_) {
      case Collective::allgather:
        return Slice{Buffer::output, chunk};
      case Collective::reduce_scatter:
        if (placement_ == Placement::in_place) break;
        if (chunk < block.begin || chunk >= block.end) return std::nullopt;
        return Slice{Buffer::output, chunk - block.begin};
      case Collective::reduce:
        if (placement_ == Placement::in_place) break;
        if (rank != *root_) return std::nullopt;
        return Slice{Buffer::output, chunk};
      case Collective::allreduce:
      case Collective::broadcast:
        if (placement_ == Placement::in_place) break;
        return Slice{Buffer::output, chunk};
      case Collective::alltoall:
      case Collective::scatter:
      case Collective::gather:
        break;  // have no trees
    }
    return Slice{Buffer::input, chunk};
  }
  /// Chunks of `rank`'s input that its output must hold as they are: they are copied, at first.
  [[nodiscard]] ChunkRange copied(Rank rank) const {
    if (placement_ == Placement::in_place) return {};
    if (blocks_.size() == 1) return {0, chunks()};
    if (collective_ == Collective::allgather) return blocks_[rank];
    if (collective_ == Collective::broadcast && rank == *root_) return {0, chunks()};
    return {};
  }
  /// Where `rank` sends a chunk from before anything arrived. A file for both placements sends
  /// from the copy, and after it: in place, where the copy is onto itself, nothing else orders it.
  [[nodiscard]] Slice first_source(Rank rank, std::int64_t chunk) const {
    const ChunkRange copy = copied(rank);
    const bool is_copied = chunk >= copy.begin && chunk < copy.end;
    return sends_copies() && is_copied ? *kept(rank, chunk) : own(rank, chunk);
  }
  /// In place, the output's name for memory of the input; nothing where the two do not overlap.
  [[nodiscard]] std::optional<Slice> as_output(Rank rank, const Slice& input,
                                               std::int64_t count) const {
    if (placement_ != Placement::in_place || input.buffer != Buffer::input) return std::nullopt;
    std::int64_t offset = input.offset;
    if (collective_ == Collective::allgather) offset += blocks_[rank].begin;
    if (collective_ == Collective::reduce_scatter) {
      if (!equal_) return std::nullopt;
      offset -= blocks_[rank].begin;
    }
    if (offset < 0 || offset + count > output_chunks(rank)) return std::nullopt;
    return Slice{Buffer::output, offset};
  }
  [[nodiscard]] bool sends_copies() const { return placement_ == Placement::both; }

 private:
  Collective collective_;
  std::optional<Rank> root_;
  Placement placement_;
  IdVector<Rank, ChunkRange> blocks_;
  bool equal_;
  std::int64_t chunks_ = 0;
};

}  // namespace forestcoll::schedule
