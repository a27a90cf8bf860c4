// Steps of exchanges, one instance after the other.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "forestcoll/schedule.hpp"

namespace forestcoll::schedule {

/// Writes the program of one rank. Each step waits for the one that was pushed before it, as all of
/// them work on the same chunk.
class ExchangeWriter {
 public:
  /// `chunk` is the one that is exchanged, on the channel of the same number.
  ExchangeWriter(RankProgram& program, std::int32_t chunk) : program_(program), chunk_(chunk) {}

  [[nodiscard]] Slice own() const { return {Buffer::input, chunk_}; }
  /// Where its result belongs.
  [[nodiscard]] Slice result(bool out_of_place) const {
    return {out_of_place ? Buffer::output : Buffer::input, chunk_};
  }
  /// A place in scratch; places of different numbers and chunks differ.
  [[nodiscard]] Slice scratch(std::int64_t number, std::int64_t chunks) {
    const std::int64_t offset = number * chunks + chunk_;
    program_.scratch_chunks = std::max(program_.scratch_chunks, (number + 1) * chunks);
    return {Buffer::scratch, offset};
  }

  /// In the threadblock of this partner, after the last step there and what `chain` is at.
  void push(Rank partner, Operation operation, Slice src, Slice dst, bool chained = true) {
    const std::int32_t block = block_for(partner);
    auto& blocks = program_.threadblocks;
    Step step{.operation = operation, .src = src, .dst = dst, .depends_on = {}};
    if (chained && last_ && last_->threadblock != block) {
      blocks[static_cast<std::size_t>(last_->threadblock)]
          .steps[static_cast<std::size_t>(last_->step)]
          .has_dependent = true;
      step.depends_on = last_;
    }
    auto& steps = blocks[static_cast<std::size_t>(block)].steps;
    steps.push_back(step);
    if (chained) last_ = StepRef{block, static_cast<std::int32_t>(steps.size()) - 1};
  }

 private:
  std::int32_t block_for(Rank partner) {
    auto& blocks = program_.threadblocks;
    const auto [at, is_new] = block_.try_emplace(partner, static_cast<std::int32_t>(blocks.size()));
    if (is_new) {
      blocks.emplace_back();
      blocks.back().send_peer = blocks.back().recv_peer = partner;
      blocks.back().channel = chunk_;
    }
    return at->second;
  }

  RankProgram& program_;
  std::int32_t chunk_;
  std::map<Rank, std::int32_t> block_;
  std::optional<StepRef> last_;
};

}  // namespace forestcoll::schedule
