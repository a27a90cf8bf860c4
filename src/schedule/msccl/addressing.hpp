// Where chunks live in the buffers of a rank.
#pragma once

#include <cstdint>
#include <optional>

#include "forestcoll/collective.hpp"
#include "forestcoll/schedule.hpp"

namespace forestcoll::schedule {

/// A contiguous range of the chunks of the whole collective.
struct ChunkRange {
  std::int64_t begin = 0, end = 0;
};

/// The addressing of a collective: N·k chunks (k for broadcast and reduce), of which rank r owns
/// r·k … r·k + k − 1. In an allreduce no rank owns any, and there may be any number of them.
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
class Addressing {
 public:
  Addressing(Collective collective, std::optional<Rank> root, Placement placement,
             std::int64_t ranks, std::int64_t k, std::int64_t chunks)
      : collective_(collective),
        root_(root),
        placement_(placement),
        ranks_(ranks),
        k_(k),
        chunks_(chunks) {}

  /// Chunks of the whole collective.
  [[nodiscard]] std::int64_t chunks() const { return chunks_; }
  [[nodiscard]] std::int64_t input_chunks() const {
    return collective_ == Collective::allgather ? k_ : chunks();
  }
  [[nodiscard]] std::int64_t output_chunks() const {
    return collective_ == Collective::reduce_scatter ? k_ : chunks();
  }
  [[nodiscard]] Placement placement() const { return placement_; }

  /// Where `rank` has a chunk before anything arrives. A range within one block is contiguous.
  [[nodiscard]] Slice own(Rank rank, std::int64_t chunk) const {
    const bool is_part = collective_ == Collective::allgather;
    return {Buffer::input, is_part ? chunk - rank.value * k_ : chunk};
  }
  /// Where `rank` keeps a chunk once something arrived; nothing where that is scratch memory.
  [[nodiscard]] std::optional<Slice> kept(Rank rank, std::int64_t chunk) const {
    const std::int64_t block = rank.value * k_;
    switch (collective_) {
      case Collective::allgather:
        return Slice{Buffer::output, chunk};
      case Collective::reduce_scatter:
        if (placement_ == Placement::in_place) break;
        if (chunk < block || chunk >= block + k_) return std::nullopt;
        return Slice{Buffer::output, chunk - block};
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
    const std::int64_t block = rank.value * k_;
    if (ranks_ == 1) return {0, chunks()};
    if (collective_ == Collective::allgather) return {block, block + k_};
    if (collective_ == Collective::broadcast && rank == *root_) return {0, k_};
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
    const std::int64_t block = rank.value * k_;
    std::int64_t offset = input.offset;
    if (collective_ == Collective::allgather) offset += block;
    if (collective_ == Collective::reduce_scatter) offset -= block;
    if (offset < 0 || offset + count > output_chunks()) return std::nullopt;
    return Slice{Buffer::output, offset};
  }
  [[nodiscard]] bool sends_copies() const { return placement_ == Placement::both; }

 private:
  Collective collective_;
  std::optional<Rank> root_;
  Placement placement_;
  std::int64_t ranks_, k_, chunks_;
};

}  // namespace forestcoll::schedule
